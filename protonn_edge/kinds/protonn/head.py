"""The float ProtoNN model, which scores by distances to prototypes in a projected space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from protonn_edge.kinds.protonn.additions import voters_by_extension
from protonn_edge.kinds.protonn.limits import GAMMAS, PROJECTION_BITS
from protonn_edge.kinds.protonn.voters import FloatVoters
from protonn_edge.model.checks import Float32, Float64, set_checked
from protonn_edge.model.head import SETTING, Remedies, Size, addition, member
from protonn_edge.model.model import Model
from protonn_edge.model.nearness import NearestHead
from protonn_edge.system.checks import check, check_choice, check_range
from protonn_edge.system.errors import InputError

# Within these limits, no sum or square in inference overflows float64 for any float32 features.


@dataclass(frozen=True, eq=False, kw_only=True)
class ProtoNNHead(NearestHead):
    """A trained ProtoNN classifier (Gupta et al., ICML 2017, equation 2).

    The scores of a point x are ``sum_j z_j exp(-gamma^2 ||b_j - W x||^2)`` (paper, section 3);
    terms whose exponential is below the `cutoff` are omitted.

    Raises `InputError` if shapes, values or names disagree; the sentence names the array.
    """

    kind: ClassVar[str] = "protonn"
    remedies: ClassVar[Remedies] = Remedies(
        flash=("fewer --prototypes", "a smaller --projection-dim"),
        sram="a smaller --projection-dim or fewer classes",
        cycles="a smaller --projection-dim",
        accuracy="more --prototypes or a larger --projection-dim",
    )

    # W: from normalized features to the space of the prototypes
    projection: Float32 = member("W", "d", "D")
    prototypes: Float32 = member("B", "d", "m")  # B: one prototype per column
    labels: Float32 = member("Z", "L", "m")  # Z: one label vector per column
    # width of the RBF, the inverse of a distance in the projected space; within `GAMMAS`
    gamma: float = field(metadata=SETTING)
    # RBF values below this are 0, as on a device; with 0, the paper's RBF
    cutoff: float = 0.0
    # bits of a weight of W on a device, 8 or 4; the float model ignores it
    projection_bits: int = field(default=8, metadata=SETTING)

    # what votes beside the prototypes on a device, if anything
    voters: FloatVoters | None = addition(voters_by_extension)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("gamma", "cutoff"):
            set_checked(self, name, float(getattr(self, name)))
        check_gamma(self.gamma)
        check(0 <= self.cutoff < 1, "cutoff", self.cutoff, "at least 0 and below 1")
        check_choice("projection_bits", self.projection_bits, PROJECTION_BITS)
        if self.voters is not None:
            self.voters.check(self.n_classes)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The numbers of projections and prototypes."""
        projections = Size("projections", "d", self.n_projections)
        return projections, Size("prototypes", "m", self.n_prototypes)

    @property
    def n_projections(self) -> int:
        """d, the dimension of the projected space."""
        return self._axes["d"]

    @property
    def n_prototypes(self) -> int:
        """m, the number of prototypes."""
        return self._axes["m"]

    @property
    def values_a_point(self) -> int:
        """Values per point."""
        return self.n_prototypes

    def scores_and_nearest(self, X: Float64) -> tuple[Float64, Float64]:
        """Return the scores (n, L) of normalized points, and the nearest prototypes' RBF (n,)."""
        projected = X @ self.projection.astype(np.float64).T
        values = rbf(projected, self.prototypes.astype(np.float64), self.gamma, self.cutoff)
        return values @ self.labels.astype(np.float64).T, values.max(axis=1)


def protonn_head(model: Model, use: str) -> ProtoNNHead:
    """Return the matrices of a ProtoNN; `use` names the purpose in the error for other kinds."""
    if not isinstance(model.head, ProtoNNHead):
        raise InputError(
            f"{use} needs a model of the kind 'protonn', but the kind is {model.head.kind!r}; give "
            "a model that was trained with --classifier protonn"
        )
    return model.head


def check_gamma(gamma: float) -> None:
    """Raise `InputError` unless an RBF's width is within `GAMMAS`."""
    low, high = GAMMAS
    check_range("gamma", gamma, low, high)


def rbf(projected: Float64, prototypes: Float64, gamma: float, cutoff: float = 0.0) -> Float64:
    """Return ``exp(-gamma^2 ||b_j - p_i||^2)`` (n, m) for (n, d) and (d, m); 0 below `cutoff`."""
    squares = (projected**2).sum(axis=1)[:, None] + (prototypes**2).sum(axis=0)
    squares -= 2.0 * (projected @ prototypes)
    np.maximum(squares, 0.0, out=squares)
    squares *= -(gamma**2)
    values: Float64 = np.exp(squares, out=squares)
    values[values < cutoff] = 0.0
    return values
