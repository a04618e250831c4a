"""One trial: whether it fits, and the accuracy of its integers in cross-validation.

This code runs in workers. The result of a fold depends only on the points and its `Job`, so it does
not matter where, when, or how often the fold runs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.boards import Board
from protonn_edge.datasets.preparation import Preparation
from protonn_edge.errors import InputError
from protonn_edge.quantization import quantize
from protonn_edge.system.rounding import one_thread
from protonn_edge.training.base import CLASSIFIERS, DeviceClassifier
from protonn_edge.training.calibration import least_log_loss
from protonn_edge.training.features import NO_FEATURES
from protonn_edge.training.preparation import count_inputs
from protonn_edge.training.progress import EpochReport
from protonn_edge.training.refusals import TrainingRequest, check_compatible
from protonn_edge.training.requests import alternatives
from protonn_edge.training.searched import ANY, FEATURES, SearchSpec, settings_of_kind
from protonn_edge.tuning.limits import ACCURACY, Figures, Fit, Metric, TuningLimits, fit_of

RUNGS = (0.25, 0.5, 0.75)
"""Shares of the first fold's training after which a trial may be pruned."""

# A sketch of a model, for the planner: some points of each class, and a single epoch.
_SKETCH_POINTS = 600
_ACTIVITY_POINTS = 500


@dataclass(frozen=True)
class Alternative:
    """A choice of features before a classifier."""

    settings: Mapping[str, Any]  # the classifier's settings for it
    n_inputs: int  # D, the number of values that it makes of a point


def _accepted(kind: type[DeviceClassifier], given: Mapping[str, Any]) -> Any:
    """Return the settings of a classifier, which must be compatible."""
    settings = kind(**given).frozen()
    check_compatible(TrainingRequest(settings=settings, multilabel=False), kind.refusals)
    return settings


