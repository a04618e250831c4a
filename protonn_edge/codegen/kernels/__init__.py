"""Kernels, the assembly listings that they print, and their costs."""
