"""The similarity loss: weights of a class are to lie together (equation 6)."""

from __future__ import annotations

import numpy as np

from protonn_edge.training.points import Float32, Indices

_LEAST_DISTANCE = 1e-6


def similarity_loss(A: Float32, y: Indices, margin: float) -> tuple[float, Float32, float]:
    """Return the mean of ``|max d within the class - min d to others - margin|``, and derivatives.

    Parameters
    ----------
    A : ndarray of shape (n, M), floating
        Weights of a batch of images.
    y : ndarray of shape (n,), int64
        Their classes. Images without others of their class, or of another class, do not count.
    margin : float
        Above 0.

    Returns
    -------
    loss : float
    by_weights : ndarray of shape (n, M)
    by_margin : float
    """
    same = y[:, None] == y
    rows = np.flatnonzero((same.sum(axis=1) > 1) & ~same.all(axis=1))
    of_weights = np.zeros_like(A)
    if not len(rows):
        return 0.0, of_weights, 0.0
    distances = _distances(A)
    far = np.where(same, distances, -np.inf).argmax(axis=1)[rows]
    near = np.where(same, np.inf, distances).argmin(axis=1)[rows]
    gaps = distances[rows, far] - distances[rows, near] - margin
    signs = np.sign(gaps) / len(rows)
    for others, slopes in ((far, signs), (near, -signs)):
        apart = np.maximum(distances[rows, others], _LEAST_DISTANCE)[:, None]
        steps = ((slopes[:, None] / apart) * (A[rows] - A[others])).astype(A.dtype)
        np.add.at(of_weights, rows, steps)
        np.subtract.at(of_weights, others, steps)
    return float(np.abs(gaps).mean()), of_weights, float(-signs.sum())


def _distances(A: Float32) -> Float32:
    """Return the Euclidean distances (n, n) between rows."""
    squares = np.einsum("ij,ij->i", A, A)
    found: Float32 = np.sqrt(np.maximum(squares[:, None] + squares - 2 * (A @ A.T), 0))
    return found
