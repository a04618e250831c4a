"""What a search maximizes: the metric of the integer model in cross-validation, within the limits.

This code runs in workers. The result of a trial depends only on the objective and the `Job`, so it
does not matter where, when, or how often the trial runs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import optuna
from numpy.typing import NDArray
from optuna.trial import create_trial
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.learn.search.limits import Fit, Judged, fit_of
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.space import SearchSpace
from protonn_edge.learn.search.store import Outcome, Record, new_study
from protonn_edge.learn.searched import FEATURES, settings_of_kind
from protonn_edge.model.quantization import quantize
from protonn_edge.system.rounding import one_thread

# After a fold, a trial stays if it is better than the worst quarter of the complete ones.
_PRUNER = optuna.pruners.PercentilePruner(75.0)

# A sketch of a model, for the planner: some points of each class, and a single epoch.
_SKETCH_POINTS = 600


@dataclass(frozen=True)
class Job:
    """A trial to run."""

    number: int
    settings: Mapping[str, object]
    # earlier trials, by which this one may be pruned
    seen: Sequence[Record] = ()


@dataclass(frozen=True, eq=False)
class Objective:
    """The objective of a search, which workers share."""

    space: SearchSpace
    seed: int = 0  # of the training

    @property
    def points(self) -> TrialPoints:
        """The data that all trials share."""
        return self.space.points

    def __call__(self, job: Job) -> Record:
        """Return the result of a trial; settings that cannot fit are not trained."""
        began = time.perf_counter()
        folds: list[Judged] = []
        fits: list[Fit] = []
        steps: dict[int, float] = {}
        fit: Fit | None = None
        outcome: Outcome = "complete"
        reason = ""
        try:
            fit = self.sketch(job.settings)
            trial = _trial_beside(job.seen)
            while outcome == "complete" and len(folds) < self.points.n_folds and not fit.excess:
                judged, fit = self.test_fold(len(folds), job.settings, fit)
                folds.append(judged)
                fits.append(fit)
                steps[len(folds)] = float(np.mean([each.score for each in folds]))
                trial.report(steps[len(folds)], len(folds))
                if len(folds) < self.points.n_folds and trial.should_prune():
                    outcome = "pruned"
            if fit.excess:
                outcome = "infeasible"
        except ValueError as error:  # training diverged, or the model cannot be quantized
            outcome, reason = "failed", str(error)[:300]
        # What a limit refuses is reported, too.
        fit = max(fits, key=lambda each: (each.worst, each.figures.flash_bytes), default=fit)
        return Record(
            job.number,
            job.settings,
            outcome,
            fit.figures if fit else None,
            scores=[each.score for each in folds],
            accuracies=[each.accuracy for each in folds],
            loss=sum(each.loss for each in folds) / max(len(folds), 1),
            steps=steps,
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
        needed = (each * int(every[name]) for name, each in spec.sketch_points.items())
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
            warnings.simplefilter("ignore", ConvergenceWarning)
            groups = None if points.groups is None else points.groups[~tested]
            classifier.fit(X, y, groups=groups)
            model = quantize(classifier.model_)
            Q = model.quantize(X_test)
            fit = fit_of(model, points.board, points.limits, like)
            judged = points.metric.judged(model, Q, points.y[tested], classifier.classes_)
        # The last digits of the loss depend on the machine.
        return judged._replace(loss=round(judged.loss, 9)), fit


def _trial_beside(seen: Sequence[Record]) -> optuna.Trial:
    """Return a trial that Optuna's pruner compares with the complete ones of earlier trials."""
    study = new_study(pruner=_PRUNER)
    for record in seen:
        if record.outcome == "complete":
            earlier = create_trial(value=record.score, intermediate_values=dict(record.steps))
            study.add_trial(earlier)
    return study.ask()


def _some_of_each_class(y: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return rows of about `count` points, the same share of each class and at least one."""
    step = max(1, -(-len(y) // count))
    rows = [np.flatnonzero(y == label)[::step] for label in np.unique(y)]
    return np.sort(np.concatenate(rows))
