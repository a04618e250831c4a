"""Turn the projected space so that far prototypes show themselves after few coordinates.

Distances do not change when W and B are turned together, so this costs the device nothing. Along
their principal axes the first coordinates separate the prototypes most, and most of them are left
there. A projection that is sparse stays as it is but for the order of its rows: turned, it would
have more weights.
"""

from __future__ import annotations

import math
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
    turned = np.hstack([_product(centred, centred.T), np.eye(len(points))])
    C, axes = np.hsplit(turned, 2)
    for _ in range(_SWEEPS):
        for p in range(len(C) - 1):
            for q in range(p + 1, len(C)):
                rotation = _rotation(C.item(p, p), C.item(q, q), C.item(p, q))
                if rotation is not None:
                    _turn(turned, p, q, *rotation)
                    _turn(C.T, p, q, *rotation)
    return np.array(axes)


def _rotation(of_p: float, of_q: float, of_both: float) -> tuple[float, float] | None:
    """Return cosine and sine of the angle by which two axes lose their covariance, `of_both`.

    None if it is 0, or next to it.
    """
    ratio = (of_q - of_p) / (2.0 * of_both) if of_both else math.inf
    if not math.isfinite(ratio):
        return None
    tangent = 1.0 / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
    tangent = -tangent if ratio < 0 else tangent
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    return cosine, tangent * cosine


def _turn(rows: NDArray[np.float64], p: int, q: int, cosine: float, sine: float) -> None:
    """Turn rows p and q, in place."""
    of_p, of_q = rows[p], rows[q]
    turned = cosine * of_p - sine * of_q
    rows[q] = sine * of_p + cosine * of_q
    rows[p] = turned


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
