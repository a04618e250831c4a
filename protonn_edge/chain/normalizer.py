"""From features to those that the projection expects: an affine map, or unit length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import checked_vector, set_checked
from protonn_edge.errors import InputError

NORMALIZER_KINDS = ("none", "standard", "minmax", "l2")

_LARGEST_SCALE = 1e30

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Normalizer:
    """An affine map per feature, ``(x - offset) * scale``, which the quantizer folds into W.

    The kind "l2" is different: it divides each nonzero point by its Euclidean norm, which cannot be
    folded into a matrix.

    Attributes
    ----------
    kind : {"none", "standard", "minmax", "l2"}
        How the numbers were determined; "none" and "l2" have offset 0 and scale 1.
    offset, scale : ndarray of shape (D,), float64
        In the unit of the feature, at most 1e39, and one over it, at most 1e30; either sign, or 0.
    """

    kind: str
    offset: Float64
    scale: Float64

    def __post_init__(self) -> None:
        if self.kind not in NORMALIZER_KINDS:
            raise InputError(
                f"the normalizer's kind is {self.kind[:40]!r}; it must be one of "
                f"{', '.join(NORMALIZER_KINDS)}"
            )
        set_checked(self, "offset", checked_vector(self.offset, "normalizer_offset"))
        scale = checked_vector(
            self.scale, "normalizer_scale", size=len(self.offset), largest=_LARGEST_SCALE
        )
        set_checked(self, "scale", scale)
        if self.kind == "l2" and (self.offset.any() or (self.scale != 1).any()):
            raise InputError(
                "the normalizer's kind is 'l2', but it has offsets or scales, which only an affine "
                "one has; train the model again"
            )

    def apply(self, X: NDArray[Any]) -> Float64:
        """Return X of shape (n, D) normalized, in float64."""
        if self.kind == "l2":
            return unit_rows(X)
        normalized: Float64 = (X - self.offset) * self.scale
        return normalized

    @classmethod
    def identity(cls, n_features: int, kind: str = "none") -> Normalizer:
        """Return the normalizer of a kind without numbers: "none" or "l2"."""
        return cls(kind, np.zeros(n_features), np.ones(n_features))


def unit_rows(X: NDArray[Any]) -> Float64:
    """Return the rows of X (n, D) divided by their Euclidean norms; rows of zeros are unchanged."""
    # The largest entry is divided out first, so that no square overflows or vanishes.
    points = X.astype(np.float64)
    largest = np.abs(points).max(axis=1, keepdims=True)
    scaled = points / np.where(largest > 0, largest, 1.0)
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    unit: Float64 = scaled / np.where(norms > 0, norms, 1.0)
    return unit
