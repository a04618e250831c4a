"""Recordings: tables and sounds of samples, their clocks, and the windows that are cut of them."""
