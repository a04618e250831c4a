"""ProtoNN in floats on the device, for the paper's comparison with integers; see `benchmarks`."""

from __future__ import annotations

NAME = "float32"
"""The kind of the only stage."""
