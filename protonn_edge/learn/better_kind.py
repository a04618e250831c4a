"""Another kind of model in place of the default, if it is clearly better on held-out points.

`train` tries the kinds that learn fast after its default has learned, and only if they could lead.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import NO_CLASS, Notice
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.learn.choices import Choice
from protonn_edge.learn.learner import LEARNERS, Learner
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.learn.points import Indices, sample_with_all_classes
from protonn_edge.learn.refusals import is_refused
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.model.head import kind_title
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.model.registry import PARAMETERS, VALUE_LEARNERS
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.figures import percent
from protonn_edge.system.schema import JsonObject

CHOICES = {
    "class": Choice(by_chance=0.01, lead=0.02, least=100),
    "value": Choice(by_chance=0.001, lead=0.05, is_relative=True),
}
"""When a kind takes the place of another one, by what labels are."""

_MOST_POINTS, _MOST_VALUES = 10_000, 400_000  # of a trial


@dataclass(frozen=True)
class BetterKind:
    """A kind that takes the place of the default."""

    learner: Learner  # trained on all training points
    errors: Mapping[str, float]  # of the kinds tried, the default first: shares, or mean absolute
    n: int  # points held out, by which it was chosen

    @property
    def _kind(self) -> str:
        return self.learner.model_.head.kind

    def notice(self) -> Notice:
        """Return what was chosen, with all figures, and how to keep the default."""
        are_classes = self.learner.target.labels.are_classes
        default, *_ = self.errors
        shown = {
            kind: percent(1 - error, 0) if are_classes else f"{error:.3g}"
            for kind, error in self.errors.items()
        }
        own, n = shown.pop(self._kind), f"{self.n:,} held-out points"
        figure = f"{own} of {n} correct" if are_classes else f"mean absolute error {own} on {n}"
        others = (f"{kind_title(kind)} {each}" for kind, each in shown.items())
        text = (
            f"kind {kind_title(self._kind)}: {', '.join([figure, *others])} (chosen on these "
            f"points; --classifier {default} keeps {kind_title(default)})"
        )
        return Notice("better_kind", text)

    def to_record(self) -> JsonObject:
        """Return the entry of a model's record: the mean errors of the kinds on these points."""
        return {"kinds": {"n": self.n, "errors": dict(self.errors)}}


def better_kind(learner: Learner, dataset: Dataset, seed: int) -> BetterKind | None:
    """Return a kind that is clearly better than that of a trained learner, or None.

    They are compared by the integers, on points that training held out: never on points or groups
    that were given for testing. The kinds are tried with their defaults, on the same features.
    """
    division = dataset.division
    if division is None or not division.share or division.held or dataset.predicts not in CHOICES:
        return None
    has_one_class = dataset.predicts == "class" and learner.model_.n_classes < 2
    if has_one_class or why_floats_alone(learner.model_) is not None:
        return None
    trials = _Trials.of(learner, dataset, seed)
    taken, error = learner, trials.errors_of(learner.model_)
    means = {learner.model_.head.kind: float(error.mean())}
    if not trials.choice.could_improve(error, trials.groups):
        return None
    for name in trials.others():
        try:
            kind = trials.kind(name)
            if kind is None:
                continue
            tried, errors = trials.tried(kind, error)
        except (InputError, ModuleNotFoundError):  # no tree within the budget, or no library
            continue
        means[name] = float(errors.mean())
        if tried is not None:
            taken, error = tried, errors
    return None if taken is learner else BetterKind(taken, means, len(error))


@dataclass(frozen=True)
class _Trials:
    """What kinds are tried with."""

    dataset: Dataset
    choice: Choice
    features: Mapping[str, Any]  # parameters that all kinds share
    seed: int
    default: str  # the kind that has learned
    tested: NDArray[np.bool_]  # (n,): which held-out points have a class

    @classmethod
    def of(cls, learner: Learner, dataset: Dataset, seed: int) -> _Trials:
        """Return the trials beside a learner."""
        features = {name: getattr(learner, name) for name in FeatureParameters.parameters}
        y = dataset.y_test
        tested = y != NO_CLASS if y.ndim == 1 else np.ones(len(y), np.bool_)
        return cls(
            dataset,
            CHOICES[dataset.predicts],
            {**features, "network_callback": None},
            seed,
            learner.model_.head.kind,
            tested,
        )

    @property
    def groups(self) -> Indices | None:
        """The groups of the points that errors are of, if whole groups were held out."""
        groups = self.dataset.test_groups
        return None if groups is None else groups[self.tested]

    def others(self) -> list[str]:
        """Return the names of the other kinds to try, from the mildest on."""
        names = (name for name, each in PARAMETERS.items() if self._predicts in each.tried_for)
        return [name for name in names if name != self.default]

    def kind(self, name: str) -> type[Learner] | None:
        """Return a kind, if it takes the features, and learns no layers of its own."""
        kind = (LEARNERS if self._predicts == "class" else VALUE_LEARNERS)[name]
        settings = kind(**self.features).frozen()
        case = TrainingRequest(settings=settings, predicts=self._predicts)
        return None if is_refused(case) or case.asks_for("conv") else kind

    @property
    def _predicts(self) -> str:
        return self.dataset.predicts

    def tried(self, kind: type[Learner], milder: Array) -> tuple[Learner | None, Array]:
        """Return a learner that is better than these errors, if it is, and its own errors.

        A trial has some of the points; if it is better, the learner has all of them.
        """
        X, y = self.dataset.X_train, self.dataset.y_train
        most = min(_MOST_POINTS, _MOST_VALUES // X.shape[1])
        rows: Any = sample_with_all_classes(y, most, np.random.default_rng(self.seed))
        while True:
            learner = self._trained(kind, rows)
            errors = self.errors_of(learner.model_)
            if not self.choice.is_better(errors, milder, groups=self.groups):
                return None, errors
            if len(rows) == len(y):
                return learner, errors
            rows = np.arange(len(y))

    def _trained(self, kind: type[Learner], rows: Indices) -> Learner:
        learner = kind(random_state=self.seed, **self.features)
        X, y = self.dataset.X_train[rows], self.dataset.y_train[rows]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its remarks have the same
            learner.fit_accepted(X, self.dataset.as_targets(y))
        return learner

    def errors_of(self, model: Model) -> Array:
        """Return the errors (n,) of integers at the tested points: 1 for a wrong class."""
        X, y = self.dataset.X_test[self.tested], self.dataset.y_test[self.tested]
        integers = quantize(model)
        scores = integers.scores(integers.quantize(X))
        values = integers.policy.values(scores)
        errors: Array = scores.argmax(axis=1) != y if values is None else np.abs(values - y[:, 0])
        return errors.astype(np.float64)
