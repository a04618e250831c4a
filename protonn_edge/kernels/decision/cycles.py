"""Cycles and flash of finding the largest score, and of rejection.

The loops are those of ``templates/c/decision``, counted as in `stages.matvec.cycles`.
"""

from __future__ import annotations

from collections.abc import Sequence

from protonn_edge.chain.decision.rejection import Statistic

# For a class's score, by its bytes, minimum and maximum; more if the second largest is needed.
LARGEST_LEAST_CYCLES, LARGEST_CYCLES = {2: 12, 4: 18}, {2: 13, 4: 20}
SECOND_CYCLES = {2: 3, 4: 5}

# The compiler calls the search where two functions need it and it is large, as scores have four
# bytes or the second largest is needed; the largest score is then returned through the stack.
LARGEST_CALL_CYCLES, SECOND_CALL_CYCLES = {2: 0, 4: 50}, {2: 50, 4: 0}

# For the answer "unknown": cycles of compiled code, and approximate flash.
_BY_COMPILER: dict[Statistic, int] = {"score": 10, "distance": 10, "margin": 15}
_BYTES: dict[Statistic, int] = {"score": 18, "distance": 26, "margin": 46}


def rejection_cycles(by: Sequence[Statistic], classes: int, score_bytes: int) -> int:
    """Return the maximum cycles of the answer "unknown"."""
    second = SECOND_CYCLES[score_bytes] * classes if "margin" in by else 0
    return second + sum(_BY_COMPILER[name] for name in by)


def rejection_bytes(by: Sequence[Statistic]) -> int:
    """Return the approximate flash of the answer "unknown"."""
    return sum(_BYTES[name] for name in by)
