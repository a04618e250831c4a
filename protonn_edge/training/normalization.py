"""Normalize features by an affine map per feature, which is later folded into W."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import normalize

from protonn_edge.chain.statistics import InputStatistics, Normalizer
from protonn_edge.datasets.dataset import Sparse
from protonn_edge.errors import InputError

DEVIATION_FLOOR = 0.1
KEEPING_ZEROS = ("none", "l2")
"""Kinds of normalizers that keep sparse points sparse."""
LARGEST_NORMALIZED = 1e12
"""The limit up to which the sums and squares of normalized features fit float32 in training."""

_NOISE_PER_DISTANCE = 0.1
_NOISE_OF_UNIT_ROWS = 0.033
_POINTS = 500
_NEIGHBOURS = 4_000
DENSE_LIMIT_BYTES = 2**30


def normalizer_from(kind: str, inputs: InputStatistics) -> Normalizer:
    """Return the normalizer of a kind for training features with these statistics.

    "standard" is zero mean and unit deviation, except that a deviation counts as at least
    `DEVIATION_FLOOR` of the feature's range: otherwise the rare values of a pixel that is almost
    always background would be scaled up. "minmax" maps the range to 0..1. A constant feature is
    only shifted. "l2" scales points to unit norm, as the paper does for data with sets of labels;
    it and "none" have no fitted parameters, and keep sparse points sparse.

    Averages of pixels have the range of all pixels in their statistics, and therefore a common
    quantization step. Otherwise the weight of an average that hardly ever changes would be so large
    that the other weights would lose their precision in integers.
    """
    if kind in KEEPING_ZEROS:
        return Normalizer.identity(len(inputs.mean), kind)
    extent = inputs.upper - inputs.lower
    if kind == "minmax":
        return Normalizer(kind, inputs.lower, 1.0 / np.where(extent > 0, extent, 1.0))
    deviation = np.maximum(inputs.deviation, DEVIATION_FLOOR * extent)
    return Normalizer("standard", inputs.mean, 1.0 / np.where(extent > 0, deviation, 1.0))


def normalized(normalizer: Normalizer, X: NDArray[Any] | Sparse) -> NDArray[np.float32] | Sparse:
    """Return points (n, D) normalized, in float32; sparse points stay sparse.

    Their normalizer is then "none" or "l2"; see `dense_unless_kept`.

    Raises `InputError` if a normalized feature is larger than `LARGEST_NORMALIZED`.
    """
    found: NDArray[np.float32] | Sparse
    if issparse(X):
        found = normalize(X.astype(np.float64)) if normalizer.kind == "l2" else X
        found = found.astype(np.float32)
    else:
        with np.errstate(over="ignore"):
            found = normalizer.apply(X).astype(np.float32)
    largest = float(abs(found).max()) if found.shape[0] else 0.0
    if not largest <= LARGEST_NORMALIZED:
        raise InputError(
            f"normalized by {normalizer.kind!r}, a feature reaches {largest:.3g}, the limit is "
            f"{LARGEST_NORMALIZED:g}; choose the normalization 'standard', or give the feature in "
            "another unit"
        )
    return found


def dense_unless_kept(X: NDArray[np.float32] | Sparse, kind: str) -> NDArray[np.float32] | Sparse:
    """Return sparse points dense if their normalization moves zeros.

    Raises `InputError` if the dense points would take more than `DENSE_LIMIT_BYTES`.
    """
    if not issparse(X):
        return X
    if kind in KEEPING_ZEROS:
        return csr_array(X)
    sparse: Any = X
    n, D = sparse.shape
    if 4 * n * D > DENSE_LIMIT_BYTES:
        raise InputError(
            f"the normalization {kind!r} makes sparse points dense, and {n:,} x {D:,} values are "
            f"more than {DENSE_LIMIT_BYTES // 4:,}; choose the normalization 'l2' or 'none'"
        )
    dense: NDArray[np.float32] = sparse.toarray()
    return dense


def neighbour_noise(
    X: NDArray[np.float32] | Sparse, generator: np.random.Generator, kind: str = "standard"
) -> float:
    """Return the default deviation of input noise, a fraction of the distance between neighbours.

    It is in the unit of the normalized points X (n, D), 0 if no two of them differ. The distance is
    the median distance of some points to their nearest neighbour. On ten data sets of 5 to 260
    features the best noise on validation points was 0.04 to 0.12 of it; on two sets of points of
    unit norm, with 500 and 1,836 features, 0.033, since the norm of the noise grows with the root
    of their number.
    """
    per_distance = _NOISE_OF_UNIT_ROWS if kind == "l2" else _NOISE_PER_DISTANCE
    chosen: Any = X[generator.permutation(X.shape[0])[:_NEIGHBOURS]].astype(np.float64)
    norms = np.asarray((chosen * chosen).sum(axis=1)).ravel()
    products: Any = chosen[:_POINTS] @ chosen.T
    products = products.toarray() if issparse(products) else products
    squares = norms[:_POINTS, None] + norms - 2.0 * products
    squares[squares <= 1e-9 * max(float(squares.max()), 1e-30)] = np.inf  # the point and its copies
    nearest = squares.min(axis=1)
    nearest = nearest[np.isfinite(nearest)]
    return per_distance * float(np.median(np.sqrt(nearest))) if len(nearest) else 0.0
