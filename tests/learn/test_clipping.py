"""`clip="auto"` chooses a share of outliers by held-out points, where steps are few for most."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons

from protonn_edge import LinearClassifier
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.kinds.linear.value.train import LinearRegressor
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.clipping import CHOICE, have_few_steps
from protonn_edge.model.file import model_bytes
from protonn_edge.model.quantization import quantize

KINDS: list[Any] = [
    partial(ProtoNNClassifier, epochs=30),
    LinearClassifier,
    partial(DenseClassifier, epochs=30),
]


def skewed(seed: int = 0, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    Z = np.random.default_rng(seed).normal(size=(n, 3))
    return (np.sign(Z) * np.expm1(2.5 * np.abs(Z))).astype(np.float32), (
        Z[:, 0] + Z[:, 1] > 0
    ).astype(int)


def right(classifier: Any, X: np.ndarray, y: np.ndarray) -> float:
    integers = quantize(classifier.model_)
    return float(np.mean(integers.predict(integers.quantize(X)) == y))


@pytest.mark.parametrize("kind", KINDS)
def test_skewed_features_are_clipped_where_that_is_better(kind: Any) -> None:
    X, y = skewed()
    new = skewed(seed=1)
    auto, never = (kind(clip=clip, random_state=0).fit(X, y) for clip in ("auto", 0.0))
    assert auto.clip_.share > 0
    assert auto.clip_.accuracy > auto.clip_.without
    assert f"chose {auto.clip_.share:g}" in str(auto.clip_)
    assert right(auto, *new) > right(never, *new) + 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_the_chosen_share_gives_the_model_that_it_gives_when_given(kind: Any) -> None:
    X, y = skewed()
    auto = kind(random_state=0).fit(X, y)
    given = kind(random_state=0, clip=auto.clip_.share).fit(X, y)
    assert model_bytes(auto.model_) == model_bytes(given.model_)
    assert auto.get_params()["clip"] == "auto"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("points", [load_iris(return_X_y=True), make_moons(200, random_state=0)])
def test_other_points_give_the_model_without_clipping_and_no_trials(kind: Any, points: Any) -> None:
    auto, never = (kind(clip=clip, random_state=0).fit(*points) for clip in ("auto", 0.0))
    assert auto.clip_ is None
    assert model_bytes(auto.model_) == model_bytes(never.model_)


def test_rare_values_that_decide_are_kept() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2)).astype(np.float32)
    X[:, 1] = X[:, 0] > 0
    rare = np.arange(600) % 30 == 0
    X[rare, 0] = np.where(np.arange(600) % 60 == 0, 500, 1_000)[rare]
    y = np.where(rare, 2 + (X[:, 0] > 700), X[:, 1]).astype(int)
    classifier = LinearClassifier(random_state=0, max_iterations=100, tolerance=0.05).fit(X, y)
    assert classifier.clip_.share == 0
    assert "chose 0" in str(classifier.clip_)


def test_steps_are_few_only_where_values_share_them() -> None:
    X, _ = skewed()
    assert have_few_steps(X)
    assert have_few_steps(X * 1e-20 + 5e-20)
    assert not have_few_steps(np.arcsinh(X))
    counts = np.where(np.arange(600) % 50 == 0, 200, np.arange(600) % 3)[:, None]
    assert not have_few_steps(counts.astype(np.float32))  # each has a step of its own
    pixels = np.where(np.arange(600) % 30 == 0, np.arange(600), 0)[:, None]
    assert not have_few_steps(pixels.astype(np.float32))
    assert not have_few_steps(np.ones((1, 1), np.float32))


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_few_points_are_not_held_out(n: int) -> None:
    X, y = skewed(n=400)
    rows = np.concatenate([np.flatnonzero(y == label)[:n] for label in (0, 1)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LinearClassifier(random_state=0).fit(X[rows], y[rows])


def test_numbers_are_not_clipped() -> None:
    X, _ = skewed()
    regressor = LinearRegressor(random_state=0).fit(X, np.arcsinh(X[:, 0]))
    assert regressor.clip_ is None
    assert not regressor.model_.clipped


def test_a_repeated_point_chooses_as_a_weight_of_two() -> None:
    X, y = skewed(n=300)
    twice = LinearClassifier(random_state=0).fit(np.vstack([X, X]), np.append(y, y))
    weighted = LinearClassifier(random_state=0).fit(X, y, sample_weight=np.full(300, 2.0))
    assert twice.clip_ == weighted.clip_


def test_a_share_up_to_a_tenth_is_taken_where_it_is_far_better() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=800)
    X = rng.normal(0, 1.2, (4, 8))[y] + 0.7 * rng.standard_t(1.5, (800, 8))
    chosen = LinearClassifier(random_state=0).fit(X.astype(np.float32), y).clip_
    assert chosen.share > 0.01
    assert chosen.n == 800  # each point is held out once


def test_a_lead_of_less_than_two_points_leaves_all_values() -> None:
    assert CHOICE.taken([(0.0, wrong(300)), (0.1, wrong(282))]) == 0.0
    assert CHOICE.taken([(0.0, wrong(300)), (0.1, wrong(278))]) == 0.1


def wrong(errors: int, n: int = 1_000) -> np.ndarray:
    return np.arange(n) < errors
