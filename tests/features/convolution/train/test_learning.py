"""Small networks that are trained end to end on scikit-learn's digits."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace
from refusals import refused_by
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from protonn_edge.features.convolution.train.learning import (
    NetworkSpec,
    Schedule,
    learned_network,
    untrained_layers,
)
from protonn_edge.features.convolution.train.network import Network
from protonn_edge.features.convolution.train.notation import read_layers
from protonn_edge.features.convolution.train.rounding import Bits
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.pooling.areas import Areas
from protonn_edge.features.pooling.integers import IntegerAveragePooling

WANTED = NetworkSpec(
    (8, 8),
    None,
    PixelScale(0.0, 16 / 255),
    read_layers("6x3,8x3,max2"),
    Bits(4, 8),
    Schedule(8, moved_share=0.5),
)


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    data = load_digits()
    return data.data.astype(np.float32), data.target.astype(np.int64)


def accuracy(wanted: NetworkSpec, digits: tuple[np.ndarray, np.ndarray], seed: int = 0) -> float:
    """Return that of a regression on learned features, for the last third of the points."""
    X, y = digits
    n = 1200
    stages = learned_network(wanted, X[:n], y[:n], None, seed=seed).layers
    x = wanted.to_bytes(X).reshape(len(X), -1)
    for stage in stages:
        x = stage.run(x)
    features = x / np.float64(wanted.bits.maximum)
    head = LogisticRegression(C=10.0, max_iter=2000).fit(features[:n], y[:n])
    return float(head.score(features[n:], y[n:]))


@pytest.mark.parametrize("prototypes", [None, (8, 20)])
def test_features_tell_digits_apart(
    digits: tuple[np.ndarray, np.ndarray], prototypes: tuple[int, int] | None
) -> None:
    assert accuracy(replace(WANTED, prototypes=prototypes), digits) > 0.9


def test_ternary_weights_of_small_values_learn(digits: tuple[np.ndarray, np.ndarray]) -> None:
    assert accuracy(replace(WANTED, bits=Bits(2, 4)), digits) > 0.85


def test_the_same_seed_gives_the_same_network(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    wanted = replace(WANTED, schedule=Schedule(2))
    first, again, other = (
        learned_network(wanted, X[:200], y[:200], None, seed=seed).layers for seed in (1, 1, 2)
    )
    for one, two, three in zip(first[:2], again[:2], other[:2], strict=True):
        np.testing.assert_array_equal(one.weights, two.weights)
        assert (one.weights != three.weights).any()


def test_no_image_moves_in_the_last_passes(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    schedules = Schedule(2, 0.01, 0.0), Schedule(2, still_epochs=2), Schedule(2, still_epochs=1)
    still, none_moved, some = (
        learned_network(replace(WANTED, schedule=each), X[:200], y[:200], None, seed=0).layers[0]
        for each in schedules
    )
    np.testing.assert_array_equal(none_moved.weights, still.weights)
    assert (some.weights != still.weights).any()


def test_weights_of_points_count(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    wanted = replace(WANTED, schedule=Schedule(2))
    weights = np.where(y[:200] < 5, 2.0, 0.0).astype(np.float32)
    (one, *_), (two, *_) = (
        learned_network(wanted, X[:200], y[:200], each, seed=0).layers for each in (None, weights)
    )
    assert (one.weights != two.weights).any()


def test_a_training_that_diverges_is_refused(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    weights = np.full(100, np.inf, np.float32)
    with refused_by("features.convolution.train.learning"):
        learned_network(WANTED, X[:100], y[:100], weights, seed=0)


def test_layers_that_tell_no_images_apart_are_refused(
    digits: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = digits
    same = np.repeat(X[:1], 40, axis=0)
    with refused_by("features.convolution.train.learning"):
        learned_network(WANTED, same, y[:40], None, seed=0)


def test_each_epoch_is_reported(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    losses: list[float] = []

    def keep(epoch: int, loss: float, network: Network) -> None:
        assert epoch == len(losses) + 1
        assert len(network.layers) > 1
        losses.append(loss)

    wanted = replace(WANTED, schedule=Schedule(5))
    learned_network(wanted, X[:400], y[:400], None, seed=0, callback=keep)
    assert len(losses) == 5
    assert losses[-1] < losses[0]


def test_untrained_layers_have_the_shapes_of_trained_ones(
    digits: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = digits
    wanted = replace(
        WANTED,
        averages=IntegerAveragePooling(Areas((8, 8), (6, 8), (3, 4)), 255),
        layouts=read_layers("6x3/2p"),
        schedule=Schedule(1),
    )
    untrained = untrained_layers(wanted)
    trained = learned_network(wanted, X[:100], y[:100], None, seed=0).layers
    assert [stage.output_shape for stage in untrained] == [stage.output_shape for stage in trained]
    assert untrained[0].n_inputs == 12
