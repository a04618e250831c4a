"""Sums of gradients by direction over overlapping cells of an image."""
