"""Linear scores: a matrix product whose sums are the scores of the classes."""
