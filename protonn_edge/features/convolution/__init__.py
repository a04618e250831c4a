"""Convolution: weighted sums over windows of an image of channels, which become bytes again."""
