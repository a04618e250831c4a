"""Cycles of requantizing sums, for the loop of ``templates/c/projection``."""

from __future__ import annotations

# Cycles that `requantize_cycles` may exceed: in total, and per clamped coordinate.
REQUANTIZE_SPREAD, CLAMPING_SPREAD = 5, 2


def requantize_cycles(outputs: int, dropped_bytes: int, multiplier: int, clamps: bool) -> int:
    """Return the maximum cycles of scaling the sums for the next stage."""
    product = 10 if multiplier < 256 else 17
    return 12 + outputs * (21 + 2 * dropped_bytes + product + 13 * clamps)
