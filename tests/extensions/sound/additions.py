"""What sound adds to tables of the core's tests: models, and random stages with their points."""

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


ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "stored models": {"sound": lambda: random_audio_model(audio_of(3, 2, 128))},
    "exported models": {"audio": lambda: random_audio_model(audio_of(4, 2, 128))},
    "random stages": {"audio": random_stage},
    "largest values of random stages": {"audio": 127},
    "random points": {"audio": random_clips},
}
