"""How well a model ranks labels, and chooses sets of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Self

import numpy as np

from protonn_edge.system.arrays import Array
from protonn_edge.system.figures import Figure
from protonn_edge.system.schema import JsonObject

PLACES = (1, 3, 5)
"""The numbers of labels at which precision is usually given."""

_ROWS_AT_ONCE = 4_096


@dataclass(frozen=True)
class LabelFigures:
    """The figures of n >= 1 points, 0..1."""

    n: int
    precision_at: dict[int, float]  # the share of right labels among the k best; see `PLACES`
    precision: float | None  # the share of chosen labels that points have; None without any
    recall: float | None  # the share of points' labels that are chosen; None without any

    @classmethod
    def of(cls, scores: Array, chosen: Array, known: Array) -> Self:
        """Return the figures of scores, chosen and known labels, each (n, L)."""
        right, said, have = ((chosen * (known != 0)).sum(), chosen.sum(), (known != 0).sum())
        return cls(
            n=len(scores),
            precision_at=precision_at(scores, known),
            precision=float(right / said) if said else None,
            recall=float(right / have) if have else None,
        )

    def to_json(self) -> JsonObject:
        """Return the figures as a JSON object."""
        return asdict(self)

    @property
    def figures(self) -> list[Figure]:
        """The figures that are known."""
        shares = [
            *((f"precision_at_{k}", f"P@{k}", share) for k, share in self.precision_at.items()),
            ("precision", "precision of all chosen labels", self.precision),
            ("recall", "recall", self.recall),
        ]
        known = ((key, name, share) for key, name, share in shares if share is not None)
        return [Figure(key, name, share, "%", 2, "more") for key, name, share in known]

    @property
    def ranking(self) -> str:
        """A text such as "P@1/3/5 68.92 / 63.04 / 58.32 %"."""
        figures = (f"{100 * share:.2f}" for share in self.precision_at.values())
        return f"P@{'/'.join(map(str, self.precision_at))} {' / '.join(figures)} %"


def precision_at(
    scores: Array, labels: Array, places: Sequence[int] | None = None
) -> dict[int, float]:
    """Return precision at k: the mean share of the k highest scores whose labels the point has.

    The result maps k to this usual figure of multi-label papers, 0 to 1. The divisor is k even for
    points with fewer labels; among equal scores (n, L) the first ranks higher. Labels (n, L) are
    non-zero where a point has the label. By default, k are those of `PLACES` up to L.
    """
    places = places or [k for k in PLACES if k <= scores.shape[1]]
    deepest = min(max(places), scores.shape[1])
    right = np.zeros(deepest)
    for start in range(0, len(scores), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        ranked = np.argsort(-scores[rows], axis=1, kind="stable")[:, :deepest]
        actual = labels[rows] != 0
        right += np.take_along_axis(actual, ranked, axis=1).sum(axis=0)
    return {k: float(right[:k].sum() / (k * len(scores))) for k in places}
