"""Builds in floats, for comparison with integers; other rooms find them by this name."""

from __future__ import annotations

NAME = "float32"
"""What W, B and Z are on the device, for `--precision`."""
