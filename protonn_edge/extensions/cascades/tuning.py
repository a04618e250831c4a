"""A cascade of two candidates of a search, which is tried where a fast model is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.cascades.kinds.cascade.train import joined
from protonn_edge.learn.search import FASTEST
from protonn_edge.learn.search.choice import Refitted, checked, cycles_of, ranked
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.store import Record
from protonn_edge.model.model import Model
from protonn_edge.system.errors import CheckFailed, InputError

_FASTER = 3.0  # times as fast as the second model: a first one that may be worth it
_OF_SEARCH = ("chosen", "kernel")  # what a model's record adds to that of its search


def faster_cascade(
    points: TrialPoints, choice: str, trials: Sequence[Record], refitted: Refitted
) -> Refitted:
    """Return a cascade if it is faster than the chosen model and a fast one is wanted.

    The most accurate trial is the second model. The first one is the most accurate of those that
    are much faster. Both learn all points but those of the first fold, which choose the margin.
    """
    second = ranked(trials)[0]
    fast = [each for each in trials if _FASTER * cycles_of(each) <= cycles_of(second)]
    if choice != FASTEST or not fast or refitted.model.policy.predicts != "class":
        return refitted
    held = points.tested_in(0)
    one, other = (
        _learned(points, each.settings, refitted.seed, ~held, refitted.model)
        for each in (ranked(fast)[0], second)
    )
    record = refitted.model.record["tuning"]
    search = {name: value for name, value in record.items() if name not in _OF_SEARCH}
    try:
        model = joined(one, other, points.filled_by(~held)[held], points.y[held])
        cascade = checked(model, second, points, search)
    except (InputError, CheckFailed):  # they do not belong together, or exceed a limit
        return refitted
    is_faster = (cascade.fit.plan.cycles or 0) < (refitted.fit.plan.cycles or 0)  # on average
    return cascade if is_faster and not cascade.fidelity.shortfall else refitted


def _learned(
    points: TrialPoints,
    settings: Mapping[str, object],
    seed: int,
    rows: NDArray[np.bool_],
    like: Model,
) -> Model:
    """Return a model of some of the points, with the names of another one."""
    groups = None if points.groups is None else points.groups[rows]
    classifier = points.untrained(settings, seed)
    classifier.fit(points.filled_by(rows)[rows], points.y[rows], groups=groups)
    model: Model = classifier.to_model(classes=like.classes, feature_names=like.feature_names)
    return model
