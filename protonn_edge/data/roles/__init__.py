"""What each column and each row of a table is: a feature, the label, a time, or of a group."""
