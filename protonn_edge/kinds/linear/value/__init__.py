"""Linear models that predict a number."""
