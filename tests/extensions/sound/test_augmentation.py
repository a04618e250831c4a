"""Sounds of other voices, made during training by moving features along the bands and in time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.extensions.sound.features.audio.train.augmentation import SoundAugmentation
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier

FRAMES, BANDS = 20, 12


def moved(sounds: np.ndarray, share: float = 1.0) -> np.ndarray:
    """Return sounds (n, frames, bands) as they are in a step."""
    n, *shape = sounds.shape
    X = sounds.reshape(n, -1).astype(np.float32)
    augmentation = SoundAugmentation((shape[0], shape[1]), share)
    step = augmentation(X.copy(), np.arange(n), np.random.default_rng(1))
    return step.reshape(sounds.shape)


def test_each_sound_moves_within_its_own_values() -> None:
    sounds = np.random.default_rng(0).uniform(0, 127, (50, FRAMES, BANDS))
    after = moved(sounds)
    assert (after != sounds.astype(np.float32)).any(axis=(1, 2)).all()
    assert (after.max(axis=(1, 2)) <= sounds.max(axis=(1, 2)) + 1e-4).all()
    assert (after.min(axis=(1, 2)) >= sounds.min(axis=(1, 2)) - 1e-4).all()


def test_frequencies_move_by_at_most_half_a_band_all_in_one_direction() -> None:
    rise = np.broadcast_to(np.arange(BANDS), (200, FRAMES, BANDS))
    shifts = (moved(rise) - rise)[:, :, 1:-1]
    assert np.abs(shifts).max() <= 0.5
    assert shifts.min() < -0.4 < 0.4 < shifts.max()
    assert np.ptp(shifts, axis=(1, 2)).max() < 1e-5


def test_a_sound_begins_where_it_did_and_its_parts_have_speeds_of_their_own() -> None:
    times = np.broadcast_to(np.arange(FRAMES)[:, None], (200, FRAMES, BANDS))
    after = moved(times)[:, :, 0]
    speeds = np.diff(after, axis=1)
    assert not after[:, 0].any()
    assert (speeds >= -1e-5).all()
    assert speeds.max() < 1.23
    inner = speeds[:, :10]  # no sound has ended by then
    assert inner.min() > 0.8
    assert (np.ptp(inner, axis=1) > 0.01).mean() > 0.9


def test_a_share_of_the_sounds_moves() -> None:
    sounds = np.random.default_rng(0).uniform(0, 127, (400, FRAMES, BANDS)).astype(np.float32)
    changed = (moved(sounds, 0.25) != sounds).any(axis=(1, 2))
    assert 0.15 < changed.mean() < 0.35
    assert np.array_equal(moved(sounds, 1e-9), sounds)


def test_sounds_of_one_frame_or_one_band_move_as_far_as_they_can() -> None:
    for shape in ((1, 1), (1, 5), (5, 1)):
        sounds = np.random.default_rng(0).uniform(0, 127, (9, *shape)).astype(np.float32)
        assert moved(sounds).shape == sounds.shape
    assert np.array_equal(moved(np.ones((3, 1, 1))), np.ones((3, 1, 1)))


def tones(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Return clips (n, 256) of three tones, in 16 bits."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    turns = np.array([0.3, 1.0, 2.2])[y, None] * rng.uniform(0.9, 1.1, (n, 1))
    return np.rint(9_000 * np.sin(turns * np.arange(256)) + rng.normal(0, 300, (n, 256))), y


@pytest.mark.parametrize("kind", [DenseClassifier, ProtoNNClassifier])
def test_models_learn_from_moved_sounds(kind: Any) -> None:
    X, y = tones()
    fitted = [
        kind(features="audio:4x2", augment=augment, epochs=30, random_state=0).fit(X, y)
        for augment in (False, True)
    ]
    assert fitted[1].score(X, y) > 0.9
    still, moving = (each.decision_function(X) for each in fitted)
    assert not np.allclose(still, moving)


def test_networks_move_images_too_but_no_other_points() -> None:
    X, y = np.random.default_rng(0).uniform(0, 9, (60, 64)), np.arange(60) % 2
    DenseClassifier(augment=True, image_shape=(8, 8), epochs=2).fit(X, y)
    with refused_by("learn.training_request"):
        DenseClassifier(augment=True, epochs=2).fit(X, y)
