"""What sound adds to tables of the core's tests: models, random stages, and points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from extensions.sound.audio_factory import audio_of, random_audio_model, random_clips

from protonn_edge.model.features import Features


def random_stage(rng: np.random.Generator) -> tuple[Features, int]:
    """Return a stage of random sizes, and the number of its values."""
    stage = audio_of(int(rng.integers(1, 14)), int(rng.integers(1, 5)), int(rng.integers(128, 200)))
    return stage, stage.n_outputs


def tones(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return clips (n, 1024, 1) of an analog input at 8 kHz, and their pitch in hertz."""
    rng = np.random.default_rng(0)
    hertz = rng.uniform(300, 2500, n)
    angle = 2 * np.pi * hertz[:, None] * np.arange(1024) / 8000 + rng.uniform(0, 6, (n, 1))
    counts = 512 + rng.uniform(60, 200, (n, 1)) * np.sin(angle) + rng.normal(0, 4, angle.shape)
    return np.rint(counts)[:, :, None], hertz


ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "stored models": {"sound": lambda: random_audio_model(audio_of(3, 2, 128))},
    "exported models": {"audio": lambda: random_audio_model(audio_of(4, 2, 128))},
    "random stages": {"audio": random_stage},
    "largest values of random stages": {"audio": 127},
    "random points": {"audio": random_clips},
    "numbers of features": {"sound": (tones, 8000.0, ("--features", "audio:8x4"))},
}
