"""Copies of training points, moved at random: how far they move, and who gets them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from protonn_edge.kinds.forest.train import ForestClassifier
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.augmentation import SignalMovement
from protonn_edge.model.file import model_bytes
from protonn_edge.system.errors import InputError

STILL = SignalMovement(0.0, speed=1.0, gain=1.0, noise=0.0)


def signals(seed: int = 0) -> np.ndarray:
    """Return 40 windows of 32 samples of 2 channels."""
    generator = np.random.default_rng(seed)
    steps = generator.normal(0, 1, (40, 32, 2))
    return steps.cumsum(axis=1).reshape(40, 64).astype(np.float32)


def moved(movement: SignalMovement, points: np.ndarray, seed: int = 0) -> np.ndarray:
    return movement(points, (32, 2), np.random.default_rng(seed)).reshape(-1, 32, 2)


def test_a_shifted_ramp_is_early_or_late_and_ends_as_it_did() -> None:
    ramp = np.repeat(np.arange(32.0), 2)[None].repeat(50, axis=0).astype(np.float32)
    copies = moved(SignalMovement(0.25, speed=1.0, gain=1.0, noise=0.0), ramp)
    shift = copies[:, 16, 0] - 16
    assert shift.min() < -4
    assert shift.max() > 4
    assert np.abs(shift).max() <= 8
    later = copies[shift < -1]
    np.testing.assert_allclose(later[:, 0], 0, atol=1e-4)  # the first sample, repeated


def test_a_faster_ramp_is_steeper_by_at_most_the_factor() -> None:
    ramp = np.repeat(np.arange(32.0), 2)[None].repeat(50, axis=0).astype(np.float32)
    copies = moved(SignalMovement(0.0, speed=1.25, gain=1.0, noise=0.0), ramp)
    slopes = copies[:, 18, 0] - copies[:, 17, 0]
    assert 0.8 - 1e-4 <= slopes.min() < 0.9
    assert 1.1 < slopes.max() <= 1.25 + 1e-4


def test_a_gain_is_of_each_channel_around_its_mean() -> None:
    points = signals()
    still = points.reshape(-1, 32, 2)
    copies = moved(SignalMovement(0.0, speed=1.0, gain=1.1, noise=0.0), points)
    inside = (copies > still.min((0, 1))) & (copies < still.max((0, 1)))
    gains = (copies - still.mean(1, keepdims=True)) / (still - still.mean(1, keepdims=True))
    assert np.all((gains[inside] > 1 / 1.1 - 1e-2) & (gains[inside] < 1.1 + 1e-2))
    assert not np.allclose(gains[:, 0, 0], gains[:, 0, 1])


def test_values_stay_in_the_range_of_their_channel() -> None:
    points = signals()
    points[:, ::2] *= 100  # one channel
    copies = moved(SignalMovement(0.2, speed=1.5, gain=2.0, noise=1.0), points)
    still = points.reshape(-1, 32, 2)
    assert np.all(copies >= still.min((0, 1)))
    assert np.all(copies <= still.max((0, 1)))


def test_noise_is_added_at_random_gains_without_its_mean() -> None:
    points = np.zeros((200, 64), np.float32)
    points[:2] = [[-9.0], [9.0]]  # the range of the channels
    alternating = np.tile(np.float32([6.0, 104.0, 4.0, 96.0]), 16)[None]  # deviations 1 and 4
    generator = np.random.default_rng(0)
    copies = STILL(points, (32, 2), generator, alternating).reshape(-1, 32, 2)[2:]
    assert np.allclose(copies.mean(axis=1), 0, atol=1e-5)
    assert np.allclose(np.abs(copies[..., 1]), 4 * np.abs(copies[..., 0]), atol=1e-4)
    gains = np.abs(copies[:, 0, 0])
    assert 0 <= gains.min() < 0.1
    assert 0.9 < gains.max() <= 1
    assert 0.3 < (copies[:, 0, 0] > 0).mean() < 0.7  # it begins anywhere


WINDOWS: dict[str, Any] = {"features": "mean,deviation,change", "window_shape": (32, 2)}
CLASSES = np.arange(40) % 2


def fitted(kind: type = ProtoNNClassifier, **settings: Any) -> Any:
    given = {"random_state": 0, **WINDOWS, **settings}
    if kind is ProtoNNClassifier:
        given |= {"epochs": 2}
    return kind(**given).fit(signals(), CLASSES)


@pytest.mark.parametrize("kind", [ProtoNNClassifier, ForestClassifier])
def test_copies_are_trained_with_and_repeatable(kind: type) -> None:
    first, again, none = (fitted(kind, copies=n).model_ for n in (2, 2, 0))
    assert model_bytes(first) == model_bytes(again)
    assert model_bytes(first) != model_bytes(none)


@pytest.mark.parametrize("features", ["pool:4x4", None])
def test_copies_of_images_are_moved_as_images(features: str | None) -> None:
    settings: dict[str, Any] = {"image_shape": (8, 8), "window_shape": None, "features": features}
    first, none = (fitted(ForestClassifier, copies=n, **settings).model_ for n in (3, 0))
    assert model_bytes(first) != model_bytes(none)


def test_copies_beyond_the_limit_of_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protonn_edge.learn.added_points._COPIES_LIMIT", 10_000)
    with pytest.raises(InputError, match=r"2 copies of the points need 20,480 B of memory"):
        fitted(copies=2)
