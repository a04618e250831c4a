"""Compare executions with the reference, and gather the data of reports."""
