"""A hidden layer of a network: a matrix product whose rectified sums become bytes again."""
