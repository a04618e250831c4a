"""The float network: one or two hidden layers of rectified units, and a layer of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model import checks
from protonn_edge.model.head import Head, Member, Remedies, Size
from protonn_edge.model.integer_stage import stage_names
from protonn_edge.model.sums import scores_of_sums
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_shape

CEILING_SHARE = 0.999
"""The share of a unit's values up to its ceiling, beyond which values are clipped."""

HIDDEN_LAYERS = (1, 2)
_KNOWN = 3  # mean, deviation and ceiling of a unit's values


@dataclass(frozen=True, eq=False)
class DenseHead(Head):
    """A trained network with one or two hidden layers of rectified units.

    For a point ``v_0``, the values of layer k are ``v_k = max(W_k v_(k-1) + b_k, 0)``. The last
    matrix gives the scores ``t = W v + b``; for two classes it has one row, and the scores are -t/2
    and t/2. A row that is `alone` has one score, t.

    Raises `InputError` if shapes, values or names disagree; the sentence names the array.
    """

    kind: ClassVar[str] = "dense"
    remedies: ClassVar[Remedies] = Remedies(
        flash=("a smaller --size-budget", "fewer --hidden units"),
        sram="fewer --hidden units",
        cycles="fewer --hidden units",
        accuracy="more --hidden units or a larger --size-budget",
    )

    # W_1 (h1, D) for normalized features, optionally W_2 (h2, h1), and the last matrix: a row per
    # class, or one row for the second of two classes
    weights: tuple[NDArray[np.float32], ...] = field(metadata={"member": Member("W", (), False)})
    # b_1 (h1,) and so on
    biases: tuple[checks.Float64, ...] = field(metadata={"member": Member("b", (), False)})
    # (3, units) for each hidden layer: mean, deviation and ceiling (the `CEILING_SHARE` quantile)
    # of each unit's values on training points
    known: tuple[checks.Float64, ...]
    alone: bool = False  # whether the last matrix's only row is the score itself

    def __post_init__(self) -> None:
        layers = len(self.weights)
        check(layers - 1 in HIDDEN_LAYERS, "weights", f"{layers:,} matrices", "2 or 3")
        for name, each, count in (
            ("biases", self.biases, layers),
            ("known", self.known, layers - 1),
        ):
            check(len(each) == count, name, f"{len(each):,} arrays", str(count))
        weights: list[NDArray[np.float32]] = []
        for number, W in enumerate(self.weights):
            columns = len(weights[-1]) if weights else None
            weights.append(checks.checked_matrix(W, f"weights.{number}", columns=columns))
        checks.set_checked(self, "weights", tuple(weights))
        biases = (
            checks.checked_vector(b, f"biases.{number}", size=len(W))
            for number, (b, W) in enumerate(zip(self.biases, weights, strict=True))
        )
        checks.set_checked(self, "biases", tuple(biases))
        known = (
            _checked_known(given, f"known.{number}", units)
            for number, (given, units) in enumerate(zip(self.known, self.hidden, strict=True))
        )
        checks.set_checked(self, "known", tuple(known))

    @property
    def hidden(self) -> tuple[int, ...]:
        """The units of each hidden layer."""
        return tuple(len(W) for W in self.weights[:-1])

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The units of each hidden layer."""
        names = stage_names(["hidden"] * len(self.hidden))
        return tuple(
            Size(name, f"h{number}", units)
            for number, (name, units) in enumerate(zip(names, self.hidden, strict=True), 1)
        )

    @property
    def n_inputs(self) -> int:
        """D, the number of inputs of the first matrix."""
        return int(self.weights[0].shape[1])

    @property
    def n_classes(self) -> int:
        """L: 2, if the last matrix has one row that is not alone."""
        return 1 if self.alone else max(2, len(self.weights[-1]))

    @classmethod
    def of(
        cls,
        weights: Sequence[NDArray[np.float32]],
        biases: Sequence[Array],
        X: NDArray[np.float32],
        *,
        alone: bool = False,
    ) -> Self:
        """Build the network from layers, with statistics of their values on normalized points X."""
        known = []
        for W, b in zip(weights[:-1], biases[:-1], strict=True):
            X = rectified(X, W, b.astype(np.float32))
            ceiling = np.quantile(X, CEILING_SHARE, axis=0)
            known.append(np.stack([X.mean(axis=0), X.std(axis=0), ceiling]).astype(np.float64))
        return cls(tuple(weights), tuple(biases), tuple(known), alone)

    @property
    def values_a_point(self) -> int:
        """Values per point."""
        return sum(self.hidden) + self.n_classes

    def scores(self, X: checks.Float64) -> checks.Float64:
        """Return the scores (n, L) of normalized points X (n, D)."""
        for W, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            X = rectified(X, W.astype(np.float64), b)
        sums = X @ self.weights[-1].astype(np.float64).T + self.biases[-1]
        return sums if self.alone else scores_of_sums(sums)


def rectified(X: Array, W: Array, b: Array) -> Array:
    """Return ``max(W x + b, 0)`` of points X (n, D): (n, units)."""
    values: Array = X @ W.T
    values += b
    np.maximum(values, 0, out=values)
    return values


def _checked_known(given: Array, name: str, units: int) -> checks.Float64:
    array = np.array(given, np.float64)
    check_shape(name, array.shape, (_KNOWN, units))
    checks.check_finite(array, name)
    check(bool((array >= 0).all()), name, float(array.min()), "numbers from 0")
    array.flags.writeable = False
    return array
