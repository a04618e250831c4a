"""Clips of sound: their features, with bands for their rate."""

from __future__ import annotations

import math

import numpy as np

from protonn_edge.extensions.sound.features.audio.frames import Frames, mel_bands
from protonn_edge.extensions.sound.features.audio.integers import IntegerAudio
from protonn_edge.model.features import Features
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.model.point_format import PointFormat
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InvalidValue

RATES = (1_000.0, 20_000.0)  # the range of samples per second
DEFAULT_RATE = 8_000.0

# Usual ranges of samples, smallest first: from, to, and units per step of a byte. They are bytes,
# counts of a 10-bit ADC, and samples of WAV files as integers or as fractions of the full scale.
_FULL_SCALES = (
    (-1.0, 1.0, 1 / 128),
    (0.0, 255.0, 1.0),
    (0.0, 1023.0, 4.0),
    (-32768.0, 32767.0, 256.0),
)


def audio_features(
    clip: Frames,
    zero: float = 0.0,
    step: float = 1.0,
    rate: float = DEFAULT_RATE,
    level: int = 4,
) -> Features:
    """Return the features of clips whose raw samples are `zero` and, above it, steps of a byte.

    - `rate`: samples per second, within `RATES`, for which the bands were chosen.
    - `level`: the mean difference, in steps of a byte, above which a clip begins.
    """
    check_rate(rate)
    scale = InputQuantizer(np.array([zero]), np.array([step]), BYTE_MAXIMUM)
    points = PointFormat(scale, (clip.n_features, 1), True, float(rate), True)
    return Features(points, (IntegerAudio(clip, level),))


def fitted_to(
    X: Array, bands: int, frames: int, rate: float = DEFAULT_RATE, level: int = 4
) -> Features:
    """Return the features of bands spaced by the mel scale, fitted to the full scale of clips.

    - `X` (n, samples), n >= 1: raw clips, finite: bytes, counts 0..1023 of an ADC, 16-bit
      integers, or -1..1; for others, the full scale is the range of samples.

    Raises `InputError` if the samples do not fill whole frames, or a number is out of its range.
    """
    samples = math.prod(X.shape[1:])
    fits = 1 <= frames <= samples and samples % frames == 0
    check(fits, "frames", frames, f"a divisor of {samples:,} samples")
    check_rate(rate)
    zero, step = full_scale(float(X.min()), float(X.max()))
    clip = Frames(mel_bands(bands, rate), frames, samples // frames)
    return audio_features(clip, zero, step, float(rate), level)


def check_rate(rate: float) -> None:
    """Refuse rates for which no bands can be chosen."""
    slowest, fastest = RATES
    if not slowest <= rate <= fastest:
        raise InvalidValue(
            "sampling rate of the sound",
            f"{rate:,g} Hz, expected {slowest:,g} to {fastest:,g} Hz",
            "record the sound at 8,000 Hz, or resample it",
        )


def full_scale(least: float, most: float) -> tuple[float, float]:
    """Return zero and step for samples in a range; for integers, zero is a multiple of the step."""
    for low, high, step in _FULL_SCALES:
        if low <= least <= most <= high:
            return low + max(0.0, step - 1) / 2, step
    extent = most - least
    return least, extent / BYTE_MAXIMUM if extent > 0 else 1.0
