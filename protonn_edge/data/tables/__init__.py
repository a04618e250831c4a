"""Text tables: from the lines of files to columns of numbers, dates and texts."""
