"""Centres of clusters of points, by k-means.

The steps, their order and their random numbers are those of scikit-learn's `KMeans`, so that models
are those of earlier versions; importing it would take longer than most trainings.
"""

from __future__ import annotations

import numpy as np

from protonn_edge.learn.points import Float32, Indices

_PASSES, _TOLERANCE = (
    300,
    1e-4,
)  # the most, and the movement relative to the variance that ends them


def cluster_centres(
    points: Float32,
    count: int,
    seed: int,
    generator: np.random.Generator,
    weights: Float32 | None,
    starts: int = 1,
) -> tuple[Float32, Indices]:
    """Return `count` cluster centres and each point's cluster; too few points are repeated.

    Run it on one thread: with several, the order of sums would change the last digits.
    """
    clusters = min(count, len(np.unique(points, axis=0)))
    tolerance = np.mean(np.var(points, axis=0)) * _TOLERANCE
    middle = points.mean(axis=0)
    X, chance = points - middle, np.random.RandomState(seed)
    shares = np.ones(len(X), np.float32) if weights is None else weights
    runs = []
    for _ in range(starts):
        centres, member = _moved_to_means(
            X, _spread_out(X, clusters, chance, shares), shares, tolerance
        )
        inertia = float(np.square(X - centres[member]).sum(axis=1) @ shares)
        runs.append((inertia, centres, member))
    _, centres, member = min(runs, key=lambda run: run[0])
    centres = (centres + middle).astype(np.float32)
    again = generator.integers(clusters, size=count - clusters)
    spread = np.float32(0.05 * float(points.std()) + 1e-6)
    shape = (count - clusters, points.shape[1])
    jitter = spread * generator.standard_normal(shape, dtype=np.float32)
    return np.concatenate([centres, centres[again] + jitter]), member


def _spread_out(X: Float32, count: int, chance: np.random.RandomState, shares: Float32) -> Float32:
    """Return points far from each other: k-means++, each the best of a few (Arthur, 2007)."""
    exact = X.astype(np.float64)
    norms = np.einsum("ij,ij->i", exact, exact)

    def squares(rows: Indices) -> Float32:
        """Return the squared distances (k, n) of all points to some."""
        distances = -2 * (exact[rows] @ exact.T)
        distances += norms[rows][:, None]
        distances += norms
        return np.maximum(distances.astype(np.float32), 0)

    chosen = [int(chance.choice(len(X), p=shares / shares.sum()))]
    nearest = squares(np.array(chosen))
    left = nearest @ shares
    for _ in range(1, count):
        drawn = chance.uniform(size=2 + int(np.log(count))) * left
        rows = np.searchsorted(np.cumsum(shares * nearest), drawn)
        rows = np.minimum(rows, len(X) - 1)
        tried = np.minimum(nearest, squares(rows))
        totals = tried @ shares[:, None]
        best = int(np.argmin(totals))
        chosen.append(int(rows[best]))
        nearest, left = tried[best], totals[best]
    return X[chosen]


def _moved_to_means(
    X: Float32, centres: Float32, shares: Float32, tolerance: float
) -> tuple[Float32, Indices]:
    """Return the centres after Lloyd's iteration, and the cluster of each point."""

    def nearest(centres: Float32) -> Indices:
        distances = np.einsum("ij,ij->i", centres, centres) - 2 * (X @ centres.T)
        return np.asarray(distances.argmin(axis=1))

    weighted = X * shares[:, None]
    before = np.full(len(X), -1)
    for _ in range(_PASSES):
        member = nearest(centres)
        sums = np.stack([weighted[member == k].sum(axis=0) for k in range(len(centres))])
        totals = np.zeros(len(centres), np.float32)
        np.add.at(totals, member, shares)
        empty = np.flatnonzero(totals == 0)
        distances = np.square(X - centres[member]).sum(axis=1) if len(empty) else np.zeros(1)
        if distances.max() > 0:  # it gets the point that is farthest away
            farthest = np.argpartition(distances, -len(empty))[: -len(empty) - 1 : -1]
            for cluster, row in zip(empty, farthest, strict=True):
                sums[member[row]] -= weighted[row]
                sums[cluster], totals[cluster] = weighted[row], shares[row]
                totals[member[row]] -= shares[row]
        one = np.float32(1)
        moved = (sums * (one / np.where(totals > 0, totals, one))[:, None]).astype(np.float32)
        moved[totals <= 0] = moved[np.argmax(totals)]
        shift = np.square(np.sqrt(np.square(moved - centres).sum(axis=1))).sum()
        centres = moved
        if np.array_equal(member, before):
            return centres, member
        if shift <= tolerance:
            break
        before = member
    return centres, nearest(centres)
