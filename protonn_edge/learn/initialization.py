"""Initial values for training: projection, prototypes, label vectors and RBF width.

The objective is not convex, so the result depends on the initial values (paper, section 4).

The paper starts multi-label training from SLEEC (Bhatia et al., NIPS 2015), which embeds the label
vectors and learns a linear map from the points to the embeddings; prototypes are then points, or
centres of clusters, in that space.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from protonn_edge.learn.clusters import cluster_centres
from protonn_edge.learn.objective import Parameters
from protonn_edge.learn.points import (
    Float32,
    Indices,
    Targets,
    as_columns,
    sample_with_all_classes,
)
from protonn_edge.learn.targets import Target
from protonn_edge.model.statistics import mean_and_deviation
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_most

_SHRINKAGE = 0.1
_TOTAL_SHARE = 1e-3
_SHARPNESS, _SHARPNESS_OF_SETS = 3.0, 1.0
_CLUSTERED_POINTS = 20_000
_MEDIAN_POINTS = 2_000
_NEIGHBOURHOOD_POINTS = 2_000
_NEIGHBOURHOOD_ITERATIONS = 50
_RIDGE = 0.1
_FEATURES_SOLVED, _POINTS_SOLVED = 4_000, 8_000
_IDENTITY_LIMIT = 2_000


def initial_parameters(
    X: Float32,
    y: Targets,
    *,
    n_projections: int,
    n_prototypes: int,
    gamma_numerator: float,
    generator: np.random.Generator,
    weights: Float32 | None = None,
    projection: str | Float32 = "lda",
    prototypes: str = "per_class",
    gamma: float | None = None,
    target: Target | None = None,
    widest: float = np.inf,
) -> tuple[Parameters, float]:
    """Return the matrices with gamma folded in, and gamma itself.

    - `X` (n, D): normalized points.
    - `y` (n,): class indices from 0; each class has at least one point. Or label sets (n, L).
    - `gamma_numerator`: see `median_gamma`; a given `gamma` replaces the median distance's.
    - `projection` (d, D): W, or a method; "identity" and an array determine d, which is at most D.
    - `prototypes` ("per_class", "kmeans", "sample"): B and Z; see `clustered_prototypes`,
      `clustered_label_sets` and `sampled_prototypes`.
    - `target`: the target of the training; by default, to separate classes.
    - `widest`: the RBF widths over which prototypes may spread, except with a given `gamma` for
      several classes. They would spread further if there are many in one dimension, most points
      are at the same few places, or a few are far from the others.
    """
    target = target or Target()
    parts = y if target.told_apart is None else target.told_apart(X, y, weights, generator)
    W = initial_projection(projection, X, parts, n_projections, weights, generator)
    W[:, X.min(axis=0) == X.max(axis=0)] = 0.0
    if X.shape[0] > _CLUSTERED_POINTS:
        chosen = sample_with_all_classes(y, _CLUSTERED_POINTS, generator)
        X, y, weights = X[chosen], y[chosen], None if weights is None else weights[chosen]
    projected = np.asarray(X @ W.T)
    if prototypes == "sample":
        B, Z = sampled_prototypes(projected, y, n_prototypes, generator, weights)
    elif y.ndim == 2:
        B, Z = clustered_label_sets(projected, y, n_prototypes, generator, weights)
    else:
        together = prototypes == "kmeans"
        B, Z = clustered_prototypes(
            projected, y, n_prototypes, generator, weights, together, target.starts
        )
    spread = float(np.ptp(B, axis=1).max())
    limit = widest / spread if spread > 0 else np.inf
    if target.reaching_gamma is not None:
        gamma = min(gamma or target.reaching_gamma(projected, B.T), limit)
    elif gamma is None:
        gamma = min(median_gamma(projected, B, gamma_numerator, generator), limit)
    fold, sharpness = np.float32(gamma), _SHARPNESS_OF_SETS if y.ndim == 2 else _SHARPNESS
    start = Parameters(W * fold, B * fold, Z, np.array([sharpness], dtype=np.float32))
    if target.with_label_vectors is not None:
        start = target.with_label_vectors(start, X, y, weights)
    return start, gamma


def initial_projection(
    kind: str | Float32,
    X: Float32,
    y: Targets,
    n_projections: int,
    weights: Float32 | None,
    generator: np.random.Generator,
) -> Float32:
    """Return W of shape (d, D), by a method of `initial_parameters`, or a copy of an array.

    For label sets, and many features of many points, "lda" stands for "sleec"; a row
    of `refusals` excludes "nca". With more features than points, there may be fewer directions.
    """
    D = X.shape[1]
    if not isinstance(kind, str):
        check(
            kind.ndim == 2 and kind.shape[1] == D and bool(np.isfinite(kind).all()),
            "init_projection",
            f"a matrix of shape {kind.shape}",
            f"finite numbers in the shape (d, {D})",
            "give one column per feature",
        )
        return kind.astype(np.float32)
    if kind == "identity":
        check_most(
            "init_projection='identity'",
            D,
            _IDENTITY_LIMIT,
            "features",
            "choose 'sleec' or 'gaussian'",
        )
        return np.eye(D, dtype=np.float32)
    if kind == "gaussian":  # as large as the points in every direction
        shape = (n_projections, D)
        return generator.standard_normal(shape, dtype=np.float32) / np.float32(np.sqrt(D))
    if kind != "sleec" and max(len(X), _FEATURES_SOLVED) < D:
        axes = np.linalg.svd(X, full_matrices=False)[2]  # a matrix (D, D) may not fit into memory
        inner = initial_projection(kind, X @ axes.T, y, n_projections, weights, generator)
        return _with_certain_signs(inner @ axes)
    large = y.ndim == 2 or min(X.shape) > _POINTS_SOLVED
    if kind == "pca":
        W = principal_projection(X, n_projections, weights)
    elif kind == "sleec" or (kind == "lda" and large):
        W = sleec_projection(X, as_columns(y), n_projections, weights)
    else:
        W = discriminant_projection(X, y, n_projections, weights)
    return neighbourhood_projection(W, X, y, weights, generator) if kind == "nca" else W


def neighbourhood_projection(
    start: Float32, X: Float32, y: Indices, weights: Float32 | None, generator: np.random.Generator
) -> Float32:
    """Return directions (d, D), d <= D, in which neighbours belong to the same class.

    They come from neighbourhood components analysis (Goldberger et al., 2004), computed on at most
    `_NEIGHBOURHOOD_POINTS` points, drawn by weight, starting from linear discriminants. It pursues
    the same aim as LMNN, the paper's start for large multiclass data, without a semidefinite
    program, and takes seconds to minutes.
    """
    chances = None if weights is None else weights.astype(np.float64) / weights.sum(dtype=float)
    count = min(len(X), _NEIGHBOURHOOD_POINTS)
    if weights is not None:
        count = min(count, int(np.count_nonzero(weights)))
    rows = generator.choice(len(X), count, replace=False, p=chances)
    rows = np.union1d(rows, np.unique(y, return_index=True)[1])  # every class is included
    spread = float(np.sqrt(np.square(X[rows] @ start.T).sum(axis=1).mean()))
    begun = start / np.float32(spread or 1.0)  # otherwise other points are too far away to matter
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    analysis = NeighborhoodComponentsAnalysis(
        len(start), init=begun, max_iter=_NEIGHBOURHOOD_ITERATIONS
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # any result is good enough for a start
        projection: Float32 = analysis.fit(X[rows], y[rows]).components_.astype(np.float32)
    return projection if np.isfinite(projection).all() else start


def principal_projection(X: Float32, n_projections: int, weights: Float32 | None = None) -> Float32:
    """Return the directions of largest spread, orthonormal, shape (d, D), d <= D."""
    total = X - mean_and_deviation(X, weights)[0]
    _, vectors = np.linalg.eigh(_scatter(total, weights))
    return _with_certain_signs(vectors[:, ::-1][:, :n_projections].T).astype(np.float32)


def _scatter(centred: NDArray[np.float64], weights: Float32 | None) -> NDArray[np.float64]:
    weighted = centred if weights is None else centred * weights[:, None].astype(np.float64)
    scatter: NDArray[np.float64] = weighted.T @ centred / len(centred)
    return scatter


def _with_certain_signs(W: Array) -> Array:
    """Turn each row so that its largest entry is positive; an eigenvector's sign is arbitrary."""
    largest = W[np.arange(len(W)), np.abs(W).argmax(axis=1)]
    return np.asarray(W * np.sign(largest)[:, None])


