"""Where training starts from: normalization, noise, projection, prototypes, gamma."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.learn import initialization
from protonn_edge.learn.initialization import (
    clustered_prototypes,
    discriminant_projection,
    initial_parameters,
    initial_projection,
    median_gamma,
    principal_projection,
    sampled_prototypes,
)
from protonn_edge.learn.noise import neighbour_noise
from protonn_edge.learn.normalization import DEVIATION_FLOOR, normalizer_from
from protonn_edge.model.statistics import InputStatistics, Normalizer


def blobs(seed: int = 0, n: int = 90, D: int = 6, L: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % L
    centres = np.zeros((L, D))
    angles = 2 * np.pi * np.arange(L) / L
    centres[:, :2] = 4 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return (centres[y] + rng.normal(size=(n, D))).astype(np.float32), y


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def fitted_normalizer(kind: str, X: np.ndarray, weights: np.ndarray | None = None) -> Normalizer:
    return normalizer_from(kind, InputStatistics.of(X, weights))


def test_standard_has_zero_mean_and_unit_deviation() -> None:
    X, _ = blobs()
    normalized = fitted_normalizer("standard", X).apply(X)
    np.testing.assert_allclose(normalized.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(normalized.std(axis=0), 1, rtol=1e-5)


def test_standard_does_not_blow_up_what_is_almost_constant() -> None:
    X = np.zeros((10_000, 1), dtype=np.float32)
    X[7] = 255.0
    assert X.std() < 0.02 * 255
    assert fitted_normalizer("standard", X).scale[0] == pytest.approx(1 / (DEVIATION_FLOOR * 255))


@pytest.mark.parametrize("kind", ["standard", "none"])
def test_a_constant_feature_is_only_shifted(kind: str) -> None:
    X, _ = blobs()
    X[:, 3] = 7.0
    normalizer = fitted_normalizer(kind, X)
    assert normalizer.kind == kind
    assert normalizer.scale[3] == 1.0
    assert normalizer.offset[3] == (0.0 if kind == "none" else 7.0)


def test_noise_is_a_tenth_of_the_distance_between_neighbours() -> None:
    grid = np.stack(np.meshgrid(np.arange(10.0), np.arange(10.0)), axis=-1).reshape(-1, 2)
    assert neighbour_noise(grid.astype(np.float32), generator()) == pytest.approx(0.1)


def test_copies_of_a_point_are_not_its_neighbours() -> None:
    grid = np.repeat(np.arange(10.0), 3)[:, None]
    assert neighbour_noise(grid.astype(np.float32), generator()) == pytest.approx(0.1)


def test_equal_points_bear_no_noise() -> None:
    assert neighbour_noise(np.ones((5, 2), dtype=np.float32), generator()) == 0.0


def test_the_first_directions_part_the_classes() -> None:
    X, y = blobs()
    X = X - X.mean(axis=0)
    W = discriminant_projection(X, y, 2)
    P = X @ W.T
    within = sum(P[y == label].var(axis=0) for label in range(3)) / 3
    assert np.all(P.var(axis=0) > 3 * within)


@pytest.mark.parametrize("m", [3, 4, 10, 45])
def test_prototypes_are_shared_by_the_classes(m: int) -> None:
    X, y = blobs()
    B, Z = clustered_prototypes(X[:, :2], y, m, generator())
    assert B.shape == (2, m)
    assert np.array_equal(Z.sum(axis=0), np.ones(m))
    assert set(Z.sum(axis=1)) <= {float(m // 3), float(m // 3 + 1)}


def test_fewer_prototypes_than_classes_stand_for_several() -> None:
    X, y = blobs()
    B, Z = clustered_prototypes(X[:, :2], y, 2, generator())
    assert B.shape == (2, 2)
    np.testing.assert_allclose(Z.sum(axis=0), 1, rtol=1e-6)
    assert np.all(Z.sum(axis=1) > 0)


def test_a_class_of_one_point_gets_all_its_prototypes() -> None:
    X, y = blobs(n=4)
    B, Z = clustered_prototypes(X, y, 12, generator())
    assert np.isfinite(B).all()
    assert Z.sum() == 12
    assert len(np.unique(B, axis=1).T) == 12


def test_gamma_is_the_numerator_over_the_median_distance() -> None:
    P = np.array([[0.0, 0.0], [0.0, 2.0]], dtype=np.float32)
    B = np.array([[3.0], [0.0]], dtype=np.float32)
    expected = 2.5 / np.median([3.0, np.sqrt(13.0)])
    assert median_gamma(P, B, 2.5, generator()) == pytest.approx(expected)


def test_gamma_of_points_on_their_prototypes_is_finite() -> None:
    assert (
        median_gamma(np.zeros((3, 1), np.float32), np.zeros((1, 2), np.float32), 2.5, generator())
        == 2.5
    )


def test_a_constant_feature_has_no_weight_at_the_start() -> None:
    X, y = blobs()
    X[:, 4] = 0.0
    start, gamma = initial_parameters(
        X, y, n_projections=3, n_prototypes=6, gamma_numerator=1.5, generator=generator()
    )
    assert not start.projection[:, 4].any()
    assert start.projection[:, 0].all()
    assert gamma > 0
    assert all(matrix.dtype == np.float32 for matrix in start)


def scattered() -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.normal(size=(200, 4)) * [1, 5, 2, 0.5]).astype(np.float32)


def test_principal_directions_are_those_of_largest_spread() -> None:
    W = principal_projection(scattered(), 2)
    assert np.abs(W).argmax(axis=1).tolist() == [1, 2]
    np.testing.assert_allclose(W @ W.T, np.eye(2), atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "d"), [("gaussian", 3), ("pca", 3), ("lda", 3), ("nca", 3), ("identity", 6)]
)
def test_every_kind_of_projection_has_its_shape(kind: str, d: int) -> None:
    X, y = blobs()
    W = initial_projection(kind, X, y, 3, None, generator())
    assert W.shape == (d, 6)
    assert W.dtype == np.float32
    assert np.linalg.matrix_rank(W) == d


@pytest.mark.parametrize("kind", ["lda", "pca", "nca"])
def test_many_features_of_few_points_take_no_square_matrix(kind: str) -> None:
    X, y = blobs(n=24, D=4_500)
    tracemalloc.start()
    W = initial_projection(kind, X, y, 30, None, generator())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert W.shape == (24, 4_500)
    assert W.dtype == np.float32
    assert peak < 8 * 4_500**2 / 10


def test_directions_among_few_points_are_those_of_all_features(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = blobs(n=15, D=40)
    weights = np.linspace(0.5, 1.5, 15, dtype=np.float32)
    plain = initial_projection("pca", X, y, 4, weights, generator())
    monkeypatch.setattr(initialization, "_FEATURES_SOLVED", 6)
    np.testing.assert_allclose(
        initial_projection("pca", X, y, 4, weights, generator()), plain, atol=1e-4
    )
    values = X @ initial_projection("lda", X, y, 2, None, generator()).T
    means = np.stack([values[y == label].mean(axis=0) for label in range(3)])
    assert (np.abs(values[:, None] - means).sum(axis=2).argmin(axis=1) == y).all()


def test_many_features_of_many_points_start_from_sleec(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs()
    by_sleec = initial_projection("sleec", X, y, 2, None, generator())
    monkeypatch.setattr(initialization, "_POINTS_SOLVED", 5)
    assert np.array_equal(initial_projection("lda", X, y, 2, None, generator()), by_sleec)


def test_a_given_projection_is_copied() -> None:
    X, y = blobs()
    given = np.ones((2, 6), dtype=np.float32)
    W = initial_projection(given, X, y, 5, None, generator())
    assert np.array_equal(W, given)
    assert not np.shares_memory(W, given)


@pytest.mark.parametrize("given", [np.ones((2, 5)), np.ones(6), np.full((2, 6), np.nan)])
def test_a_given_projection_that_does_not_fit_is_refused(given: np.ndarray) -> None:
    X, y = blobs()
    with refused_by("learn.initialization"):
        initial_projection(given.astype(np.float32), X, y, 5, None, generator())


def test_prototypes_of_all_points_share_their_labels() -> None:
    X, y = blobs()
    B, Z = clustered_prototypes(X[:, :2], y, 5, generator(), together=True)
    assert B.shape == (2, 5)
    np.testing.assert_allclose(Z.sum(axis=0), 1, rtol=1e-6)


def test_a_prototype_without_points_stands_for_all_classes() -> None:
    X = np.array([[0.0], [0.0], [1.0], [1.0]], dtype=np.float32)
    _, Z = clustered_prototypes(X, np.array([0, 0, 0, 1]), 3, generator(), together=True)
    np.testing.assert_allclose(Z.sum(axis=0), 1)


@pytest.mark.parametrize("m", [5, 90, 100])
def test_sampled_prototypes_are_points_with_their_classes(m: int) -> None:
    X, y = blobs()
    B, Z = sampled_prototypes(X, y, m, generator())
    assert B.shape == (6, m)
    for prototype, label in zip(B.T, Z.argmax(axis=0), strict=True):
        row = int(np.flatnonzero((prototype == X).all(axis=1))[0])
        assert y[row] == label


def test_points_without_weight_are_not_sampled() -> None:
    X, y = blobs()
    weights = (y == 2).astype(np.float32)
    _, Z = sampled_prototypes(X, y, 10, generator(), weights)
    assert Z[2].sum() == 10


def test_gamma_may_be_given() -> None:
    X, y = blobs()
    _, gamma = initial_parameters(
        X,
        y,
        n_projections=3,
        n_prototypes=6,
        gamma_numerator=1.5,
        generator=generator(),
        gamma=0.25,
    )
    assert gamma == 0.25


def test_weighted_statistics_are_those_of_repeated_features() -> None:
    X, _ = blobs()
    counts = np.random.default_rng(1).integers(1, 4, len(X))
    repeated = np.repeat(X, counts, axis=0)
    weighted = fitted_normalizer("standard", X, (counts / counts.mean()).astype(np.float32))
    plain = fitted_normalizer("standard", repeated)
    np.testing.assert_allclose(weighted.offset, plain.offset, rtol=1e-5)
    np.testing.assert_allclose(weighted.scale, plain.scale, rtol=1e-5)


def one_between(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return two classes with the same mean; the first of six features tells them apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 6)).astype(np.float32)
    X[:, 0] = np.where(y == 1, 0.0, rng.choice([-2.0, 2.0], 300)) + 0.2 * rng.normal(size=300)
    return X, y


def share_of_the_first(W: np.ndarray) -> float:
    return float(np.square(W[:, 0]).sum() / np.square(W).sum())


def test_neighbourhood_components_find_what_means_do_not_show() -> None:
    X, y = one_between()
    assert share_of_the_first(initial_projection("nca", X, y, 2, None, generator())) > 0.8
    assert share_of_the_first(initial_projection("lda", X, y, 2, None, generator())) < 0.5


def test_points_without_weight_do_not_draw_neighbourhood_components() -> None:
    X, y = one_between()
    misleading = np.concatenate([X, np.roll(X, 3, axis=1)])
    weights = np.repeat(np.float32([2.0, 0.0]), len(X))
    W = initial_projection("nca", misleading, np.tile(y, 2), 2, weights, generator())
    assert share_of_the_first(W) > 0.8


def test_neighbourhood_components_of_many_points_come_from_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(initialization, "_NEIGHBOURHOOD_POINTS", 20)
    X, y = blobs(n=300)
    y[7] = 3  # a class of one point
    W = initial_projection("nca", X, y, 3, None, generator())
    again = initial_projection("nca", X, y, 3, None, generator())
    assert W.shape == (3, 6)
    assert np.array_equal(W, again)
