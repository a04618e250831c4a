"""Deskew: the rows of an image move until it stands upright."""
