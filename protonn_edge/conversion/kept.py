"""What a conversion gives, and how much of the estimator is left after each step."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.conversion.estimators import FittedEstimator, Indices
from protonn_edge.datasets.naming import label_text
from protonn_edge.errors import InputError
from protonn_edge.evaluation.accuracy import share_right
from protonn_edge.model import ProtoNNModel
from protonn_edge.model.forest import ForestModel
from protonn_edge.training.points import Float32


@dataclass(frozen=True)
class Step:
    """What is left of the estimator after a step.

    Attributes
    ----------
    name : {"estimator", "exact", "pruned", "reduced", "trained", "integers"}
    agreement : float
        Share of points that are answered as the estimator does, 0..1.
    accuracy : float or None
        Share of points that are answered rightly, 0..1; None where labels were not given.
    """

    name: str
    agreement: float
    accuracy: float | None


@dataclass(frozen=True, eq=False)
class Conversion:
    """A converted model, and what was kept on the way.

    Attributes
    ----------
    model : ProtoNNModel or ForestModel
        It fits the board, by the planner's figures; `build` links it and knows exactly.
    estimator : str
        What was converted, such as "SVC".
    landmarks : int or None
        How many points the estimator compares a point with: support vectors or training points.
    steps : tuple of Step
        From the estimator itself to the integers that the device computes with.
    n : int
        Points that the steps were measured on.
    held_out : bool
        Whether these are others than the conversion was made with.
    model_bytes : int
        What W, B and Z take as int8, or trees.
    flash_bytes : int
        What the whole firmware takes, by the planner.
    """

    model: ProtoNNModel | ForestModel
    estimator: str
    landmarks: int | None
    steps: tuple[Step, ...]
    n: int
    held_out: bool
    model_bytes: int
    flash_bytes: int

    @property
    def agreement(self) -> float:
        """Share of points that the integers answer as the estimator does."""
        return self.steps[-1].agreement

    @property
    def accuracy(self) -> float | None:
        """Share of points that the integers answer rightly, where labels were given."""
        return self.steps[-1].accuracy

    @property
    def lost(self) -> float | None:
        """The estimator's accuracy less the integers'; below 0 if these are better."""
        first, last = self.steps[0].accuracy, self.steps[-1].accuracy
        return None if first is None or last is None else first - last

    def to_json(self) -> dict[str, Any]:
        """Return the figures under the names that every JSON of this package uses."""
        return {
            "estimator": self.estimator,
            "landmarks": self.landmarks,
            **{size.name: size.number for size in self.model.sizes},
            "steps": [asdict(step) for step in self.steps],
            "n": self.n,
            "held_out": self.held_out,
            "agreement": self.agreement,
            "accuracy": self.accuracy,
            "lost": self.lost,
            "model_bytes": self.model_bytes,
            "flash_bytes": self.flash_bytes,
        }

    def __str__(self) -> str:
        compared = f" of {self.landmarks:,} points" if self.landmarks is not None else ""
        sizes = ", ".join(f"{size.symbol} = {size.number:,}" for size in self.model.sizes)
        held_out = ", held out" if self.held_out else ""
        of = f"{self.model_bytes:,} B of int8 parameters; on {self.n:,} points{held_out}:"
        lines = [f"{self.estimator}{compared} as {sizes}, {of}"]
        for step in self.steps:
            right = "" if step.accuracy is None else f", accuracy {100 * step.accuracy:6.2f} %"
            lines.append(f"  {step.name:<9} agreement {100 * step.agreement:6.2f} %{right}")
        if self.lost is not None:
            word = "lost" if self.lost >= 0 else "gained"
            lines.append(f"  {word} {100 * abs(self.lost):.2f} points of accuracy")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Measured:
    """Points that the steps are measured on.

    Attributes
    ----------
    X : ndarray of shape (n, D), float32
    answers : ndarray of shape (n,), int64
        The estimator's.
    actual : ndarray of shape (n,), int64, or None
        The right ones.
    """

    X: Float32
    answers: Indices
    actual: Indices | None

    @classmethod
    def of(cls, estimator: FittedEstimator, X: Float32, y: ArrayLike | None) -> Self:
        """Ask the estimator, and number the labels as it does.

        Raises
        ------
        InputError
            If there is not one label a point, or one that the estimator does not know.
        """
        actual = None if y is None else _class_indices(estimator, np.asarray(y), len(X))
        return cls(X, estimator.answers(X), actual)

    def step(self, name: str, predicted: NDArray[np.int64]) -> Step:
        """Return how much these predictions (n,) have in common with the estimator."""
        right = None if self.actual is None else share_right(predicted, self.actual)
        return Step(name, share_right(predicted, self.answers), right)


def _class_indices(estimator: FittedEstimator, y: NDArray[Any], n: int) -> Indices:
    if y.shape != (n,):
        raise InputError(
            f"the labels have the shape {y.shape}, the points are {n:,}; give one label per point"
        )
    numbers = {label_text(str(label)): index for index, label in enumerate(estimator.labels)}
    texts = [label_text(str(label)) for label in y]
    for row, text in enumerate(texts):
        if text not in numbers:
            known = ", ".join(repr(name[:40]) for name in list(numbers)[:12])
            raise InputError(
                f"row {row:,} has the label {text[:40]!r}, the {estimator.name} knows {known}; "
                "give labels as it was fitted with"
            )
    return np.array([numbers[text] for text in texts], dtype=np.int64)
