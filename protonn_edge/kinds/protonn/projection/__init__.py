"""The projection: a matrix product, requantized to coordinates of one byte."""
