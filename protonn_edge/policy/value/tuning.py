"""What a search for a model that predicts numbers maximizes: R2, in place of the accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.learn.evaluation.fidelity import Fidelity
from protonn_edge.learn.learner import VALUE_LEARNERS, Learner
from protonn_edge.learn.search.limits import ACCURACY, Judged, Metric
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.policy.value.figures import explained_share
from protonn_edge.policy.value.interval import predicted_by, with_interval
from protonn_edge.policy.value.train import slices_of
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import unneeded

_POINTS = 5_000


@dataclass(frozen=True)
class ExplainedShare(Metric):
    """R2 of the numbers of the integer model, on the points of a fold."""

    name: str = "R2"

    unit: ClassVar[str] = ""
    is_reported: ClassVar[bool] = True
    estimators: ClassVar[Mapping[str, type[Learner]]] = VALUE_LEARNERS

    def shown(self, score: float) -> str:
        """Return R2 as text."""
        return f"{score:.4f}"

    def n_scores(self, _y: Array) -> int:
        """Return the number of scores: the number alone."""
        return 1

    def strata(self, y: Array) -> NDArray[np.int64]:
        """Return slices (n,) of the numbers, of which each fold gets about the same share."""
        return slices_of(y)

    def judged(
        self, integers: IntegerChain, Q: NDArray[np.uint8], actual: Array, _: object
    ) -> Judged:
        """Return R2 of the numbers for quantized points, whose labels are known."""
        score = _r2(integers.policy.values(integers.scores(Q)), actual)
        return Judged(score, score, 1.0 - score)

    def fidelity(self, model: Model, X: NDArray[np.float32], y: Array) -> Fidelity:
        """Compare the numbers of integers with those of floats, on some points X (n, D)."""
        step = -(-len(y) // _POINTS)
        X, y = X[::step], y[::step]
        return ValueFidelity(len(y), _r2(model.predict(X), y), _r2(predicted_by(model, X), y))

    def finished(self, model: Model, dataset: Dataset) -> Model:
        """Return the model with its interval."""
        return with_interval(model, dataset)


@dataclass(frozen=True)
class ValueFidelity(Fidelity):
    """R2 of a model's integers and of its floats on training points."""

    def notices(self) -> list[Notice]:
        """Return a warning if the integers are worse than they should be."""
        if not self.loses:
            return []
        text = (
            f"the integers have R2 {self.integers:.3f} on {self.n:,} training points, but the "
            f"floats have {self.floats:.3f}; train with another --seed, --clip 0.02 or other sizes"
        )
        return [Notice("integers", text, warning=True)]


def _r2(predicted: Any, actual: Array) -> float:
    """Return R2 of numbers (n,); 0 without variance."""
    return explained_share(predicted, actual) or 0.0


def metric_for(dataset: Dataset, asked: str) -> Metric | None:
    """Return R2 for numbers, None for other labels; `InputError` if another figure is asked for."""
    if dataset.estimator != "Regressor":
        return None
    if asked != ACCURACY.name:
        raise unneeded(
            f"--metric {asked}",
            "is for classes, but the labels are numbers, for which R2 is maximized",
        )
    return ExplainedShare()
