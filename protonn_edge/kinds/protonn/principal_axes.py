"""Rotate the projected space so that few coordinates suffice to detect far prototypes.

Rotating W and B together does not change distances, so this costs the device nothing. Along the
principal axes the first coordinates separate the prototypes most, so most distances are abandoned
early. For a sparse projection only the order of its rows is changed: rotated, it would have more
weights.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.protonn.head import ProtoNNHead

_SWEEPS = 5  # more would not change the axes noticeably


def along_principal_axes(head: ProtoNNHead) -> ProtoNNHead:
    """Return the same classifier with its coordinates along the principal axes of the prototypes.

    One whose W is sparse is returned as it is.
    """
    W, B = head.projection.astype(np.float64), head.prototypes.astype(np.float64)
    if not (np.isfinite(W).all() and np.isfinite(B).all() and _is_dense(W)):
        return head
    axes = principal_axes(B)
    return replace(
        head,
        projection=_product(axes, W).astype(np.float32),
        prototypes=_product(axes, B).astype(np.float32),
    )


def principal_axes(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return approximate principal axes of points (d, m), as rows of an orthogonal (d, d).

    Jacobi's method with the same order of operations on every machine, since the integers made from
    the result must be the same. If it stops early, the axes differ but are as good.
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
    """Return cosine and sine of the angle that removes the covariance of two axes, `of_both`.

    None if it is almost 0.
    """
    ratio = (of_q - of_p) / (2.0 * of_both) if of_both else math.inf
    if not math.isfinite(ratio):
        return None
    tangent = 1.0 / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
    tangent = -tangent if ratio < 0 else tangent
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    return cosine, tangent * cosine


def _turn(rows: NDArray[np.float64], p: int, q: int, cosine: float, sine: float) -> None:
    """Rotate rows p and q, in place."""
    of_p, of_q = rows[p], rows[q]
    turned = cosine * of_p - sine * of_q
    rows[q] = sine * of_p + cosine * of_q
    rows[p] = turned


def _is_dense(W: NDArray[np.float64]) -> bool:
    """Whether every feature has weights for all outputs or none."""
    some = (W != 0).any(axis=0)
    return bool((W != 0)[:, some].all())


def _product(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return A @ B, summed in the same order on every machine, unlike BLAS."""
    total = np.zeros((len(A), B.shape[1]))
    for column, row in zip(A.T, B, strict=True):
        total += column[:, None] * row
    return total
