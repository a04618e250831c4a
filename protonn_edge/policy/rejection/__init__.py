"""Rejection: the answer "unknown" to points that are unlike all classes."""