def discriminant_projection(
    X: Float32, y: Indices, n_projections: int, weights: Float32 | None = None
) -> Float32:
    """Return directions that separate the classes, shape (d, D), d <= D.

    They are linear discriminants, the largest solutions of ``S_between w = mu S_within w``
    (Fisher), with the within-class scatter shrunk towards a multiple of the identity. A small part
    of the total scatter on the left side makes the directions after the L - 1 discriminants those
    of largest spread.
    """
    n, D = X.shape
    counted = np.ones(n) if weights is None else weights.astype(np.float64)
    totals = np.bincount(y, weights=counted)
    centre, _ = mean_and_deviation(X, weights)
    of_class = ((X[y == label], counted[y == label]) for label in range(len(totals)))
    means = np.stack([np.average(own, axis=0, weights=shares) for own, shares in of_class])
    S_total = _scatter(X - centre, weights)
    between = (means - centre) * np.sqrt(totals / n)[:, None]
    S_between = between.T @ between
    S_within = S_total - S_between
    S_within[np.diag_indices(D)] += _SHRINKAGE * np.trace(S_total) / D + 1e-12
    lower = np.linalg.cholesky(S_within)
    half = np.linalg.solve(lower, S_between + _TOTAL_SHARE * S_total)
    whitened = np.linalg.solve(lower, half.T)
    _, vectors = np.linalg.eigh((whitened + whitened.T) / 2.0)
    directions = np.linalg.solve(lower.T, vectors[:, ::-1][:, :n_projections]).T
    return _with_certain_signs(directions).astype(np.float32)


