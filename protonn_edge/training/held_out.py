"""Statistics of points that a model was not trained on, for choosing thresholds.

The model itself is trained on all points. Models with the same settings, each trained without a
part of the points, stand in for it: each is measured on its held-out part. Scores are comparable
between trainings, because of the loss. The width of the RBF is not, so distances are measured
relative to those of a model's training points. One-class models, which are not optimized, share one
width and one projection.
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

from protonn_edge.chain.model import Model
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.quantization import Statistics, statistics_of, together
from protonn_edge.training.folds import check_classes_of_groups, fold_numbers

FOLDS_OF_ONE_CLASS = 10  # these train quickly, and more folds use few points better
FOLDS = 4  # scores are comparable between folds, accuracies less so

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
    """Return the statistics of points X (n, D) of classes y (n,), by models trained without them.

    - `classifier`: its settings; with an int as `random_state` the folds are reproducible.
    - `model`: the model trained on all points.
    - `groups` (n,): points of a group, such as one person, are held out together.
    - `folds`: at least 2; reduced if a class has fewer points, or there are fewer groups.
    - `on_fold`: called before each fold with its number, from 1, and the total.

    Raises `InputError` if a class has only one point, or only one group, or the models have no
    integers.
    """
    if groups is not None:
        check_classes_of_groups(y, groups)
        folds = min(folds, len(np.unique(groups)))
    alone = isinstance(model.head, ProtoNNHead) and model.n_classes == 1
    if alone and groups is None:
        folds = FOLDS_OF_ONE_CLASS
    fold_of = fold_numbers(np.unique(y, return_inverse=True)[1], folds, seed=0, groups=groups)
    usual, parts = _usual_distance(model, X), []
    for fold in range(fold_of.max() + 1):
        on_fold(fold + 1, int(fold_of.max()) + 1)
        held_out = fold_of == fold
        trained = ~held_out
        one = clone(classifier).set_params(callback=None, network_callback=None)
        if isinstance(model.head, ProtoNNHead) and alone:
            one.set_params(gamma=model.head.gamma, init_projection=model.head.projection)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            of_trained = None if groups is None else groups[trained]
            one.fit(X[trained], y[trained], groups=of_trained)
        stand_in = one.to_model()
        factor = 1.0
        if not alone:
            factor = usual / (_usual_distance(stand_in, X[trained]) or math.nan)
        held_out &= np.isin(y, one.classes_)  # one fold may have all groups of a class
        known = statistics_of(stand_in, X[held_out])
        parts.append(known.with_distances(factor) if 0 < factor < math.inf else known)
    return together(parts)


def _usual_distance(model: Model, X: NDArray[np.float32]) -> float:
    """Return the median distance of points X (n, D), or some of them, to the nearest prototype."""
    return statistics_of(model, X[:: -(-len(X) // _MEDIAN_POINTS)]).median_distance
