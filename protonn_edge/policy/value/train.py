"""Training on points with a number as label, which the model predicts.

Training sees the numbers minus their mean, in units of their standard deviation; the rule `Value`
of the model maps scores back. To choose directions that matter, the numbers are divided into slices
of equally many points, which the first projection separates like classes (sliced inverse
regression: K.-C. Li, 1991).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.learn.given_points import Taker, checked_points, point_weights
from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.objective import Loss, Matrix, Parameters, mean_loss, weighted
from protonn_edge.learn.points import Float32, Indices, Points, Targets
from protonn_edge.learn.searched import SearchSpec
from protonn_edge.learn.targets import Target
from protonn_edge.model.policy import FloatPolicy
from protonn_edge.policy.value.figures import explained_share
from protonn_edge.policy.value.rule import MOST_DECIMALS, Value
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

_SLICES = 8
_RIDGE = 1e-2  # of the regression of numbers on RBFs, for each point
_STEPS = 50  # the fewest steps of the device in a standard deviation
_DIGITS = 4  # significant ones of a standard deviation that decimals distinguish


@dataclass(frozen=True)
class NumberLabels(ClassLabels):
    """Numbers."""

    predicts: ClassVar[str] = "value"
    digested: ClassVar[str] = "<f8"

    value: Value | None = None  # that scores stand for, once the numbers are known

    def of(self, _y: ArrayLike | None) -> ClassLabels:
        """Return the same."""
        return self

    @property
    def policy(self) -> FloatPolicy:
        """The value that scores stand for."""
        return FloatPolicy(() if self.value is None else (self.value,))

    def given(
        self,
        learner: Taker,
        X: ArrayLike,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> tuple[Points, Array, ClassLabels]:
        """Return points and normalized numbers (n, 1), checked, and the name of the number."""
        points, numbers = _numbered(learner, X, y, "X", reset=True)
        weights = point_weights(points, np.zeros(len(numbers)), sample_weight, None)
        mean = float(np.average(numbers, weights=weights))
        deviation = float(np.sqrt(np.average(np.square(numbers - mean), weights=weights)))
        if not deviation > 1e-12 * abs(mean):
            raise InputError(
                f"all targets are {numbers[0]:g}, so there is nothing to predict; give points with "
                "other values"
            )
        labels = NumberLabels(value_of_scale(deviation, mean))
        targets = ((numbers - mean) / deviation).astype(np.float32)[:, None]
        return Points(points, targets, weights), np.array(["value"]), labels

    def reported(
        self,
        learner: Taker,
        X: ArrayLike,
        y: ArrayLike,
        _labels: Array,
    ) -> Points:
        """Return points to report on, with normalized numbers (n, 1)."""
        points, numbers = _numbered(learner, X, y, "evaluate_on", reset=False)
        value = self.value
        assert value is not None
        return Points(points, ((numbers - value.offset) / value.scale).astype(np.float32)[:, None])

    def loss(self, *, has_strangers: bool = False) -> Loss:  # noqa: ARG002
        """Return the squared error."""
        return squared_error

    def quality(self, scores: Array, y: Targets) -> float:
        """Return R2, the share of the variance of y (n, 1) that scores (n, 1) explain."""
        return explained_share(scores, y) or 0.0

    def words_of(self, quality: float) -> str:
        """Return R2 with its name."""
        return f"R2 {quality:.4f}"


class ValueTarget(Target):
    """Numbers to predict."""

    labels: ClassVar[ClassLabels] = NumberLabels()
    read_as: ClassVar[Literal["class", "value"] | None] = "value"
    least_classes: ClassVar[Literal[1, 2]] = 1

    def check(self, classes: Sequence[Any] | Array) -> None:
        """There are no classes to check."""

    def told_apart(
        self,
        _X: Float32,
        y: Targets,
        _weights: Float32 | None,
        _generator: np.random.Generator,
    ) -> Indices:
        """Return slices (n,) of the numbers, of about equally many points."""
        return slices_of(y[:, 0])

    def with_label_vectors(
        self, start: Parameters, X: Float32, y: Targets, weights: Float32 | None
    ) -> Parameters:
        """Return initial values with Z fitted to the numbers, by ridge regression on the RBFs.

        The means around the prototypes would be several times too large where RBFs overlap, and
        the first steps would then move the prototypes far away from all points.
        """
        P, B = (each.astype(np.float64) for each in (X @ start.projection.T, start.prototypes.T))
        rbfs = np.exp([-np.square(P - prototype).sum(axis=1) for prototype in B])
        weighted_rbfs = rbfs if weights is None else rbfs * weights
        gram = weighted_rbfs @ rbfs.T + _RIDGE * len(X) * np.eye(len(B))
        Z = np.linalg.solve(gram, weighted_rbfs @ y[:, 0].astype(np.float64))
        return replace(start, labels=Z[None].astype(np.float32))


def slices_of(y: Array) -> Indices:
    """Return slices (n,) of numbers (n,), of about equally many points, from 0."""
    ends = np.quantile(y, np.arange(1, _SLICES) / _SLICES)
    slices: Indices = np.unique(np.searchsorted(ends, y), return_inverse=True)[1]
    return slices


def value_of_scale(deviation: float, mean: float) -> Value:
    """Return the rule of numbers, or refuse a unit in which a device cannot return them."""
    most, step = 1e9, 10.0**-MOST_DECIMALS
    if abs(mean) + 20 * deviation > most or deviation < _STEPS * step:
        raise InputError(
            f"the labels are about {mean:.3g}, with a standard deviation of {deviation:.3g}, but a "
            f"device returns numbers up to {most:g} in steps of {step:g}; give the labels in "
            "another unit, or without a constant part"
        )
    return Value(deviation, mean, decimals_for(deviation, mean))


def squared_error(
    scores: Matrix, Y: Matrix, sharpness: Matrix, weights: Matrix | None
) -> tuple[float, Matrix, Matrix]:
    """Return the mean of ``(s_i - y_i)^2`` and its derivatives by scores and sharpness."""
    residual = scores - Y
    value = mean_loss(np.square(residual).sum(axis=1), weights)
    return value, weighted(residual * (2.0 / len(Y)), weights), np.zeros_like(sharpness)


def decimals_for(deviation: float, mean: float) -> int:
    """Return the decimals of values on a device: those that matter, as far as they fit 32 bits."""
    wanted = int(np.clip(_DIGITS - 1 - np.floor(np.log10(deviation)), 0, MOST_DECIMALS))
    fitting = int(np.floor(np.log10(2**30 / (abs(mean) + 20 * deviation + 1e-300))))
    return max(0, min(wanted, fitting))


def _numbered(
    learner: Taker, X: ArrayLike, y: ArrayLike | None, what: str, *, reset: bool
) -> tuple[Array, NDArray[np.float64]]:
    """Return points (n, D) and finite numbers (n,)."""
    points = checked_points(learner, X, what, reset=reset)
    if reset and len(points) == 1:
        raise InputError("there is only 1 sample, from which nothing can be learned; give more")
    numbers = learner.column_of(y, len(points))
    if numbers.dtype.kind in "mM":
        raise InputError("the targets are dates or times; give a number, such as seconds")
    try:
        with np.errstate(over="ignore"):
            numbers = numbers.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"the targets are not numbers ({error}); give one number per point") from (
            error
        )
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        of = "" if reset else f" of {what}"
        raise InputError(f"target {row:,}{of} is NaN or infinity; correct or drop the point")
    return points, numbers


class PredictsNumbers:
    """The target of a learner that predicts a number; a base before the classifier's learner."""

    @property
    def target(self) -> ValueTarget:
        """The target of the training."""
        return ValueTarget()


def searched_without(spec: SearchSpec, names: str) -> SearchSpec:
    """Return a search space without parameters that only classes have, separated by blanks."""
    left_out = names.split()

    def others(values: Mapping[str, object]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if name not in left_out}

    starts = tuple(others(each) for each in spec.starts)
    columns = {
        ", ".join(part for part in title.split(", ") if part not in left_out): tuple(
            name for name in column if name not in left_out
        )
        for title, column in spec.columns.items()
    }
    return replace(spec, parameters=others(spec.parameters), starts=starts, columns=columns)


class NamedClasses(Target):
    """Classes, also if their names are numbers with decimals."""

    read_as: ClassVar[Literal["class", "value"] | None] = "class"