def sleec_projection(
    X: Float32, Y: Float32, n_projections: int, weights: Float32 | None = None
) -> Float32:
    """Return W (d, D) that maps points close to embeddings of their label sets.

    The embeddings are the leading singular vectors of the label matrix with rows of unit norm, in
    which points with similar labels are close; W is their ridge regression on the points. The
    original SLEEC preserves only the products of nearest neighbours, in separate clusters, and is
    for far more labels than prototypes can distinguish. If there are fewer labels than projections,
    the rest are principal directions.
    """
    norms = np.sqrt(Y.sum(axis=1, dtype=np.float64))[:, None]
    unit: NDArray[np.float64] = Y / np.where(norms > 0, norms, 1.0)
    embedded = unit @ _leading_directions(unit, min(n_projections, *unit.shape)).T
    solver = "cholesky" if X.shape[1] <= _FEATURES_SOLVED else "sparse_cg"
    from sklearn.linear_model import Ridge

    ridge = Ridge(_RIDGE, fit_intercept=False, solver=solver)
    coefficients = ridge.fit(X, embedded, sample_weight=weights).coef_
    W: Float32 = np.atleast_2d(coefficients).astype(np.float32)  # a vector for one direction
    missing = n_projections - len(W)
    if missing > 0:
        further = _leading_directions(X, missing).astype(np.float32)
        W = np.concatenate([W, further * np.float32(np.abs(W).mean() / np.abs(further).mean())])
    return W


