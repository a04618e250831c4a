"""What a model makes of points that it was not trained on, for thresholds that need such points.

The model itself is trained on all points. Models of the same settings, each trained without a part
of them, stand in for it: each is measured on the part that it has not seen. What scores mean, the
loss has made alike; how wide RBFs are is another thing in every training, so distances are
measured by what they are to the points that a model was trained on. Models of one class, for which
nothing is optimized, have one width, and one projection.
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

from protonn_edge.model import Model, ProtoNNModel
from protonn_edge.quantization import Statistics, statistics_of, together
from protonn_edge.training.folds import check_classes_of_groups, fold_numbers

FOLDS_OF_ONE_CLASS = 10  # these train in no time, and what few points show is told by all of them
FOLDS = 4  # what scores mean is much the same in all of them; how accurate they are, less so

_MEDIAN_POINTS = 5_000


def held_out_statistics(
    classifier: Any,
    X: NDArray[np.float32],
    y: NDArray[Any],
    model: Model,
    *,
    groups: NDArray[Any] | None = None,
    folds: int = FOLDS,
    on_fold: Callable[[int, int], object] = lambda *_: None,
) -> Statistics:
    """Return the statistics of points X (n, D) of classes y (n,), each by a model that lacks it.

    Parameters
    ----------
    classifier : estimator
        Its settings; an int as `random_state` makes the folds the same every time.
    model : Model
        The one that was trained on all of them.
    groups : ndarray of shape (n,), optional
        Points of a group, say of one person, are left out together.
    folds : int
        At least 2; fewer are made where a class has fewer points, or where there are fewer groups.
    on_fold : callable
        Called with the number of a fold, from 1 on, and how many there are, before each.

    Raises
    ------
    InputError
        If a class has only one point, or only one group, or the models have no integers.
    """
    if groups is not None:
        check_classes_of_groups(y, groups)
        folds = min(folds, len(np.unique(groups)))
    alone = isinstance(model, ProtoNNModel) and model.n_classes == 1
    if alone and groups is None:
        folds = FOLDS_OF_ONE_CLASS
    fold_of = fold_numbers(np.unique(y, return_inverse=True)[1], folds, seed=0, groups=groups)
    usual, parts = _usual_distance(model, X), []
    for fold in range(fold_of.max() + 1):
        on_fold(fold + 1, int(fold_of.max()) + 1)
        held_out = fold_of == fold
        trained = ~held_out
        one = clone(classifier).set_params(callback=None, network_callback=None)
        if isinstance(model, ProtoNNModel) and alone:
            one.set_params(gamma=model.gamma, init_projection=model.projection)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            of_trained = None if groups is None else groups[trained]
            one.fit(X[trained], y[trained], groups=of_trained)
        stand_in = one.to_model()
        factor = 1.0
        if not alone:
            factor = usual / (_usual_distance(stand_in, X[trained]) or math.nan)
        held_out &= np.isin(y, one.classes_)  # of groups that have a class, one fold may have all
        known = statistics_of(stand_in, X[held_out])
        parts.append(known.with_distances(factor) if 0 < factor < math.inf else known)
    return together(parts)


def _usual_distance(model: Model, X: NDArray[np.float32]) -> float:
    """Return the median distance of points X (n, D), or some of them, to the nearest prototype."""
    return statistics_of(model, X[:: -(-len(X) // _MEDIAN_POINTS)]).median_distance
