"""What it takes to find the largest score, and whether the point is unknown: cycles, and flash.

The loops are those of ``templates/c/decision``, counted as in `stages.matvec.cycles`.
"""

from __future__ import annotations

from collections.abc import Sequence

from protonn_edge.stages.decision.rejection import Statistic

# To look at a class's score, by its bytes, at least and at most; more if the second is asked for.
LARGEST_LEAST_CYCLES, LARGEST_CYCLES = {2: 12, 4: 18}, {2: 13, 4: 20}
SECOND_CYCLES = {2: 3, 4: 5}

# For the answer "unknown", by the compiler, and flash, about.
_BY_COMPILER: dict[Statistic, int] = {"score": 10, "distance": 10, "margin": 15}
_BYTES: dict[Statistic, int] = {"score": 18, "distance": 26, "margin": 46}


def rejection_cycles(by: Sequence[Statistic], classes: int, score_bytes: int) -> int:
    """Return the cycles of the answer "unknown", at most."""
    second = SECOND_CYCLES[score_bytes] * classes if "margin" in by else 0
    return second + sum(_BY_COMPILER[name] for name in by)


def rejection_bytes(by: Sequence[Statistic]) -> int:
    """Return the flash of the same, about."""
    return sum(_BYTES[name] for name in by)
