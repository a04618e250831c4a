"""Linear scores, which are the sums of a matrix product."""
