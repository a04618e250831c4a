"""Folds of cross-validation, and statistics of held-out points for choosing thresholds.

The model itself is trained on all points. In its place, models with the same settings are each
trained without a part of the points and measured on that part. The loss makes scores comparable
between trainings. The width of the RBF is not comparable, so distances are measured relative to
those of each model's training points. One-class models, which are not optimized, share one width
and one projection.
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
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from protonn_edge.chain.model import Model
from protonn_edge.datasets.groups import group_numbers
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.quantization import Statistics, statistics_of, together

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

    Folds are reproducible if the classifier's `random_state` is an int. There are fewer folds if a
    class has too few points or there are too few groups; a group's points are held out together.
    `on_fold` is called before each fold with its number, from 1, and the total.

    Raises `InputError` if a class has only one point, or only one group, or models have no
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
        if alone:
            factor = _gamma_of(model) / _gamma_of(stand_in)  # 1 unless its prototypes spread more
        else:
            factor = usual / (_usual_distance(stand_in, X[trained]) or math.nan)
        held_out &= np.isin(y, one.classes_)  # one fold may have all groups of a class
        statistics = statistics_of(stand_in, X[held_out])
        parts.append(statistics.with_distances(factor) if 0 < factor < math.inf else statistics)
    return together(parts)


def _gamma_of(model: Model) -> float:
    assert isinstance(model.head, ProtoNNHead)
    return model.head.gamma


def _usual_distance(model: Model, X: NDArray[np.float32]) -> float:
    """Return the median distance of points X (n, D), or some of them, to the nearest prototype."""
    return statistics_of(model, X[:: -(-len(X) // _MEDIAN_POINTS)]).median_distance


_FOLDS = 3
_FOLDS_OF_GROUPS = 7  # groups differ more than points: hold out few at a time
_FEW_POINTS, _FOLDS_OF_FEW, _DIVISIONS_OF_FEW = 200, 5, 4


def usual_folds(groups: NDArray[Any] | None = None) -> int:
    """Return a sufficient number of folds for points (n,), in groups or not."""
    if groups is None:
        return _FOLDS
    return max(2, min(len(np.unique(groups)), _FOLDS_OF_GROUPS))


def search_folds(
    y: NDArray[np.int64], n_folds: int | None, seed: int, groups: NDArray[Any] | None = None
) -> NDArray[np.int64]:
    """Return the folds in which a search tests each point, (n, r); see `fold_numbers`.

    By default, few points without groups are divided several times, into folds of other numbers:
    in a single division, chance would choose among many models.
    """
    few = n_folds is None and groups is None and len(y) < _FEW_POINTS
    n_folds = n_folds or (_FOLDS_OF_FEW if few else usual_folds(groups))
    seeds = range(seed, seed + (_DIVISIONS_OF_FEW if few else 1))
    parts = [fold_numbers(y, n_folds, each, groups) for each in seeds]
    return np.stack([each + i * (each.max() + 1) for i, each in enumerate(parts)], axis=1)


def fold_numbers(
    y: NDArray[np.int64], n_folds: int, seed: int, groups: NDArray[Any] | None = None
) -> NDArray[np.int64]:
    """Return, for each point, the fold 0..n_folds - 1 in which it is tested.

    Each fold gets about the same share of each class y (n,), and only whole groups. Groups are
    assigned so that classes are balanced, so the seed hardly matters for them. There are fewer
    folds, but at least two, if a class has fewer points.

    Raises `InputError` if a class has only one point, or there are fewer groups than folds.
    """
    least = int(np.bincount(y).min())
    if least < 2:
        raise InputError(
            "a class has only one point, which cannot be used for both training and testing; add "
            "points of that class, or leave the class out"
        )
    n_folds = min(n_folds, least)
    if groups is None:
        splitter: Any = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    else:
        groups = group_numbers(groups, len(y))
        n_groups = int(groups.max()) + 1
        if n_groups < n_folds:
            raise InputError(
                f"there are {n_groups:,} groups for {n_folds:,} folds, and a group is never split; "
                "use fewer folds, or leave the groups out"
            )
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    numbers = np.zeros(len(y), dtype=np.int64)
    for number, (_, tested) in enumerate(splitter.split(np.zeros((len(y), 1)), y, groups)):
        numbers[tested] = number
    _, without_gaps = np.unique(numbers, return_inverse=True)  # small groups may leave a fold empty
    filled: NDArray[np.int64] = without_gaps
    return filled


def check_classes_of_groups(y: NDArray[Any], groups: NDArray[Any]) -> None:
    """Refuse points of classes y (n,) if all points of a class are in one group."""
    for label in np.unique(y):
        if len(np.unique(groups[y == label])) < 2:
            raise InputError(
                f"all points of class {label!s} are in one group, so no model can learn this class "
                "when the group is held out; record the class in another group, too, or leave the "
                "groups out"
            )
