"""Whether the integers of a new model are as good as its floats, and as they were promised to be.

Training and searches compare them on training points before a model is written. Rounding can cost
accuracy although each number is rounded as finely as it fits. And a search promises an accuracy, of
integer models in cross-validation, that the model trained on all points may miss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice
from protonn_edge.data.points.dataset import Float32
from protonn_edge.learn.evaluation.accuracy import deviations_above, share_right
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.figures import percent

TOLERATED_LOSS = 0.01
"""The share of points that integers may classify worse than floats, without a word."""

_POINTS = 5_000
_DEVIATIONS = 3.0


@dataclass(frozen=True)
class Promise:
    """The accuracy of integer models in the cross-validation by which a search chose a model."""

    accuracy: float  # 0..1
    n: int  # points, at least 1

    @classmethod
    def of(cls, model: Model) -> Promise | None:
        """Return what a search promised for its model; None for a model without a search."""
        chosen = model.record.get("tuning", {}).get("chosen")
        return chosen and cls(chosen["accuracy"], model.record["n_train"])

    def missed_by(self, share: float, n: int) -> float:
        """Return how far a share of n >= 1 points is below the promise, 0 if perhaps by chance.

        Three standard deviations of the difference are attributed to chance.
        """
        above = deviations_above(self.accuracy, self.n, share, n)
        return self.accuracy - share if above > _DEVIATIONS else 0.0

    def notices(self, share: float, n: int, part: str) -> list[Notice]:
        """Return a warning if a share of n points of a part of the data misses the promise."""
        if not self.missed_by(share, n):
            return []
        text = (
            f"the integers classify {percent(share)} of {n:,} {part} points correctly, but "
            f"{percent(self.accuracy)} were expected from cross-validation; search again with "
            "another --seed or, if points come from several people, days or devices, with --groups"
        )
        return [Notice("promise", text, warning=True)]


@dataclass(frozen=True)
class Fidelity:
    """The accuracy of a model's integers on training points, with what it is compared with."""

    n: int  # points
    floats: float  # the accuracies of the float model and of the integers, 0..1
    integers: float
    promise: Promise | None = None

    @property
    def loses(self) -> bool:
        """Whether rounding costs more than `TOLERATED_LOSS`."""
        return self.floats - self.integers > TOLERATED_LOSS + 1e-9

    @property
    def shortfall(self) -> float:
        """How far the integers are below what is tolerated, 0..1; 0 for a model as it should be."""
        lost = self.floats - self.integers - TOLERATED_LOSS if self.loses else 0.0
        missed = 0.0 if self.promise is None else self.promise.missed_by(self.integers, self.n)
        return max(lost, missed)

    @property
    def reason(self) -> str:
        """How the integers are worse than they should be, as a clause."""
        return " and ".join(notice.text.partition(";")[0] for notice in self.notices())

    def notices(self) -> list[Notice]:
        """Return a warning for each way in which the integers are worse than they should be."""
        lost = (
            f"the integers classify {percent(self.integers)} of {self.n:,} training points "
            f"correctly, but the floats {percent(self.floats)}; train with another --seed or "
            "other sizes, and see with 'inspect' which step of quantization costs accuracy"
        )
        said = [Notice("integers", lost, warning=True)] if self.loses else []
        if self.promise is not None:
            said += self.promise.notices(self.integers, self.n, "training")
        return said


def fidelity_of(model: Model, X: Float32, y: NDArray[np.int64]) -> Fidelity:
    """Compare a model's integers with its floats on raw points X (n, D), n >= 1, of classes y.

    Of many points, some are taken at regular distances. Raises `InputError` as `quantize` does.
    """
    step = -(-len(y) // _POINTS)
    points, actual = X[::step], y[::step]
    integers = quantize(model)
    return Fidelity(
        n=len(actual),
        floats=share_right(model.predict(points), actual),
        integers=share_right(integers.predict(integers.quantize(points)), actual),
        promise=Promise.of(model),
    )
