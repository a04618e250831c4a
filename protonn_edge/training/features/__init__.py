"""The parameters of what comes before a classifier: a module for each kind of feature."""
