"""Training of convolutional networks: gradients by hand, first in floats, then on integers."""
