"""A hidden layer of a network: a matrix product, with its rectified sums as bytes."""
