"""Training of convolutional networks with explicit gradients, in floats and then on integers."""
