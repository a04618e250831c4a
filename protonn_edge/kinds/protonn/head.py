"""The float ProtoNN model: scores by the distances to prototypes in a projected space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.activity import Sizes
from protonn_edge.chain.array_checks import Arrays, check_type, single_value
from protonn_edge.chain.checks import checked_matrix, set_checked
from protonn_edge.chain.decision.rejection import STATISTICS, Statistic
from protonn_edge.chain.model import Model
from protonn_edge.chain.sizes import SizedByMatrices
from protonn_edge.errors import InputError

# Within these, no sum or square in inference overflows float64, for any features in float32.
GAMMAS = (1e-15, 1e15)
"""The range of a model's gamma."""

PROJECTION_BITS = (8, 4)
"""Possible numbers of bits of an integer weight of the projection."""

PROJECTION_PLACES = {
    "projection": "projection.weights",
    **{name: f"projection.{name}" for name in ("bias", "accumulator_bits", "multiplier", "offset")},
}
"""The numbers of a projection in an integer model; see `Model.hashed`."""

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class ProtoNNModel(SizedByMatrices, Model):
    """A trained ProtoNN classifier (Gupta et al., ICML 2017, equation 2).

    Its scores are ``sum_j z_j exp(-gamma^2 ||b_j - W x||^2)`` for a point x (paper, section 3);
    terms whose exponential is below the `cutoff` are omitted. It has the fields of every `Model`,
    too.

    Attributes
    ----------
    projection : ndarray of shape (d, D), float32
        W: normalized features to the space of the prototypes.
    prototypes : ndarray of shape (d, m), float32
        B: a prototype per column.
    labels : ndarray of shape (L, m), float32
        Z: the label vector of each prototype, a column.
    gamma : float
        Width of the RBF, within `GAMMAS` (one over a distance in the projected space).
    cutoff : float
        RBF values below this are 0, as on a device; 0 is the paper's RBF.
    projection_bits : {8, 4}
        Bits of a weight of W on a device; does not affect the float model.

    Raises
    ------
    InputError
        If shapes, values or names do not fit together; the sentence names the array.
    """

    kind: ClassVar[str] = "protonn"
    LEAST_CLASSES: ClassVar[int] = 1
    statistics: ClassVar[tuple[Statistic, ...]] = STATISTICS
    ARRAYS: ClassVar[tuple[str, ...]] = ("W", "B", "Z", "gamma", "cutoff")
    OPTIONAL_ARRAYS: ClassVar[tuple[str, ...]] = ("projection_bits",)
    hashed: ClassVar[Mapping[str, str]] = {
        **PROJECTION_PLACES,
        **{
            name: f"prototypes.{name}"
            for name in ("prototypes", "distance_shift", "table", "labels")
        },
    }

    projection: Float32
    prototypes: Float32
    labels: Float32
    gamma: float
    cutoff: float = 0.0
    projection_bits: int = 8

    def __post_init__(self) -> None:
        W = checked_matrix(self.projection, "W")
        B = checked_matrix(self.prototypes, "B", rows=len(W))
        Z = checked_matrix(self.labels, "Z", columns=B.shape[1])
        set_checked(self, "projection", W)
        set_checked(self, "prototypes", B)
        set_checked(self, "labels", Z)
        set_checked(self, "gamma", float(self.gamma))
        set_checked(self, "cutoff", float(self.cutoff))
        check_gamma(self.gamma)
        if not 0 <= self.cutoff < 1:
            raise InputError(f"'cutoff' is {self.cutoff:g}; it must be at least 0 and below 1")
        if self.projection_bits not in PROJECTION_BITS:
            raise InputError(f"'projection_bits' is {self.projection_bits}; it must be 8 or 4")
        super().__post_init__()

    @property
    def settings(self) -> dict[str, float]:
        """The width of the RBF, and the bits of W if they are not 8."""
        bits = {} if self.projection_bits == 8 else {"projection_bits": self.projection_bits}
        return {"gamma": self.gamma, **bits}

    @property
    def activity_sizes(self) -> Sizes:
        """Shares of coordinates and prototypes, after those of features."""
        own = {"prototypes": (self.n_projections, self.n_prototypes)}
        return {**super().activity_sizes, **own}

    def own_arrays(self) -> Arrays:
        """Return W, B, Z and two numbers, and the bits of W if they are not 8."""
        arrays = {
            **self.matrices,
            "gamma": np.array(self.gamma),
            "cutoff": np.array(self.cutoff),
        }
        if self.projection_bits != 8:
            arrays["projection_bits"] = np.array(self.projection_bits, dtype=np.int64)
        return arrays

    @classmethod
    def own_fields(cls, arrays: Arrays) -> dict[str, Any]:
        """Return the fields for W, B, Z, gamma, cutoff and, if present, bits of W in a file.

        Raises
        ------
        InputError
            If an array has a wrong type.
        """
        for name in ("W", "B", "Z"):
            check_type(arrays[name], name, "f4")
        bits = arrays.get("projection_bits", np.array(8))
        return {
            "projection": arrays["W"],
            "prototypes": arrays["B"],
            "labels": arrays["Z"],
            "gamma": float(single_value(arrays["gamma"], "gamma", "f")),
            "cutoff": float(single_value(arrays["cutoff"], "cutoff", "f")),
            "projection_bits": int(single_value(bits, "projection_bits", "i")),
        }

    @property
    def _values_a_point(self) -> int:
        return self.n_features + self.n_prototypes

    def scores_of_normalized(self, X: Float64) -> Float64:
        """Return the scores (n, L) of normalized points X (n, D)."""
        return self._scores_of(X)[0]

    def _scores_of(self, X: Float64) -> tuple[Float64, Float64]:
        projected = X @ self.projection.astype(np.float64).T
        values = rbf(projected, self.prototypes.astype(np.float64), self.gamma, self.cutoff)
        return values @ self.labels.astype(np.float64).T, values.max(axis=1)


def checked_protonn(model: Model, use: str) -> ProtoNNModel:
    """Return the model if it is a ProtoNN; `use` names what requires that, for the error."""
    if not isinstance(model, ProtoNNModel):
        raise InputError(
            f"the model is of the kind {model.kind!r}, {use} accepts 'protonn' only; give a model "
            "that was trained with --classifier protonn"
        )
    return model


def check_gamma(gamma: float) -> None:
    """Raise `InputError` if an RBF's width is not within `GAMMAS`."""
    low, high = GAMMAS
    if not low <= gamma <= high:  # false for NaN, too
        raise InputError(
            f"'gamma' is {gamma:g}; it must be a number from {low:g} to {high:g}, so give features "
            "in another unit or train with another gamma"
        )


def rbf(projected: Float64, prototypes: Float64, gamma: float, cutoff: float = 0.0) -> Float64:
    """Return ``exp(-gamma^2 ||b_j - p_i||^2)`` of shape (n, m), for (n, d) and (d, m).

    Values below `cutoff` are 0.
    """
    squares = (projected**2).sum(axis=1)[:, None] + (prototypes**2).sum(axis=0)
    squares -= 2.0 * (projected @ prototypes)
    np.maximum(squares, 0.0, out=squares)
    squares *= -(gamma**2)
    values: Float64 = np.exp(squares, out=squares)
    values[values < cutoff] = 0.0
    return values
