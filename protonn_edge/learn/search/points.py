"""The data that all trials of a search share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.data.points.dataset import several_labels
from protonn_edge.data.points.preparation import Preparation
from protonn_edge.learn.features import NO_FEATURES
from protonn_edge.learn.input_space import count_inputs
from protonn_edge.learn.learner import Learner
from protonn_edge.learn.refusals import check_compatible
from protonn_edge.learn.search import ANY
from protonn_edge.learn.search.alternatives import alternatives
from protonn_edge.learn.search.limits import ACCURACY, Metric, TuningLimits
from protonn_edge.learn.searched import FEATURES, settings_of_kind
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.model.registry import KINDS, learner_with
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError


@dataclass(frozen=True)
class Alternative:
    """A choice of features before a classifier."""

    settings: Mapping[str, Any]  # the classifier's settings for it
    n_inputs: int  # D, the number of values that it makes of a point


def _accepted(kind: type[Learner], given: Mapping[str, Any]) -> Any:
    """Return the settings of a classifier, which must be compatible."""
    settings = kind(**given).frozen()
    predicts = settings.target.labels.predicts
    check_compatible(TrainingRequest(settings=settings, predicts=predicts))
    return settings


@dataclass(frozen=True, eq=False)
class TrialPoints:
    """The data shared by all trials."""

    X: NDArray[np.float32]  # (n, D): raw training points
    y: Array  # (n,): class indices, or numbers
    folds: NDArray[np.int64]  # (n,) or (n, r): see `search_folds`
    board: Board  # the board that models must fit
    limits: TuningLimits  # the other limits
    # settings of the estimator that all trials share
    fixed: Mapping[str, Any] = field(default_factory=dict)
    # (n,): the group of each point, such as a person, if points are to be moved between groups
    groups: NDArray[np.int64] | None = None
    classifier: str = next(iter(KINDS))  # the kind, as in `model.registry`, or `ANY` of them
    metric: Metric = ACCURACY  # the figure to maximize
    left_out: tuple[str, ...] = ()  # kinds that are not searched among any
    # (n, D): which values were gaps, and what filled them; None without gaps
    gaps: NDArray[np.bool_] | None = None
    preparation: Preparation | None = None
    # (n, D): what another day adds to points that are tested; None without drift
    drift: NDArray[np.float32] | None = None

    def filled_by(self, rows: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return the points with gaps filled as learned from some of them, (n,)."""
        if self.gaps is None or self.preparation is None:
            return self.X
        return self.preparation.refilled(self.X, self.gaps, rows)[1]

    def untrained(self, settings: Mapping[str, Any], seed: int = 0) -> Learner:
        """Return an untrained classifier with the settings of a trial."""
        kind, drawn = settings_of_kind(settings)
        if self.classifier == ANY:
            return self.of_kind(kind or self.kinds[0]).untrained(drawn, seed)
        named = drawn.pop(FEATURES, next(iter(self.alternatives), None))
        of_features = {} if named is None else self.alternatives[named].settings
        every = {**self.fixed, **drawn, **of_features}
        return self.estimator(every)(random_state=seed, **every)

    @cached_property
    def alternatives(self) -> Mapping[str, Alternative]:
        """Choices of features before the classifier, by name, but none that the settings refuse.

        There are none if the settings already choose features, or if only raw points would remain.
        """
        if self.classifier == ANY:
            return {}  # each kind has its own
        kind = self.estimator(self.fixed)
        given = kind(**self.fixed).frozen()
        if (given.asked is not None and given.asked.kind) or given.initial_model is not None:
            return {}
        measured = {}
        for name, wanted in alternatives(given, self.X).items():
            own = {
                key: each
                for key, each in wanted.items()
                if key not in self.fixed or key == "features"
            }
            with suppress(InputError):
                settings = _accepted(kind, {**self.fixed, **own})
                measured[name] = Alternative(own, count_inputs(settings, self.X))
        return {} if set(measured) == {NO_FEATURES} else measured

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of classifiers that trials may have; refused if there are none."""
        if self.classifier != ANY:
            return (self.classifier,)
        accepted = tuple(name for name in self.estimators if name not in self.refused)
        if not accepted:
            raise next(iter(self.refused.values()))
        return tuple(name for name in accepted if name not in self.left_out) or accepted

    @cached_property
    def refused(self) -> dict[str, InputError]:
        """The kinds of classifiers that do not take the settings, with the errors."""
        refused = {}
        for name, kind in self.estimators.items():
            try:
                _accepted(kind, self.fixed)
            except InputError as error:
                refused[name] = error
        return refused

    def of_kind(self, kind: str) -> TrialPoints:
        """Return the points for trials of one kind."""
        return self._by_kind.setdefault(kind, replace(self, classifier=kind))

    @cached_property
    def _by_kind(self) -> dict[str, TrialPoints]:
        return {}

    @property
    def estimators(self) -> Mapping[str, type[Learner]]:
        """The estimators for the labels, by their kinds."""
        return self.metric.estimators

    def estimator(self, settings: Collection[str]) -> type[Learner]:
        """Return the estimator of the kind, or the variant that has all of these settings."""
        own = self.estimators[self.classifier]
        found: type[Learner] = own
        if not own.parameters.keys() >= {*settings}:
            found = learner_with(self.classifier, settings)
        return found

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self.folds.max()) + 1

    def tested_in(self, fold: int) -> NDArray[np.bool_]:
        """Return which points are tested in a fold, (n,)."""
        return np.asarray((self.folds.reshape(len(self.y), -1) == fold).any(axis=1))


def check_points(y: ArrayLike) -> None:
    """Refuse data for which there are no integer models."""
    if np.ndim(y) != 1:
        raise several_labels("the data", "searches compare models that run on a device")
