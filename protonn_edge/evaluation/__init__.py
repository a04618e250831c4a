"""What executions answer, compared with the reference; and what a report rests on."""
