"""Training on sparse points: as good as on dense ones, in memory that follows the values."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix, random_array

from protonn_edge.chain.statistics import InputStatistics, Normalizer, unit_rows
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.training.normalization import (
    DENSE_LIMIT_BYTES,
    dense_unless_kept,
    normalized,
    sparse_statistics,
)
from protonn_edge.training.points import distinct_points

GENERATOR = np.random.default_rng(0)


def sparse_points(n: int = 300, features: int = 40) -> tuple[csr_array, np.ndarray]:
    """Return points whose class says in which third of the features most of them have values."""
    y = GENERATOR.integers(3, size=n)
    dense = GENERATOR.random((n, features)) * (GENERATOR.random((n, features)) < 0.1)
    for row, label in enumerate(y):
        dense[row, GENERATOR.choice(features // 3, 4) + label * (features // 3)] += 1.0
    return csr_array(dense), y


X, Y = sparse_points()


@pytest.mark.parametrize("normalization", ["none", "l2", "standard"])
@pytest.mark.parametrize("optimizer", ["joint", "alternating"])
@pytest.mark.parametrize("form", [csr_array, csr_matrix, csc_array])
def test_sparse_points_are_learned(normalization: str, optimizer: str, form: Any) -> None:
    classifier = ProtoNNClassifier(
        n_projections=3,
        n_prototypes=9,
        normalization=normalization,
        optimizer=optimizer,
        epochs=20,
        iterations=3,
        random_state=0,
    ).fit(form(X[:200]), Y[:200])
    assert classifier.score(form(X[200:]), Y[200:]) > 0.8
    dense = classifier.decision_function(X[200:].toarray())
    np.testing.assert_allclose(classifier.decision_function(X[200:]), dense, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", ["lda", "sleec", "pca", "gaussian", "identity"])
def test_every_start_takes_sparse_points(kind: str) -> None:
    classifier = ProtoNNClassifier(
        n_projections=3, epochs=20, normalization="l2", init_projection=kind, random_state=0
    ).fit(X[:200], Y[:200])
    assert classifier.score(X[200:], Y[200:]) > 0.4


@pytest.mark.parametrize("kind", ["sleec", "pca"])
def test_starts_take_more_features_than_can_be_solved_for(kind: str) -> None:
    wide = csr_array((X[:8].data, X[:8].indices * 200, X[:8].indptr), (8, 8_000))
    model = ProtoNNClassifier(
        n_projections=12, epochs=2, normalization="l2", init_projection=kind, random_state=0
    ).fit(wide, np.arange(8) % 2)
    assert 1 <= model.model_.head.n_projections <= 12


def test_points_with_quantization_in_mind_may_be_sparse() -> None:
    classifier = ProtoNNClassifier(n_projections=3, epochs=20, normalization="none", random_state=0)
    assert classifier.fit(X[:200], Y[:200]).score(X[200:], Y[200:]) > 0.8


def test_a_normalization_that_moves_zeros_gives_the_model_of_dense_points() -> None:
    settings = {"n_projections": 3, "epochs": 3, "random_state": 0}
    sparse = ProtoNNClassifier(**settings).fit(X, Y)
    dense = ProtoNNClassifier(**settings).fit(X.toarray(), Y)
    assert np.array_equal(sparse.model_.head.labels, dense.model_.head.labels)


def test_points_that_would_be_too_large_dense_are_refused() -> None:
    wide = csr_array((2, DENSE_LIMIT_BYTES), dtype=np.float32)
    assert dense_unless_kept(wide, "l2").shape == wide.shape
    with pytest.raises(InputError, match="'standard' makes sparse points dense.*choose.*'l2'"):
        dense_unless_kept(wide, "standard")


def test_memory_follows_the_values_and_not_the_features() -> None:
    n, D = 1_000, 10_000
    wide = random_array((n, D), density=20 / D, format="csr", rng=0, dtype=np.float32)
    y = np.arange(n) % 4
    tracemalloc.start()
    ProtoNNClassifier(
        n_projections=4,
        epochs=1,
        normalization="l2",
        init_projection="gaussian",
        batch_size=64,
        random_state=0,
    ).fit(wide, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * n * D / 2


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 1.5, 300, dtype=np.float32)])
def test_statistics_are_those_of_dense_points(weights: np.ndarray | None) -> None:
    found = sparse_statistics(X.astype(np.float32), weights)
    expected = InputStatistics.of(X.toarray().astype(np.float32), weights)
    for name in ("lower", "upper", "mean", "deviation", "background"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-6)


def test_unit_rows_have_unit_norm_whatever_their_size() -> None:
    points = np.array([[3.0, 4.0], [0.0, 0.0], [3e300, 4e300], [3e-300, 4e-300]])
    np.testing.assert_allclose(unit_rows(points), [[0.6, 0.8], [0, 0], [0.6, 0.8], [0.6, 0.8]])
    sparse = normalized(Normalizer.identity(2, "l2"), csr_array(points))
    np.testing.assert_allclose(sparse.toarray()[:2], [[0.6, 0.8], [0, 0]], rtol=1e-6)


def test_equal_sparse_points_are_merged_whatever_their_order() -> None:
    twice = csr_array(np.array([[0, 1.0], [2.0, 0], [0, 1.0], [0, 1.0]], dtype=np.float32))
    points, y, weights, _ = distinct_points(twice, np.array([0, 0, 0, 1]), None)
    assert points.shape == (3, 2)
    assert weights is not None
    rows = zip(points.toarray().tolist(), y.tolist(), weights / weights.min(), strict=True)
    assert sorted(rows) == [([0.0, 1.0], 0, 2.0), ([0.0, 1.0], 1, 1.0), ([2.0, 0.0], 0, 1.0)]
