"""Whether the integers of a new model are as good as its floats, and as they were promised to be.

Training and searches compare them on training points before a model is written. Rounding can cost
accuracy although each number is rounded as finely as it fits. And a search promises an accuracy, of
integer models in cross-validation, that the model trained on all points may miss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.model import Model
from protonn_edge.datasets import Notice
from protonn_edge.datasets.dataset import Features, dense_rows
from protonn_edge.evaluation.accuracy import share_right, wilson_interval
from protonn_edge.quantization import quantize

TOLERATED_LOSS = 0.01
"""The share of points that integers may classify worse than floats, without a word."""

_POINTS = 5_000
_DEVIATIONS = 3.0


@dataclass(frozen=True)
class Fidelity:
    """The accuracy of a model's integers on some points, with what it is compared with."""

    n: int  # points
    floats: float  # the accuracies of the float model and of the integers, 0..1
    integers: float
    promised: float | None = None  # of integer models in cross-validation, 0..1

    @property
    def lost(self) -> float:
        """The accuracy that is lost by rounding, -1..1."""
        return self.floats - self.integers

    @property
    def loses(self) -> bool:
        """Whether more is lost than `TOLERATED_LOSS`."""
        return self.lost > TOLERATED_LOSS + 1e-9

    @property
    def shortfall(self) -> float:
        """How far the integers are below what is tolerated, 0..1; 0 for a model as it should be."""
        lost = self.lost - TOLERATED_LOSS if self.loses else 0.0
        return max(lost, below_promise(self.integers, self.n, self.promised))

    @property
    def reason(self) -> str:
        """How the integers are worse than they should be, as a clause."""
        return " and ".join(notice.text.partition(";")[0] for notice in self.notices())

    def notices(self) -> list[Notice]:
        """Return a warning for each way in which the integers are worse than they should be."""
        lost = (
            f"the integers classify {100 * self.integers:.2f} % of {self.n:,} training points "
            f"correctly, but the floats {100 * self.floats:.2f} %; train with another --seed or "
            "other sizes, and see with 'inspect' which step of quantization costs accuracy"
        )
        said = [Notice("integers", lost, warning=True)] if self.loses else []
        return said + promise_notices(self.integers, self.n, self.promised, "training")


def fidelity_of(model: Model, X: Features, y: NDArray[np.int64]) -> Fidelity:
    """Compare a model's integers with its floats on raw points X (n, D), n >= 1, of classes y.

    Of many points, some are taken at regular distances. Raises `InputError` as `quantize` does.
    """
    step = -(-len(y) // _POINTS)
    points, actual = dense_rows(X, slice(None, None, step)), y[::step]
    integers = quantize(model)
    return Fidelity(
        n=len(actual),
        floats=share_right(model.predict(points), actual),
        integers=share_right(integers.predict(integers.quantize(points)), actual),
        promised=promised_accuracy(model),
    )


def promised_accuracy(model: Model) -> float | None:
    """Return the accuracy in cross-validation, 0..1, of a model that a search chose."""
    chosen = model.record.get("tuning", {}).get("chosen", {})
    accuracy: float | None = chosen.get("accuracy")
    return accuracy


def below_promise(share: float, n: int, promised: float | None) -> float:
    """Return how far a share of n points is below a promised one, 0 if it may be by chance.

    Three standard deviations of the share are attributed to chance, as Wilson's interval has them.
    """
    if promised is None or n == 0:
        return 0.0
    _, high = wilson_interval(round(share * n), n, deviations=_DEVIATIONS)
    return promised - share if promised > high and not math.isclose(promised, high) else 0.0


def promise_notices(share: float, n: int, promised: float | None, part: str) -> list[Notice]:
    """Return a warning if a share of n points of a part of the data is below the promised one."""
    if promised is None or not below_promise(share, n, promised):
        return []
    text = (
        f"the integers classify {100 * share:.2f} % of {n:,} {part} points correctly, but "
        f"{100 * promised:.2f} % were expected from cross-validation; search again with another "
        "--seed or, if points come from several people, days or devices, with --groups"
    )
    return [Notice("promise", text, warning=True)]
