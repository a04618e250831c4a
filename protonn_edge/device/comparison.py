"""Compare several boards: all classify the same few points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.device.session import Prediction, Session


@dataclass(frozen=True)
class Comparison:
    """Differences between devices on the same points.

    Attributes
    ----------
    n : int
        Points that each classified.
    answers_differ : int
        Points with differing classes or scores; anything but 0 is a bug or a broken board.
    cycles_differ : int
        Points with differing cycles.
    """

    n: int
    answers_differ: int
    cycles_differ: int


def compare_devices(sessions: Sequence[Session], Q: NDArray[np.uint8]) -> Comparison:
    """Classify quantized points Q (n, D) on each device; raises as `Session.predict` does."""
    answers: list[list[Prediction]] = [
        [session.predict(row, with_scores=True) for row in Q] for session in sessions
    ]
    points = list(zip(*answers, strict=True))
    return Comparison(
        n=len(points),
        answers_differ=sum(len({(p.label, p.scores) for p in point}) > 1 for point in points),
        cycles_differ=sum(len({p.cycles for p in point}) > 1 for point in points),
    )
