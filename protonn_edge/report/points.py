"""The test points of a page: all if they are few, or some of each cell of the confusion matrix."""

from __future__ import annotations

import numpy as np

from protonn_edge.device import Result
from protonn_edge.evaluation.evidence import Evidence

_POINT_BYTES = 64_000  # of all test points in a page
_MOST_POINTS, _LEAST_POINTS = 320, 20


def chosen_points(one: Evidence) -> list[Result]:
    """Return the results whose points are in the page: mistakes first, the others evenly.

    There are as many as fit the page, or all. At most half of them are mistakes, chosen in rounds,
    one of each cell of the confusion matrix per round.
    """
    answered = one.answered
    if one.points is None or not answered:
        return []
    most = min(_MOST_POINTS, max(_LEAST_POINTS, _POINT_BYTES // one.reference.n_features))
    if len(answered) <= most:
        return answered
    mistakes = _in_rounds([result for result in answered if result.predicted != result.label])
    taken = {result.index for result in mistakes[: most // 2]}
    others = [result for result in answered if result.index not in taken]
    evenly = np.linspace(0, len(others) - 1, most - len(taken)).astype(int).tolist()
    taken |= {others[i].index for i in evenly}
    return [result for result in answered if result.index in taken]


def _in_rounds(results: list[Result]) -> list[Result]:
    """Return results ordered by their rank in their cell: the first of each cell come first."""
    seen: dict[tuple[int, int | None], int] = {}
    rounds = []
    for result in results:
        cell = (result.label, result.predicted)
        rounds.append(seen.get(cell, 0))
        seen[cell] = rounds[-1] + 1
    order = np.argsort(rounds, kind="stable").tolist()
    return [results[i] for i in order]
