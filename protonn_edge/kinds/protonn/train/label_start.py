"""Initial values for targets that are sets of labels, and W for sparse points.

The paper starts multi-label training from SLEEC (Bhatia et al., NIPS 2015), which embeds the label
vectors and learns a linear map from the points to the embeddings; prototypes are then points, or
centres of clusters, in that space.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse
from scipy.sparse.linalg import svds
from sklearn.linear_model import Ridge

from protonn_edge.datasets.dataset import Sparse
from protonn_edge.errors import InputError
from protonn_edge.training.points import Float32, Indices, TrainingSet

_RIDGE = 0.1
_FEATURES_SOLVED = 4_000
_IDENTITY_LIMIT = 2_000
_SHARPNESS = 1.0
_CLUSTERED_POINTS = 20_000


def sleec_projection(
    X: Float32 | Sparse, Y: Sparse, n_projections: int, weights: Float32 | None = None
) -> Float32:
    """Return W (d, D) that maps points close to embeddings of their label sets.

    The embeddings are the leading singular vectors of the label matrix with rows of unit norm, in
    which points with similar labels are close; W is their ridge regression on the points. The
    original SLEEC preserves only the products of nearest neighbours, in separate clusters, and is
    for far more labels than prototypes can distinguish. If there are fewer labels than projections,
    the rest are principal directions.
    """
    norms = np.sqrt(np.asarray(Y.sum(axis=1), dtype=np.float64).ravel())
    unit = csr_array(diags_array(1.0 / np.where(norms > 0, norms, 1.0)) @ Y)
    embedded = unit @ _leading_directions(unit, min(n_projections, *unit.shape)).T
    solver = "cholesky" if X.shape[1] <= _FEATURES_SOLVED else "sparse_cg"
    ridge = Ridge(_RIDGE, fit_intercept=False, solver=solver)
    W: Float32 = ridge.fit(X, embedded, sample_weight=weights).coef_.astype(np.float32)
    missing = n_projections - len(W)
    if missing > 0:
        further = spread_projection(X, missing)
        W = np.concatenate([W, further * np.float32(np.abs(W).mean() / np.abs(further).mean())])
    return W


def spread_projection(X: Float32 | Sparse, n_projections: int) -> Float32:
    """Return the leading right singular vectors of X, not centred, shape (d, D), d <= D."""
    return _leading_directions(X, n_projections).astype(np.float32)


def sparse_projection(kind: str, data: TrainingSet, n_projections: int) -> str | Float32:
    """Return W for methods that `initial_projection` does not have, else the method's name.

    These are "sleec"; "lda" for label sets and sparse points, which becomes "sleec"; and "pca" for
    sparse points, which is then not centred.

    Raises `InputError` if the matrix of "identity" would be too large, or "nca" is given label sets
    or sparse points.
    """
    D = data.X.shape[1]
    if kind == "identity" and D > _IDENTITY_LIMIT:
        raise InputError(
            f"init_projection is 'identity' for {D:,} features, the limit is {_IDENTITY_LIMIT:,}; "
            "choose 'sleec' or 'gaussian'"
        )
    sparse = bool(issparse(data.X))
    if kind == "nca" and (sparse or data.multilabel):
        what = "points have sets of labels" if data.multilabel else "the points are sparse"
        raise InputError(
            f"init_projection is 'nca', but {what}, which needs dense points of one class each; "
            "choose 'sleec', 'gaussian' or 'pca'"
        )
    if kind == "pca" and sparse:
        return spread_projection(data.X, n_projections)
    if kind == "sleec" or (kind == "lda" and (sparse or data.multilabel)):
        Y = data.Y if data.multilabel else one_hot(data.y)
        return sleec_projection(data.X, Y, n_projections, data.weights)
    return kind


def _leading_directions(matrix: Float32 | Sparse, count: int) -> NDArray[np.float64]:
    """Return the right singular vectors of the largest singular values, as rows, signs fixed.

    There may be fewer than requested if there are more columns than rows.
    """
    size = matrix.shape[1]
    if size <= _FEATURES_SOLVED:
        product = matrix.T @ matrix
        gram = np.asarray(product.toarray() if hasattr(product, "toarray") else product)
        vectors = np.linalg.eigh(gram.astype(np.float64))[1][:, ::-1][:, :count].T
    else:
        start = np.full(min(matrix.shape), 1.0)
        count = min(count, *(size - 1 for size in matrix.shape))
        vectors = svds(matrix.astype(np.float64), k=count, v0=start)[2][::-1]
    largest = vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)]
    return vectors * np.where(largest < 0, -1.0, 1.0)[:, None]


def one_hot(y: Indices) -> Sparse:
    """Return class indices (n,) as label sets of one label each, CSR (n, L)."""
    ones = np.ones(len(y), dtype=np.float32)
    return csr_array((ones, (np.arange(len(y)), y)), (len(y), int(y.max()) + 1))
