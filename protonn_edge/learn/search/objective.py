"""What a search maximizes: the metric of the integer model in cross-validation, within the limits.

This code runs in workers. The result of a trial depends only on the objective, the settings, and
the complete trials beside it, so it does not matter where, when, or how often the trial runs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import optuna
from numpy.typing import NDArray
from optuna.storages import BaseStorage

from protonn_edge.learn.search.limits import Fit, Judged, fit_of
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import NAME, RECORD, Outcome, Record
from protonn_edge.learn.searched import FEATURES, settings_of_kind
from protonn_edge.model.quantization import quantize
from protonn_edge.system.rounding import one_thread

# After a fold, a trial stays if it is better than the worst quarter of the complete ones.
_PRUNER = optuna.pruners.PercentilePruner(75.0)
_AT_RANDOM = 4  # trials after the given first ones, before the sampler uses its model

# A sketch of a model, for the planner: some points of each class, and a single epoch.
_SKETCH_POINTS = 600


class Abandoned(BaseException):
    """Ctrl-C within a trial: Optuna keeps the trial as it is, and a later search runs it again."""


@dataclass(frozen=True, eq=False)
class Objective:
    """The objective of a search, which workers share."""

    space: SearchSpace
    seed: int = 0  # of the training

    @property
    def points(self) -> TrialPoints:
        """The data that all trials share."""
        return self.space.points

    def study_in(self, storage: BaseStorage, number: int) -> optuna.Study:
        """Return the study in a storage; `number` is the sampler's seed."""
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = optuna.samplers.TPESampler(
            seed=(self.seed * 1_000_003 + number) % 2**32,
            n_startup_trials=len(self.space.starts) + _AT_RANDOM,
        )
        return optuna.load_study(study_name=NAME, storage=storage, sampler=sampler, pruner=_PRUNER)

    def __call__(self, trial: optuna.Trial) -> float:
        """Return the score of a trial, and keep its record.

        Raises `optuna.TrialPruned` if it is pruned or does not fit; a NaN is a trial that failed.
        """
        try:
            record = self.judge(trial)
        except KeyboardInterrupt as error:
            raise Abandoned from error
        trial.set_user_attr(RECORD, record.to_keep())
        if record.outcome in ("pruned", "infeasible"):
            raise optuna.TrialPruned
        return record.score if record.outcome == "complete" else np.nan

    def judge(self, trial: optuna.Trial) -> Record:
        """Return the result of a trial; settings that cannot fit are not trained."""
        began, settings = time.perf_counter(), self.space.draw(trial)
        folds, fits, fit = list[Judged](), list[Fit](), None
        outcome: Outcome = "complete"
        reason = ""
        may_be_pruned = trial.number >= len(self.space.starts)  # not the first ones
        try:
            fit = self.sketch(settings)
            while outcome == "complete" and len(folds) < self.points.n_folds and not fit.excess:
                judged, fit = self.test_fold(len(folds), settings, fit)
                folds.append(judged)
                fits.append(fit)
                _report(trial, folds)
                if may_be_pruned and len(folds) < self.points.n_folds and trial.should_prune():
                    outcome = "pruned"
            if fit.excess:
                outcome = "infeasible"
                for name, used in fit.excess.items():
                    trial.set_constraint(name, used)
        except ValueError as error:  # training diverged, or the model cannot be quantized
            outcome, reason = "failed", str(error)[:300]
        # What a limit refuses is reported, too.
        fit = max(fits, key=lambda each: (each.worst, each.figures.flash_bytes), default=fit)
        return Record(
            trial.number,
            settings,
            outcome,
            fit.figures if fit else None,
            scores=[each.score for each in folds],
            accuracies=[each.accuracy for each in folds],
            loss=sum(each.loss for each in folds) / max(len(folds), 1),
            seconds=round(time.perf_counter() - began, 3),
            reason=reason,
            excess=fit.excess if fit else {},
        )

    def sketch(self, settings: Mapping[str, object]) -> Fit:
        """Return the memory and cycles of a model with these settings before it is trained.

        They depend on sizes and the share of non-zero weights, not on the weights' values; so a
        model that was trained for one epoch on some of the points is quantized and planned.
        """
        kind, drawn = settings_of_kind(settings)
        points = self.points.of_kind(kind or self.points.classifier)
        spec = self.space.specs[points.classifier][drawn.get(FEATURES)]
        every = {**points.fixed, **drawn}
        needed = (each * int(every.get(name) or 0) for name, each in spec.sketch_points.items())
        rows = _some_of_each_class(points.metric.strata(points.y), max([_SKETCH_POINTS, *needed]))
        classifier = points.untrained({**drawn, **spec.sketch}, self.seed)
        X, y = points.X[rows], points.y[rows]
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore")
            model = quantize(classifier.fit(X, y).model_)
            return fit_of(model, points.board, points.limits)

    def test_fold(
        self, fold: int, settings: Mapping[str, object], like: Fit | None = None
    ) -> tuple[Judged, Fit]:
        """Train on all folds but one, and judge the integers on that fold.

        The time of the model is scaled as in the fit of one `like` it.
        """
        points, tested = self.points, self.points.tested_in(fold)
        every = points.filled_by(~tested)
        X, y = every[~tested], points.y[~tested]
        X_test = every[tested] + (0 if points.drift is None else points.drift[tested])
        classifier = points.untrained(settings, self.seed)
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore", UserWarning)  # of remarks
            groups = None if points.groups is None else points.groups[~tested]
            classifier.fit(X, y, groups=groups)
            model = quantize(classifier.model_)
            Q = model.quantize(X_test)
            fit = fit_of(model, points.board, points.limits, like)
            judged = points.metric.judged(model, Q, points.y[tested], classifier.classes_)
        # The last digits of the loss depend on the machine.
        return judged._replace(loss=round(judged.loss, 9)), fit


def _report(trial: optuna.Trial, folds: Sequence[Judged]) -> None:
    """Report the mean score, by which trials are pruned, after each fold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run that was killed may have reported it
        trial.report(float(np.mean([each.score for each in folds])), len(folds))


def _some_of_each_class(y: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return rows of about `count` points, the same share of each class and at least one."""
    step = max(1, -(-len(y) // count))
    rows = [np.flatnonzero(y == label)[::step] for label in np.unique(y)]
    return np.sort(np.concatenate(rows))
