"""Where training starts: the projection, the prototypes, their labels, the kernel's width.

The objective is not convex, so where it ends depends on where it starts (paper, section 4).
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.training.objective import Parameters

_SHRINKAGE = 0.1
_TOTAL_SHARE = 1e-3
_SHARPNESS = 3.0
_CLUSTERED_POINTS = 20_000
_MEDIAN_POINTS = 2_000

Float32 = NDArray[np.float32]
Indices = NDArray[np.int64]


def initial_parameters(
    X: Float32,
    y: Indices,
    *,
    n_projections: int,
    n_prototypes: int,
    gamma_numerator: float,
    generator: np.random.Generator,
) -> tuple[Parameters, float]:
    """Return the matrices with gamma folded in, and gamma itself.

    Parameters
    ----------
    X : ndarray of shape (n, D), float32
        Normalized points.
    y : ndarray of shape (n,), int64
        Class indices from 0; each class has at least one point.
    n_projections : int
        d, at most D.
    """
    W = discriminant_projection(X, y, n_projections)
    W[:, X.min(axis=0) == X.max(axis=0)] = 0.0
    if len(X) > _CLUSTERED_POINTS:
        chosen = _sample_with_all_classes(y, _CLUSTERED_POINTS, generator)
        X, y = X[chosen], y[chosen]
    projected = X @ W.T
    B, Z = clustered_prototypes(projected, y, n_prototypes, generator)
    gamma = median_gamma(projected, B, gamma_numerator, generator)
    fold = np.float32(gamma)
    return Parameters(W * fold, B * fold, Z, np.array([_SHARPNESS], dtype=np.float32)), gamma


def discriminant_projection(X: Float32, y: Indices, n_projections: int) -> Float32:
    """Return directions along which the classes lie apart, shape (d, D), d <= D.

    They are linear discriminants, the largest solutions of ``S_between w = mu S_within w``
    (Fisher), with the within-class scatter shrunk towards a multiple of the identity. A little of
    the total scatter on the left makes the directions beyond the L - 1 discriminants those of large
    spread.
    """
    n, D = X.shape
    counts = np.bincount(y)
    means = np.stack([X[y == label].mean(axis=0, dtype=np.float64) for label in range(len(counts))])
    total = X - X.mean(axis=0, dtype=np.float64)
    S_total = total.T @ total / n
    between = (means - X.mean(axis=0, dtype=np.float64)) * np.sqrt(counts / n)[:, None]
    S_between = between.T @ between
    S_within = S_total - S_between
    S_within[np.diag_indices(D)] += _SHRINKAGE * np.trace(S_total) / D + 1e-12
    lower = np.linalg.cholesky(S_within)
    half = np.linalg.solve(lower, S_between + _TOTAL_SHARE * S_total)
    whitened = np.linalg.solve(lower, half.T)
    _, vectors = np.linalg.eigh((whitened + whitened.T) / 2.0)
    W = np.linalg.solve(lower.T, vectors[:, ::-1][:, :n_projections]).T
    largest = W[np.arange(len(W)), np.abs(W).argmax(axis=1)]
    W *= np.where(largest < 0, -1.0, 1.0)[:, None]  # an eigenvector's sign is arbitrary
    return W.astype(np.float32)


def clustered_prototypes(
    projected: Float32, y: Indices, n_prototypes: int, generator: np.random.Generator
) -> tuple[Float32, Float32]:
    """Return B (d, m) and Z (L, m) from k-means in the projected space (paper, section 4).

    With at least as many prototypes as classes, the points of each class are clustered on their
    own, prototypes shared evenly, and each is labelled with its class. With fewer, all points are
    clustered together and a prototype is labelled with the shares of the classes around it.
    """
    seed = int(generator.integers(2**31))
    counts = np.bincount(y)
    if n_prototypes < len(counts):
        centres, member = _centres(projected, n_prototypes, seed, generator)
        Z = np.zeros((len(counts), n_prototypes), dtype=np.float32)
        np.add.at(Z, (y, member), np.float32(1.0))
        return centres.T.copy(), Z / np.maximum(Z.sum(axis=0), np.float32(1.0))
    shares = np.full(len(counts), n_prototypes // len(counts))
    largest_first = np.argsort(-counts, kind="stable")
    shares[largest_first[: n_prototypes - int(shares.sum())]] += 1
    centres = np.concatenate(
        [
            _centres(projected[y == label], int(share), seed, generator)[0]
            for label, share in enumerate(shares)
        ]
    )
    return centres.T.copy(), np.repeat(np.eye(len(counts), dtype=np.float32), shares, axis=1)


def median_gamma(
    projected: Float32, prototypes: Float32, numerator: float, generator: np.random.Generator
) -> float:
    """Return ``numerator / median ||b_j - W x_i||`` (paper, section 6, where the numerator is 2.5).

    The median is taken over at most `_MEDIAN_POINTS` points, drawn at random.
    """
    chosen = generator.permutation(len(projected))[:_MEDIAN_POINTS]
    P, B = projected[chosen].astype(np.float64), prototypes.astype(np.float64)
    squares = (P**2).sum(axis=1)[:, None] + (B**2).sum(axis=0) - 2.0 * P @ B
    median = float(np.median(np.sqrt(np.maximum(squares, 0.0))))
    return numerator / median if median > 1e-12 else numerator


def _centres(
    points: Float32, count: int, seed: int, generator: np.random.Generator
) -> tuple[Float32, Indices]:
    """Return `count` cluster centres and each point's cluster; too few points are used again.

    Run it on one thread: the order in which several add up would show in the last digits.
    """
    clusters = min(count, len(np.unique(points, axis=0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # points that are equal after rounding
        found = KMeans(clusters, n_init=1, random_state=seed).fit(points)
    centres = found.cluster_centers_.astype(np.float32)
    again = generator.integers(clusters, size=count - clusters)
    spread = np.float32(0.05 * float(points.std()) + 1e-6)
    shape = (count - clusters, points.shape[1])
    jitter = spread * generator.standard_normal(shape, dtype=np.float32)
    return np.concatenate([centres, centres[again] + jitter]), found.labels_.astype(np.int64)


def _sample_with_all_classes(y: Indices, count: int, generator: np.random.Generator) -> Indices:
    """Return about `count` rows at random, and the first of each class so that none is missing."""
    _, first = np.unique(y, return_index=True)
    rows: Indices = np.union1d(first, generator.permutation(len(y))[:count])
    return rows