@dataclass(frozen=True, eq=False)
class Points:
    """The data shared by all trials."""

    X: NDArray[np.float32]  # (n, D): raw training points
    y: NDArray[np.int64]  # (n,): class indices
    folds: NDArray[np.int64]  # (n,) or (n, r): see `search_folds`
    board: Board  # the board that models must fit
    limits: TuningLimits  # the other limits
    # settings of the estimator that all trials share
    fixed: Mapping[str, Any] = field(default_factory=dict)
    # (n,): the group of each point, such as a person, if points are to be moved between groups
    groups: NDArray[np.int64] | None = None
    classifier: str = "protonn"  # the kind, as in `chain.registry`, or `ANY` of them
    metric: Metric = ACCURACY  # the figure to maximize
    left_out: tuple[str, ...] = ()  # kinds that are not searched among any
    # (n, D): which values were gaps, and what filled them; None without gaps
    gaps: NDArray[np.bool_] | None = None
    preparation: Preparation | None = None

    def filled_by(self, rows: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return the points with gaps filled as learned from some of them, (n,)."""
        if self.gaps is None or self.preparation is None:
            return self.X
        return self.preparation.refilled(self.X, self.gaps, rows)[1]

    def untrained(self, settings: Mapping[str, Any], seed: int = 0) -> DeviceClassifier:
        """Return an untrained classifier with the settings of a trial."""
        kind, drawn = settings_of_kind(settings)
        if self.classifier == ANY:
            return self.of_kind(kind or self.kinds[0]).untrained(drawn, seed)
        named = drawn.pop(FEATURES, next(iter(self.alternatives), None))
        of_features = {} if named is None else self.alternatives[named].settings
        every = {**self.fixed, **drawn, **of_features}
        return CLASSIFIERS[self.classifier](random_state=seed, **every)

    @cached_property
    def alternatives(self) -> Mapping[str, Alternative]:
        """Choices of features before the classifier, by name, but none that the settings refuse.

        There are none if the settings already choose features, or if only raw points would remain.
        """
        if self.classifier == ANY:
            return {}  # each kind has its own
        kind = CLASSIFIERS[self.classifier]
        given = kind(**self.fixed).frozen()
        if (given.asked is not None and given.asked.kind) or given.initial_model is not None:
            return {}
        measured = {}
        for name, wanted in alternatives(given).items():
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
        accepted, refused = [], []
        for name, kind in CLASSIFIERS.items():
            try:
                _accepted(kind, self.fixed)
                accepted.append(name)
            except InputError as error:
                refused.append(error)
        if not accepted:
            raise refused[0]
        return tuple(name for name in accepted if name not in self.left_out) or tuple(accepted)

    def of_kind(self, kind: str) -> Points:
        """Return the points for trials of one kind."""
        return self._by_kind.setdefault(kind, replace(self, classifier=kind))

    @cached_property
    def _by_kind(self) -> dict[str, Points]:
        return {}

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self.folds.max()) + 1

    def tested_in(self, fold: int) -> NDArray[np.bool_]:
        """Return which points are tested in a fold, (n,)."""
        return np.asarray((self.folds.reshape(len(self.y), -1) == fold).any(axis=1))


@dataclass(frozen=True)
class Job:
    """A fold of a trial."""

    number: int  # the numbers of the trial and the fold
    fold: int
    settings: Mapping[str, Any]  # the trial's settings
    seed: int  # of the training
    # scores to reach after shares of the training, or else be pruned
    bars: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True)
class FoldResult:
    """The result of a fold."""

    # the metric of the integer model on the fold's points, 0..1; None without a model
    score: float | None = None
    accuracy: float | None = None  # beside it
    loss: float = 0.0  # and the log loss of the scores, calibrated
    figures: Figures | None = None  # memory and cycles of the integer model
    excess: Mapping[str, float] = field(default_factory=dict)  # exceeded limits
    # the score in floats after shares of the training, if that is the accuracy
    rungs: Mapping[float, float] = field(default_factory=dict)
    seconds: float = 0.0  # of training
    hopeless: bool = False  # whether it was abandoned because it missed an accuracy in `Job.bars`
    failure: str = ""  # the reason if there is no model for another cause


def sketch(points: Points, settings: Mapping[str, Any], searched: SearchSpec, seed: int) -> Fit:
    """Return the memory and cycles of a model with these settings before it is trained.

    They depend on sizes and the share of non-zero weights, not on the weights' values; so a model
    that was trained for one epoch on some of the points is quantized and planned.
    """
    needed = (each * int(settings[name]) for name, each in searched.sketch_points.items())
    rows = _some_of_each_class(points.y, max([_SKETCH_POINTS, *needed]))
    classifier = points.untrained({**settings, **searched.sketch}, seed)
    X, y = points.X[rows], points.y[rows]
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")
        model = quantize(classifier.fit(X, y).model_)
        Q = model.quantize(X[:: -(-len(X) // _ACTIVITY_POINTS)])
        return fit_of(model, Q, points.board, points.limits)


def run_fold(points: Points, job: Job) -> FoldResult:
    """Train on all folds but one, and test the integers on that fold."""
    tested = points.tested_in(job.fold)
    every = points.filled_by(~tested)
    X, y = every[~tested], points.y[~tested]
    watch = _Watch(job.bars)
    classifier = points.untrained(job.settings, job.seed)
    evaluate_on = None
    if job.fold == 0:  # with groups, a class may be in the test points only
        evaluated = tested & np.isin(points.y, np.unique(y))
        evaluate_on = (every[evaluated], points.y[evaluated])
        if points.metric == ACCURACY:  # which is what training reports
            classifier.callback = watch.note
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore", ConvergenceWarning)
            groups = None if points.groups is None else points.groups[~tested]
            classifier.fit(X, y, groups=groups, evaluate_on=evaluate_on)
            model = quantize(classifier.model_)
            Q = model.quantize(every[tested])
            answers, scores = model.answers(Q)
            fit = fit_of(model, Q[:: -(-len(Q) // _ACTIVITY_POINTS)], points.board, points.limits)
    except _Hopeless:
        return FoldResult(rungs=watch.rungs, seconds=_since(began), hopeless=True)
    except ValueError as error:  # training diverged, or the model cannot be quantized
        return FoldResult(rungs=watch.rungs, seconds=_since(began), failure=str(error)[:300])
    known, actual = classifier.classes_, points.y[tested]
    compared = known[answers], actual, int(points.y.max()) + 1
    trained = np.isin(actual, known)  # with groups, a class may be in the test points only
    return FoldResult(
        score=points.metric.of(*compared),
        accuracy=ACCURACY.of(*compared),
        loss=least_log_loss(scores[trained], np.searchsorted(known, actual[trained])),
        figures=fit.figures,
        excess=fit.excess,
        rungs=watch.rungs,
        seconds=_since(began),
    )


class _Hopeless(Exception):
    """A smaller and faster model was ahead."""


class _Watch:
    """Ends a training if its accuracy is below `Job.bars`."""

    def __init__(self, bars: Mapping[float, float]) -> None:
        self._bars = bars
        self.rungs: dict[float, float] = {}

    def note(self, report: EpochReport) -> None:
        for share in RUNGS:
            if report.epoch == max(1, round(share * report.epochs)):
                self.rungs[share] = float(report.test_accuracy or 0.0)
                if self.rungs[share] < self._bars.get(share, 0.0):
                    raise _Hopeless


def _since(began: float) -> float:
    return round(time.perf_counter() - began, 3)


def _some_of_each_class(y: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return rows of about `count` points, the same share of each class and at least one."""
    step = max(1, -(-len(y) // count))
    rows = [np.flatnonzero(y == label)[::step] for label in np.unique(y)]
    return np.sort(np.concatenate(rows))


def check_points(y: Any) -> None:
    """Refuse data for which there are no integer models."""
    if np.ndim(y) != 1:
        raise InputError(
            "the points have sets of labels, for which there is no integer model; use data with "
            "one class per point"
        )
