"""Turn the projected space so that far prototypes show themselves after few coordinates.

Distances do not change when W and B are turned together, so this costs the device nothing. Along
their principal axes the first coordinates separate the prototypes most, and most of them are left
there. A projection that is sparse stays as it is but for the order of its rows: turned, it would
have more weights.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model import ProtoNNModel

_SWEEPS = 5  # more would change the axes by less than anyone could tell


def along_principal_axes(model: ProtoNNModel) -> ProtoNNModel:
    """Return the same model, its coordinates those along the principal axes of the prototypes.

    A model whose W is sparse is returned as it is.
    """
    W, B = model.projection.astype(np.float64), model.prototypes.astype(np.float64)
    if not (np.isfinite(W).all() and np.isfinite(B).all() and _is_dense(W)):
        return model
    axes = principal_axes(B)
    return replace(
        model,
        projection=_product(axes, W).astype(np.float32),
        prototypes=_product(axes, B).astype(np.float32),
    )


def principal_axes(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return about the principal axes of points (d, m), the rows of an orthogonal (d, d).

    Jacobi's method, in an order of operations that is the same on every machine: the integers that
    are made of the result must be, too. Where it stops early the axes are others, and as good.
    """
    m = points.shape[1]
    centred = points - _product(points, np.full((m, 1), 1.0 / m))
    C = _product(centred, centred.T)
    axes = np.eye(len(points))
    for _ in range(_SWEEPS):
        for p in range(len(C) - 1):
            for q in range(p + 1, len(C)):
                if C[p, q] != 0.0:
                    _annihilate(C, axes, p, q)
    return axes


def _annihilate(C: NDArray[np.float64], axes: NDArray[np.float64], p: int, q: int) -> None:
    """Turn axes p and q, in place, such that C has no covariance of theirs."""
    with np.errstate(over="ignore", divide="ignore"):  # next to no covariance: the angle is 0
        ratio = (C[q, q] - C[p, p]) / (2.0 * C[p, q])
        if not np.isfinite(ratio):
            return
        tangent = 1.0 / (abs(ratio) + np.sqrt(ratio * ratio + 1.0))
    tangent = -tangent if ratio < 0 else tangent
    cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
    sine = tangent * cosine
    for matrix in (C, C.T, axes):
        row_p, row_q = matrix[p].copy(), matrix[q].copy()
        matrix[p], matrix[q] = cosine * row_p - sine * row_q, sine * row_p + cosine * row_q


def _is_dense(W: NDArray[np.float64]) -> bool:
    """Whether no feature has weights for some outputs only."""
    some = (W != 0).any(axis=0)
    return bool((W != 0)[:, some].all())


def _product(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return A @ B, summed in one order on every machine, unlike BLAS."""
    total = np.zeros((len(A), B.shape[1]))
    for column, row in zip(A.T, B, strict=True):
        total += column[:, None] * row
    return total
