"""What a model makes of points that it was not trained on, for thresholds that need such points.

The model itself is trained on all points. Models of the same settings, each trained without a part
of them, stand in for it: each is measured on the part that it has not seen. What scores mean, the
loss has made alike; how wide kernels are is another thing in every training, so distances are
measured by what they are to the points that a model was trained on.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from protonn_edge.errors import InputError
from protonn_edge.model import ProtoNNModel
from protonn_edge.quantization import Statistics, statistics_of, together
from protonn_edge.training.estimator import ProtoNNClassifier

FOLDS = 4

_MEDIAN_POINTS = 5_000


def held_out_statistics(
    classifier: ProtoNNClassifier,
    X: NDArray[np.float32],
    y: NDArray[Any],
    model: ProtoNNModel,
    *,
    folds: int = FOLDS,
    on_fold: Callable[[int, int], object] = lambda *_: None,
) -> Statistics:
    """Return the statistics of points X (n, D) of classes y (n,), each by a model that lacks it.

    Parameters
    ----------
    classifier : ProtoNNClassifier
        Its settings; an int as `random_state` makes the folds the same every time.
    model : ProtoNNModel
        The one that was trained on all of them.
    folds : int
        At least 2; fewer are made where a class has fewer points.
    on_fold : callable
        Called with the number of a fold, from 1 on, and how many there are, before each.

    Raises
    ------
    InputError
        If a class has only one point, or the models have no integers.
    """
    least = int(np.unique(y, return_counts=True)[1].min())
    if least < 2:
        raise InputError(
            "a class has only one point, which cannot be trained on and held out; add points of "
            "that class, or leave it out"
        )
    splitter = StratifiedKFold(min(folds, least), shuffle=True, random_state=0)
    usual, parts = _usual_distance(model, X), []
    for number, (trained, held_out) in enumerate(splitter.split(np.zeros((len(y), 1)), y), 1):
        on_fold(number, splitter.n_splits)
        one = clone(classifier).set_params(callback=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            one.fit(X[trained], y[trained])
        stand_in = one.to_model()
        factor = usual / (_usual_distance(stand_in, X[trained]) or math.nan)
        known = statistics_of(stand_in, X[held_out])
        parts.append(known.with_distances(factor) if 0 < factor < math.inf else known)
    return together(parts)


def _usual_distance(model: ProtoNNModel, X: NDArray[np.float32]) -> float:
    """Return the median distance of points X (n, D), or some of them, to the nearest prototype."""
    return statistics_of(model, X[:: -(-len(X) // _MEDIAN_POINTS)]).median_distance
