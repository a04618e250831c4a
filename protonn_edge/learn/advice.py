"""Advice to train another kind of classifier, if that is clearly better on held-out points."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import NO_CLASS, Notice
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.learn.learner import LEARNERS
from protonn_edge.learn.points import Float32, sample_with_all_classes
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.system.errors import InputError
from protonn_edge.system.figures import percent

_BY_CHANCE = 0.01  # of an alarm, if both are equally good
_LEAST_LEAD = 0.02  # of the points
_MOST_POINTS = 10_000  # for a trial


def better_kind(model: Model, dataset: Dataset, seed: int) -> Notice | None:
    """Return a notice that names another kind of classifier, if it is clearly better than a model.

    The model was trained on the training part of the data set. It is compared on the part that was
    held out, never on points that were given for testing. A quick trial in floats comes first; the
    integers of the kind, trained with its defaults, then have to lead as well.
    """
    tested = dataset.y_test != NO_CLASS
    n, division = int(tested.sum()), dataset.division
    is_held_out = n > 0 and division is not None and division.share > 0
    weighted = model.record.get("settings", {}).get("class_weight") is not None
    if not is_held_out or weighted or model.n_classes < 2 or why_floats_alone(model) is not None:
        return None
    X, y = dataset.X_test[tested], dataset.y_test[tested]
    right = _integers_right(model, X, y)
    if not _could_lead(right):
        return None
    for name, kind in LEARNERS.items():
        trial = kind.quick_trial(seed)
        if trial is None or name == model.head.kind:
            continue
        some = np.random.default_rng(seed)
        rows = sample_with_all_classes(dataset.y_train, _MOST_POINTS, some)
        trial.fit(_inputs(model, dataset.X_train[rows]), dataset.y_train[rows])
        if not leads(trial.predict(_inputs(model, X)) == y, right):
            continue
        try:
            learner = kind(random_state=seed, features=model.features)
            learner.fit_accepted(dataset.X_train, dataset.y_train)
        except InputError:  # such as no tree within the budget
            continue
        share = float(np.mean(_integers_right(learner.model_, X, y)))
        if share - right.mean() >= _LEAST_LEAD:
            text = (
                f"a {name} classifies about {percent(share, 0)} of the {n:,} held-out points "
                f"correctly, and this model {percent(right.mean(), 0)}; try --classifier {name}"
            )
            return Notice("better_kind", text)
    return None


def leads(right: NDArray[np.bool_], others: NDArray[np.bool_]) -> bool:
    """Return whether answers to the same points (n,) are right clearly more often than others.

    This is McNemar's exact test with one side, and a lead of at least two percentage points.
    """
    won, lost = int((right & ~others).sum()), int((others & ~right).sum())
    if won - lost < _LEAST_LEAD * len(right) or won == 0:
        return False
    n = won + lost
    ways = sum(math.comb(n, k) for k in range(won, n + 1))  # to win this often or more
    return bool(ways / 2**n < _BY_CHANCE)


def _could_lead(right: NDArray[np.bool_]) -> bool:
    """Return whether answers without a mistake would lead."""
    return leads(np.ones_like(right), right)


def _inputs(model: Model, X: Float32) -> Float32:
    return X if model.features is None else model.features.apply(X)


def _integers_right(model: Model, X: Float32, y: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which points the largest score of the integers is right for."""
    integers = quantize(model)
    right: NDArray[np.bool_] = integers.scores(integers.quantize(X)).argmax(axis=1) == y
    return right
