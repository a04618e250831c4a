"""Copies of clips of sound, moved at random: their pitch, and how they sound."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.extensions.sound.features.audio.train.movement import SoundMovement
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.file import model_bytes


def of_sound(clips: np.ndarray, **changed: float) -> np.ndarray:
    """Return copies of clips (n, N) of sound."""
    still = {"shift": 0.0, "speed": 1.0, "gain": 1.0, "noise": 0.0, "equalizer": 0.0}
    movement = SoundMovement(**{**still, **changed})
    shape, generator = (clips.shape[1], 1), np.random.default_rng(0)
    return movement(clips.astype(np.float32), shape, generator)


def spectra(clips: np.ndarray) -> np.ndarray:
    """Return the magnitudes at each frequency of clips (n, N) between their silent ends."""
    return np.abs(np.fft.rfft(clips * np.hanning(clips.shape[1])))


@pytest.mark.parametrize("length", [2048, 1001, 100])
def test_sound_without_movement_stays(length: int) -> None:
    clips = 512 + 300 * np.sin(0.3 * np.arange(length))[None].repeat(3, axis=0)
    np.testing.assert_allclose(of_sound(clips), clips, atol=0.05)


def test_faster_sound_keeps_its_pitch_and_where_it_begins() -> None:
    t = np.arange(4096)
    clips = (512 + 300 * np.sin(0.4 * t) * (t < 2048))[None].repeat(40, axis=0)
    copies = of_sound(clips, speed=1.5) - 512
    ends = [int(np.flatnonzero(np.abs(copy) > 30)[-1]) for copy in copies]
    assert 2048 / 1.5 - 200 < min(ends) < 1600
    assert 2700 < max(ends) < 2048 * 1.5 + 200
    assert all(np.abs(copy[:600]).max() > 100 for copy in copies)
    pitch = spectra(copies).argmax(axis=1) * 2 * np.pi / 4096
    np.testing.assert_allclose(pitch, 0.4, atol=0.03)


def test_the_equalizer_changes_bands_and_neither_time_nor_the_mean() -> None:
    t = np.arange(4096)
    low, high = np.sin(0.1 * t), np.sin(2.5 * t)
    copies = of_sound((512 + 100 * (low + high))[None].repeat(60, axis=0), equalizer=4.0)
    np.testing.assert_allclose(copies.mean(axis=1), 512, atol=2)
    heard = spectra(copies - 512)
    decibels = 20 * np.log10(heard[:, 60:70].max(axis=1) / heard[:, 1620:1640].max(axis=1))
    assert 2 < decibels.std() < 8


def test_clips_of_sound_have_copies_with_noise() -> None:
    t, classes = np.arange(512), np.arange(40) % 2
    tones = 0.5 * np.sin(np.where(classes[:, None], 0.2, 1.5) * t)
    noise = np.random.default_rng(0).normal(0, 0.2, (3, 512))
    made = []
    for settings in ({}, {"copies": 2}, {"copies": 2, "background_noise": noise}):
        classifier = ProtoNNClassifier(random_state=0, epochs=2, features="audio:3x4", **settings)
        made.append(model_bytes(classifier.fit(tones, classes).model_))
    assert len(set(made)) == 3
