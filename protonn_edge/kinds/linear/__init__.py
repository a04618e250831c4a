"""Linear scores: the sums of a matrix product are the scores of the classes."""
