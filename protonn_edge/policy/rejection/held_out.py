"""Thresholds from points held out from training, for which several models are trained.

The model itself is trained on all points. In its place, models with the same settings are each
trained without a part of the points and measured on that part. The loss makes scores comparable
between trainings. The width of the RBF is not comparable, so distances are measured relative to
those of each model's training points. One-class models, which are not optimized, share one width
and one projection.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.data.roles.groups import group_numbers
from protonn_edge.learn.folds import check_classes_of_groups, fold_numbers
from protonn_edge.learn.given_points import checked_points
from protonn_edge.learn.learner import Learner
from protonn_edge.model.head import settings_of
from protonn_edge.model.model import Model
from protonn_edge.policy.rejection import Statistic
from protonn_edge.policy.rejection.calibration import (
    Statistics,
    check_statistics,
    statistics_of,
    together,
    with_rejection,
)
from protonn_edge.system.arrays import Array

FOLDS_OF_ONE_CLASS = 10  # these train quickly, and more folds use few points better
FOLDS = 4  # scores are comparable between folds, accuracies less so

_MEDIAN_POINTS = 5_000

Classifier = TypeVar("Classifier", bound=Learner)


def calibrate_rejection(
    classifier: Classifier,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    rate: float = 0.01,
    by: Sequence[Statistic] = ("score",),
    groups: ArrayLike | None = None,
    on_fold: Callable[[int, int], object] = lambda *_: None,
) -> Classifier:
    """Choose thresholds for rejecting unknown points, for `predict` and the device.

    Parameters
    ----------
    classifier : DeviceClassifier
        A fitted classifier.
    X : array of shape (n, D)
        Points of the classes that are used neither for training nor for testing or, with `y`,
        the training points.
    y : array of shape (n,), optional
        The labels of the training points. Each point is then scored by a model that was trained
        without it, so several models are trained.
    rate : float
        Share of such points that may be rejected by mistake, above 0 and below 1.
    by : sequence of {"score", "distance", "margin"}
        See `protonn_edge.policy.rejection.rule`.
    groups : array of shape (n,), optional
        With `y`: points of a group are held out together.
    on_fold : callable
        With `y`: called with the number of a model, from 1, and the total.

    Returns
    -------
    DeviceClassifier
        The same classifier, whose model now has thresholds.

    Raises
    ------
    InputError
        If there are too few points for the rate, or the model has no integers.
    """
    check_statistics(classifier.to_model(), by)
    points = checked_points(classifier, X, "X", reset=False)
    if y is None:
        statistics = statistics_of(classifier.model_, points)
    else:
        numbers = None if groups is None else group_numbers(groups, len(points))
        labels = classifier.column_of(y, len(points))
        statistics = held_out_statistics(
            classifier, points, labels, classifier.model_, groups=numbers, on_fold=on_fold
        )
    classifier.model_ = with_rejection(classifier.model_, statistics, rate, by)
    return classifier


def held_out_statistics(
    classifier: Any,
    X: NDArray[np.float32],
    y: Array,
    model: Model,
    *,
    groups: Array | None = None,
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
    alone = model.n_classes == 1
    if alone and groups is None:
        folds = FOLDS_OF_ONE_CLASS
    fold_of = fold_numbers(np.unique(y, return_inverse=True)[1], folds, seed=0, groups=groups)
    usual, parts = _usual_distance(model, X), []
    for fold in range(fold_of.max() + 1):
        on_fold(fold + 1, int(fold_of.max()) + 1)
        held_out = fold_of == fold
        trained = ~held_out
        one = classifier.stand_in_for(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of its remarks
            of_trained = None if groups is None else groups[trained]
            one.fit(X[trained], y[trained], groups=of_trained)
        stand_in = one.to_model()
        if alone:
            # 1 unless its prototypes spread more
            factor = settings_of(model.head)["gamma"] / settings_of(stand_in.head)["gamma"]
        else:
            factor = usual / (_usual_distance(stand_in, X[trained]) or math.nan)
        held_out &= np.isin(y, one.classes_)  # one fold may have all groups of a class
        statistics = statistics_of(stand_in, X[held_out])
        parts.append(statistics.with_distances(factor) if 0 < factor < math.inf else statistics)
    return together(parts)


def _usual_distance(model: Model, X: NDArray[np.float32]) -> float:
    """Return the median distance of points X (n, D), or some of them, to the nearest prototype."""
    return statistics_of(model, X[:: -(-len(X) // _MEDIAN_POINTS)]).median_distance
