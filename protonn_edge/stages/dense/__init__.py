"""A hidden layer of a network: a matrix product whose sums, those above 0, become bytes again."""
