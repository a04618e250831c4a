"""Deskew: shift the rows of an image to remove its slant."""
