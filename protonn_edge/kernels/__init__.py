"""Kernels, the listings that they print, and their costs."""
