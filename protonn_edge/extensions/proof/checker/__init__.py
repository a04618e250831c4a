"""A second, independent check that a linked program computes its model; see `separable`."""
