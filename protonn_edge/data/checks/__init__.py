"""Checks of training data, which warn about probable mistakes."""
