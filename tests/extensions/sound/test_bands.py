"""Band passes: what 16 bits are proven to hold, is nearly reached, and never exceeded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from extensions.sound.audio_factory import loudest
from refusals import refused_by

from protonn_edge.extensions.sound.features.audio.frames import (
    Y_MAXIMUM,
    BandPass,
    Frames,
    logarithms,
    mel_bands,
)

BANDS = mel_bands(9, 8_000)


def last_values(band: BandPass, clips: np.ndarray) -> np.ndarray:
    """Return the last y of clips of bytes."""
    *_, last = Frames((band,), 4, 128).filtered(clips.astype(np.uint8))
    return last[0]


@pytest.mark.parametrize("band", BANDS)
def test_the_loudest_clips_come_near_the_bound(band: BandPass) -> None:
    clip = loudest(band, 512)
    high, low = last_values(band, np.array([clip, 255 - clip]))
    assert 0.99 * band.most < high <= band.most <= Y_MAXIMUM
    assert -band.most <= low < -0.99 * band.most


@pytest.mark.parametrize("band", BANDS)
def test_no_samples_exceed_the_bound(band: BandPass) -> None:
    rng = np.random.default_rng(0)
    clips = rng.choice([0, 255], (50, 512)).astype(np.uint8)
    for y in Frames((band,), 4, 128).filtered(clips):
        assert np.abs(y).max() <= band.most


@pytest.mark.parametrize("band", BANDS)
def test_a_larger_gain_is_refused(band: BandPass) -> None:
    with refused_by("extensions.sound.features.audio.frames"):
        replace(band, gain=band.gain + 2)


def test_a_band_pass_that_rings_for_ever_is_refused() -> None:
    with refused_by("extensions.sound.features.audio.frames"):
        BandPass(255, 1, 1, mirrored=False)  # it grows


def test_a_number_out_of_range_is_refused() -> None:
    with refused_by("extensions.sound.features.audio.frames"):
        BandPass(100, 0, 1, mirrored=False)


@pytest.mark.parametrize("rate", [2_000, 8_000, 16_000])
def test_a_tone_is_loudest_in_its_own_band(rate: float) -> None:
    bands = mel_bands(6, rate)
    centres = [band.centre(rate) for band in bands]
    assert centres == sorted(centres)
    t = np.arange(512)
    tones = np.array([128 + 100 * np.sin(2 * np.pi * hertz / rate * t) for hertz in centres])
    energies = Frames(bands, 1, 512).energies(tones.astype(np.uint8))
    assert (energies.argmax(axis=1) == np.arange(6)).all()


def test_a_constant_voltage_has_no_energy() -> None:
    constant = np.repeat(np.arange(0, 256, 15)[:, None], 256, axis=1)
    assert not Frames(BANDS, 1, 256).energies(constant.astype(np.uint8)).any()


def test_logarithms_grow_by_sixteen_an_octave() -> None:
    z = np.arange(32, 2**16)
    found = logarithms(z)
    assert (np.diff(found) >= 0).all()
    assert np.abs(found - 16 * np.log2(z)).max() <= 1.7
    assert (found[32 * 1 :][:32] == logarithms(np.arange(64, 96))).all()
