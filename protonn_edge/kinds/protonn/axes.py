"""Principal axes, computed in the same order on any processor."""

from __future__ import annotations

import math

import numpy as np

from protonn_edge.model import folding

_SWEEPS = 5  # sweeps of rotations; more would not change the principal axes noticeably


def principal_axes(points: folding.FloatArray) -> folding.FloatArray:
    """Return approximate principal axes of points (d, m), as rows of an orthogonal (d, d).

    Jacobi's method runs in the same order on every machine, so that integers are the same. If it
    stops early, the axes differ but are just as good.
    """
    m = points.shape[1]
    centred = points - product(points, np.full((m, 1), 1.0 / m))
    turned = np.hstack([product(centred, centred.T), np.eye(len(points))])
    C, axes = np.hsplit(turned, 2)
    pairs = [(p, q) for p in range(len(C) - 1) for q in range(p + 1, len(C))]
    for p, q in pairs * _SWEEPS:
        of_both = C.item(p, q)
        ratio = (C.item(q, q) - C.item(p, p)) / (2.0 * of_both) if of_both else math.inf
        if not math.isfinite(ratio):  # the covariance is almost 0
            continue
        tangent = 1.0 / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
        tangent = -tangent if ratio < 0 else tangent
        cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
        sine = tangent * cosine
        for rows in (turned, C.T):
            of_p, of_q = rows[p], rows[q]
            rows[p], rows[q] = cosine * of_p - sine * of_q, sine * of_p + cosine * of_q
    return np.array(axes)


def product(A: folding.FloatArray, B: folding.FloatArray) -> folding.FloatArray:
    """Return A @ B, summed in the same order on every machine, unlike BLAS."""
    total = np.zeros((len(A), B.shape[1]))
    for column, row in zip(A.T, B, strict=True):
        total += column[:, None] * row
    return total
