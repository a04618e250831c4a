"""Statistics of a model's features in training, and their normalization.

The quantizer calibrates with the statistics. A normalizer is an affine map, or unit length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.checks import checked_vector, set_checked
from protonn_edge.model.limits import NORMALIZER_KINDS
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_choice, check_range

_LARGEST_SCALE = 1e30


@dataclass(frozen=True, eq=False)
class Normalizer:
    """An affine map per feature, ``(x - offset) * scale``, which the quantizer folds into W.

    The kind "l2" is different: it divides each nonzero point by its Euclidean norm, which cannot be
    folded into a matrix.
    """

    # how the numbers were determined, of `NORMALIZER_KINDS`; "none" and "l2" have offset 0, scale 1
    kind: str
    # (D,): in the unit of the feature, and one over it; either sign, or 0
    offset: Float64  # at most 1e39
    scale: Float64  # at most 1e30

    def __post_init__(self) -> None:
        check_choice("normalizer", self.kind[:40], NORMALIZER_KINDS)
        set_checked(self, "offset", checked_vector(self.offset, "normalizer_offset"))
        scale = checked_vector(
            self.scale, "normalizer_scale", size=len(self.offset), largest=_LARGEST_SCALE
        )
        set_checked(self, "scale", scale)
        plain = self.kind != "l2" or not (self.offset.any() or (self.scale != 1).any())
        check(plain, "normalizer", "'l2' with offsets or scales", "none")

    def apply(self, X: Array) -> Float64:
        """Return X of shape (n, D) normalized, in float64."""
        return unit_rows(X) if self.kind == "l2" else (X - self.offset) * self.scale

    @classmethod
    def identity(cls, n_features: int, kind: str = "none") -> Normalizer:
        """Return the normalizer of a kind without numbers: "none" or "l2"."""
        return cls(kind, np.zeros(n_features), np.ones(n_features))


def unit_rows(X: Array) -> Float64:
    """Return the rows of X (n, D) divided by their Euclidean norms; rows of zeros are unchanged."""
    # The largest entry is divided out first, so that no square overflows or vanishes.
    points = X.astype(np.float64)
    largest = np.abs(points).max(axis=1, keepdims=True)
    scaled = points / np.where(largest > 0, largest, 1.0)
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return scaled / np.where(norms > 0, norms, 1.0)


CHUNK_BYTES = 2 * 2**20  # of values that are computed at once
_BINS = 256

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class InputStatistics:
    """Statistics of the projection's inputs in training, for calibrating the quantizer.

    The inputs are raw features, averages of areas, or window features. All but `whole` are (D,).
    """

    # limits of the values of each feature that are distinguished; with average pooling, limits of
    # all pixels
    lower: Float64
    upper: Float64  # likewise
    mean: Float64  # of the training points
    deviation: Float64  # of the population
    # the most frequent value of each feature, the smallest of several; the code skips inputs equal
    # to it; with average pooling, the weight of its pixels
    background: Float64
    whole: bool = False  # whether features are integers in 0..upper that devices use unchanged

    def __post_init__(self) -> None:
        size: int | None = None
        for name in ("lower", "upper", "mean", "deviation", "background"):
            array = checked_vector(getattr(self, name), f"inputs_{name}", size=size)
            set_checked(self, name, array)
            size = len(array)
        if np.any(self.lower > self.upper):
            j = int(np.argmax(self.lower > self.upper))
            most = float(self.upper[j])
            check_range(f"inputs_lower of feature {j}", float(self.lower[j]), -np.inf, most)
        check_range("inputs_deviation", float(self.deviation.min()), 0, np.inf)

    def reaching(self, share: float) -> InputStatistics:
        """Return the statistics with ranges extended by a share at both ends; not integers."""
        if self.whole:
            return self
        longer = share * (self.upper - self.lower)
        return replace(self, lower=self.lower - longer, upper=self.upper + longer)

    def with_one_range(self) -> InputStatistics:
        """Return the statistics with one common range, with the background at its start.

        This is for features that one table converts to bytes.
        """
        lower = np.full_like(self.lower, self.lower.min())
        upper = np.full_like(self.upper, self.upper.max())
        return replace(self, lower=lower, upper=upper, background=lower)

    def of_whole_numbers(self, maximum: int) -> InputStatistics:
        """Return the statistics of features that are integers in 0..maximum, used unchanged."""
        zeros = np.zeros_like(self.lower)
        ends = {"lower": zeros, "upper": zeros + maximum, "background": zeros}
        return replace(self, **ends, whole=True)

    @classmethod
    def of(cls, X: Array, weights: Array | None = None) -> InputStatistics:
        """Measure training features X of shape (n, D), n >= 1, of points with weights (n,)."""
        ends = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
        background = [_most_frequent(column, weights) for column in X.T]
        return cls(*ends, *mean_and_deviation(X, weights), np.array(background, np.float64))


def mean_and_deviation(X: Array, weights: Array | None = None) -> tuple[Float64, Float64]:
    """Return the weighted mean and standard deviation of each column of X (n, D), weights (n,)."""
    if weights is None:
        return X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    counted = np.asarray(weights, dtype=np.float64)
    mean: Float64 = np.average(X, axis=0, weights=counted)
    return mean, np.sqrt(np.average(np.square(X - mean), axis=0, weights=counted))


def common_range(X: Array, weights: Array | None = None) -> tuple[float, float, float]:
    """Return the smallest, the largest and, in 256 bins, the most frequent value in X (n, D)."""
    lower, upper = float(X.min()), float(X.max())
    extent = upper - lower
    if not extent > 0:
        return lower, upper, lower
    counts = np.zeros(_BINS)
    rows = max(1, CHUNK_BYTES // (8 * X.shape[1]))
    for start in range(0, len(X), rows):
        chunk = slice(start, start + rows)
        bins = np.rint((X[chunk].astype(np.float64) - lower) / extent * (_BINS - 1))
        counted = None if weights is None else np.repeat(weights[chunk], X.shape[1])
        counts += np.bincount(bins.astype(np.intp).ravel(), counted, minlength=_BINS)
    return lower, upper, lower + extent * float(counts.argmax()) / (_BINS - 1)


def _most_frequent(column: Array, weights: Array | None) -> float:
    if weights is None:
        values, counts = np.unique(column, return_counts=True)
    else:
        values, places = np.unique(column, return_inverse=True)
        counts = np.bincount(places, weights=weights)
    return float(values[counts.argmax()])
