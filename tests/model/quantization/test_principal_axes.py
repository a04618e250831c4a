"""Turning W and B together keeps all distances, and far prototypes show themselves earlier."""

from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of, replace
from model_factory import random_model, random_points

from protonn_edge.kinds.protonn.axes import principal_axes
from protonn_edge.kinds.protonn.quantize import far_coordinates_first, quantize


@pytest.mark.parametrize("d", [1, 2, 7, 30])
def test_axes_are_orthogonal_and_uncorrelated(d: int) -> None:
    points = random_points(d, 200, d).T
    axes = principal_axes(points)
    np.testing.assert_allclose(axes @ axes.T, np.eye(d), atol=1e-12)
    covariance = np.atleast_2d(np.cov(axes @ points))
    off = covariance - np.diag(np.diag(covariance))
    assert np.abs(off).max() <= 1e-6 * np.abs(covariance).max()


def test_scores_stay_and_the_widest_coordinates_come_first() -> None:
    model = random_model(projections=8, prototypes=30)
    turned = far_coordinates_first(model.head)
    X = random_points(1, 50, model.n_features)
    np.testing.assert_allclose(
        replace(model, head=turned).scores(X), model.scores(X), rtol=1e-4, atol=1e-5
    )
    spread = turned.prototypes.std(axis=1)
    assert (np.diff(spread) <= 0).all()
    assert spread[0] >= model.head.prototypes.std(axis=1).max()


def test_a_sparse_projection_stays_sparse() -> None:
    model = random_model(projections=6)
    W = model.head.projection * (np.arange(model.n_features) % 3 == np.arange(6)[:, None] % 3)
    sparse = replace(model, projection=W.astype(np.float32))
    turned = far_coordinates_first(sparse.head)
    assert np.count_nonzero(turned.projection) == np.count_nonzero(W)
    assert sorted(map(tuple, turned.projection)) == sorted(map(tuple, sparse.head.projection))


def test_features_without_weight_do_not_keep_a_projection_from_being_turned() -> None:
    model = random_model(projections=6)
    W = model.head.projection * (np.arange(model.n_features) != 3)
    turned = far_coordinates_first(replace(model.head, projection=W.astype(np.float32)))
    assert (turned.projection[:, 3] == 0).all()
    assert np.count_nonzero(turned.projection) == np.count_nonzero(W)
    assert not np.isin(turned.projection, W).all()


def test_axes_that_would_need_coarser_steps_are_not_taken() -> None:
    """One prototype far off in all coordinates is farther off along an axis."""
    model = random_model(2, features=20, prototypes=30)
    outlier = model.head.prototypes.mean(axis=1, keepdims=True) + 40
    far = replace(
        model,
        prototypes=np.append(model.head.prototypes, outlier, axis=1).astype(np.float32),
        labels=np.append(model.head.labels, np.ones((4, 1)), axis=1).astype(np.float32),
    )
    assert np.isin(far_coordinates_first(far.head).projection, far.head.projection).all()
    assert numbers_of(quantize(far))["distance_shift"] == 2


def test_next_to_no_covariance_turns_nothing() -> None:
    points = np.array([[1.0, -1.0, 0.0, 0.0], [1e-170, 0.0, 0.0, 0.0]])
    assert np.allclose(principal_axes(points), np.eye(2))