def _leading_directions(matrix: Array, count: int) -> NDArray[np.float64]:
    """Return the right singular vectors of the largest singular values, as rows, signs fixed.

    There may be fewer than `count` if there are more columns than rows.
    """
    size = matrix.shape[1]
    if size <= _FEATURES_SOLVED:
        gram = (matrix.T @ matrix).astype(np.float64)
        vectors = np.linalg.eigh(gram)[1][:, ::-1][:, :count].T
    else:
        from scipy.sparse.linalg import svds

        start = np.full(min(matrix.shape), 1.0)
        count = min(count, *(size - 1 for size in matrix.shape))
        vectors = svds(matrix.astype(np.float64), k=count, v0=start)[2][::-1]
    return _with_certain_signs(vectors)


def clustered_prototypes(
    projected: Float32,
    y: Indices,
    n_prototypes: int,
    generator: np.random.Generator,
    weights: Float32 | None = None,
    together: bool = False,
    starts: int = 1,
) -> tuple[Float32, Float32]:
    """Return B (d, m) and Z (L, m) from k-means in the projected space (paper, section 4).

    With at least as many prototypes as classes, the points of each class are clustered on their
    own, with an even share of the prototypes, each labelled with its class. With fewer, or if
    `together` is set, all points are clustered together, and a prototype is labelled with the class
    shares of its cluster. The best of several k-means runs is used.
    """
    seed = int(generator.integers(2**31))
    counts = np.bincount(y, weights=weights)
    if together or n_prototypes < len(counts):
        centres, member = cluster_centres(projected, n_prototypes, seed, generator, weights, starts)
        Z = np.zeros((len(counts), n_prototypes), dtype=np.float32)
        np.add.at(Z, (y, member), np.float32(1.0) if weights is None else weights)
        around = Z.sum(axis=0)
        bare = around == 0  # a duplicated centre's points are counted elsewhere
        Z[:, bare] = (counts / counts.sum())[:, None]
        Z /= np.where(bare, np.float32(1.0), around)
        return centres.T.copy(), Z
    shares = np.full(len(counts), n_prototypes // len(counts))
    largest_first = np.argsort(-counts, kind="stable")
    shares[largest_first[: n_prototypes - int(shares.sum())]] += 1
    parts = []
    for label, share in enumerate(shares.tolist()):
        own = y == label
        weighted = None if weights is None else weights[own]
        clusters = cluster_centres(projected[own], share, seed, generator, weighted, starts)
        parts.append(clusters[0])
    centres = np.concatenate(parts)
    return centres.T.copy(), np.repeat(np.eye(len(counts), dtype=np.float32), shares, axis=1)


def clustered_label_sets(
    projected: Float32,
    Y: Float32,
    n_prototypes: int,
    generator: np.random.Generator,
    weights: Float32 | None,
) -> tuple[Float32, Float32]:
    """Return B (d, m) and Z (L, m): cluster centres, and shares of their points by label."""
    seed = int(generator.integers(2**31))
    centres, member = cluster_centres(projected, n_prototypes, seed, generator, weights)
    counted = np.ones(len(projected), dtype=np.float32) if weights is None else weights
    around = np.eye(n_prototypes, dtype=np.float32)[member].T * counted
    totals = around.sum(axis=1)
    Z = around @ Y
    # A duplicated centre has its points counted elsewhere: it gets the shares of all points.
    Z[totals == 0] = (counted @ Y) / counted.sum()
    Z /= np.where(totals > 0, totals, 1.0)[:, None]
    return centres.T.copy(), np.ascontiguousarray(Z.T.astype(np.float32))


def sampled_prototypes(
    projected: Float32,
    y: Targets,
    n_prototypes: int,
    generator: np.random.Generator,
    weights: Float32 | None = None,
) -> tuple[Float32, Float32]:
    """Return B (d, m) and Z (L, m): points drawn at random, by weight, and their labels."""
    chances = None if weights is None else weights.astype(np.float64) / weights.sum(dtype=float)
    again = n_prototypes > len(projected)
    rows = generator.choice(len(projected), n_prototypes, replace=again, p=chances)
    Y = as_columns(y)
    return projected[rows].T.copy(), Y[rows].T.copy()


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
