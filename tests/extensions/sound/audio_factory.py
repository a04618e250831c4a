"""Models for clips of sound, and clips."""

from __future__ import annotations

import numpy as np
from model_factory import model_near, random_model, scaled

from protonn_edge.extensions.sound.features.audio.clips import audio_features
from protonn_edge.extensions.sound.features.audio.frames import BandPass, Frames, mel_bands
from protonn_edge.model.features import Features
from protonn_edge.model.integer_stage import run_through
from protonn_edge.model.model import Model
from protonn_edge.model.statistics import InputStatistics


def audio_of(bands: int, frames: int, length: int, rate: float = 8_000.0) -> Features:
    """Return the stage of some bands by the mel scale whose samples are bytes."""
    return audio_features(Frames(mel_bands(bands, rate), frames, length), rate=rate)


def hearing(stage: Features) -> Features:
    """Return a stage of samples that are counts of an analog input."""
    return scaled(stage, 1.5, 4.0)


def random_clips(seed: int, n: int, stage: Features) -> np.ndarray:
    """Return n clips of bytes, (n, samples): tones that fade, with noise, and extreme ones."""
    rng = np.random.default_rng(seed)
    t, shape = np.arange(stage.points.n_features), (n, 1)
    tones = np.sin(
        np.cumsum(rng.uniform(0.05, 3, shape) + rng.normal(0, 0.02, (n, len(t))), axis=1)
    )
    fading = np.exp(-t * rng.uniform(0, 8, shape) / len(t))
    signals = 128 + rng.uniform(1, 120, shape) * tones * fading + rng.normal(0, 2, (n, len(t)))
    Q = np.clip(signals, 0, 255).astype(np.uint8)
    for row, extreme in enumerate((0 * t, 0 * t + 255, 255 * (t % 2), 255 * (t // 2 % 2))[:n]):
        Q[row] = extreme
    return Q


def loudest(band: BandPass, samples: int) -> np.ndarray:
    """Return the clip of bytes, (samples,), whose last y is as large as that of any clip."""
    weights = np.zeros(samples)
    h = np.zeros(samples)
    known = band.response[:samples]
    h[: len(known)] = known
    for k in range(samples - 1):  # y of the last sample, by each difference
        sign = -1 if band.mirrored and (samples - 1 - k) % 2 else 1
        weights[samples - 1 - k] += sign * h[k]
        weights[max(samples - 3 - k, 0)] -= sign * h[k]
    return np.where(weights > 0, 255, 0)


def extreme_clips(stage: Features) -> np.ndarray:
    """Return silence, square waves of each band's centre, and for each band the loudest clip."""
    t = np.arange(stage.points.n_features)
    waves = [0 * t, 0 * t + 255]
    rate = stage.points.rate
    for band in stage.stages[0].clip.bands:
        turns = band.centre(rate) / rate * (t + 0.5)
        waves.append(255 * (turns % 1 < 0.5))
        last = loudest(band, stage.points.n_features)
        waves += [last, 255 - last]
    return np.array(waves)


def random_audio_model(stage: Features, seed: int = 0) -> Model:
    """Return a float model of clips, else as `random_model` makes one."""
    model = random_model(seed, features=stage.n_outputs, projections=10, prototypes=20)
    features = run_through(stage.stages, random_clips(seed, 60, stage)).astype(np.float64)
    inputs = InputStatistics.of(features).of_whole_numbers(127)
    return model_near(model, stage, features, inputs)
