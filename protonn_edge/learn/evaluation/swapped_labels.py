"""Labels that are exchanged for each other, as by names in another order or counted from 1.

A model that has learned classes takes most points of one for those of another, and the other way
round or in a circle, only if the labels are wrong, or the sensor was turned.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, quoted
from protonn_edge.data.points.model_points import ModelPoints
from protonn_edge.learn.evaluation.accuracy import confusion_matrix
from protonn_edge.model.model import Model

_JUDGED_POINTS = 500
_FEWEST = 10  # points of a class
_MOST = 0.8  # of these, which a model that guesses does not reach for two classes
_SHOWN = 4


def about_swapped_labels(model: Model, points: ModelPoints) -> Iterator[Notice]:
    """Yield a warning if the model takes the classes of some points for each other."""
    n = len(model.classes)
    labelled = np.flatnonzero((points.y >= 0) & (points.y < n))
    if model.policy.predicts != "class" or n < 2 or len(labelled) < 2 * _FEWEST:
        return
    some = labelled[:: 1 + len(labelled) // _JUDGED_POINTS]
    answers = model.answers(points.X[some])[0]
    answered = answers < n
    counts = confusion_matrix(points.y[some][answered], answers[answered], n)
    if swapped := _swapped(counts):
        names = [quoted(each) for each in model.classes]
        pairs = [f"{names[label]} as {names[answer]}" for label, answer in swapped.items()]
        more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
        text = (
            f"the model classifies most points labelled {', '.join(pairs[:_SHOWN])}{more}; check "
            "the labels and their order, and how the sensor was turned"
        )
        yield Notice("swapped_labels", text, warning=True)


def _swapped(counts: NDArray[np.int64]) -> dict[int, int]:
    """Return the answer to most points of each class (L, L) whose answers form a circle."""
    answer, points = counts.argmax(axis=1), counts.sum(axis=1)
    clear = (points >= _FEWEST) & (counts.max(axis=1) >= _MOST * points)
    wrong = {
        label: int(answer[label])
        for label in np.flatnonzero(clear & (answer != np.arange(len(counts)))).tolist()
    }
    while ends := [label for label in wrong if wrong[label] not in wrong]:
        for label in ends:
            del wrong[label]
    return {label: wrong[label] for label in sorted({*wrong.values()})}
