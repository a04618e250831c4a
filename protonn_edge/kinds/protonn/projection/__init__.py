"""The projection: a matrix product, requantized to coordinates of a byte."""
