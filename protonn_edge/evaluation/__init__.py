"""What executions answer, compared with the reference: verification and measurement."""
