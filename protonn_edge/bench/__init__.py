"""Boards under test, for pytest."""
