"""What it takes to requantize sums: cycles of the loop of ``templates/c/projection``."""

from __future__ import annotations

# What it may take less than `requantize_cycles`: in all, and a coordinate that is limited.
REQUANTIZE_SPREAD, CLAMPING_SPREAD = 5, 2


def requantize_cycles(outputs: int, dropped_bytes: int, multiplier: int, clamps: bool) -> int:
    """Return the cycles of bringing the sums to the scale of what follows, at most."""
    product = 10 if multiplier < 256 else 17
    return 12 + outputs * (21 + 2 * dropped_bytes + product + 13 * clamps)
