"""Compare executions of a model with the reference, and try builds."""
