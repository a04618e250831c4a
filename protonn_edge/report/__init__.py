"""The presentation of models and runs: tables on the terminal, and pages."""
