"""The stage of sound: its part of a model file, the scales of samples, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audio_factory import audio_of, random_audio_model

from protonn_edge.chain.file import load_model, model_bytes, save_model
from protonn_edge.errors import InputError
from protonn_edge.features.audio.stage import AudioStage
from protonn_edge.quantization import quantize


def test_a_model_of_sound_is_read_as_it_was(tmp_path: Path) -> None:
    stage = replace(audio_of(3, 2, 128, 11_025.0), onset=9, zero=1.5, step=4.0)
    model = random_audio_model(stage)
    save_model(model, tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert loaded.feature_stage == stage
    assert (loaded.n_features, loaded.n_inputs) == (256, 6)
    assert model_bytes(loaded) == model_bytes(model)


def declared(**changes: Any) -> dict[str, np.ndarray]:
    """Return the array of a stage with other numbers in it."""
    text = audio_of(2, 3, 128).to_arrays()["audio"].tobytes()
    changed = json.loads(text) | changes
    return {"audio": np.frombuffer(json.dumps(changed).encode(), np.uint8)}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"more": 1}, "'audio' does not declare"),
        ({"length": 128.0}, "'audio' does not declare"),
        ({"bands": [[1, 2, 3]]}, "'audio' does not declare"),
        ({"bands": [[100, 100, 1, 0]]}, "'audio' does not declare"),
        ({"bands": [[100, 100, 255, False]]}, "the limit is 32,767"),
        ({"bands": [[100, 100, 1, True], [100, 100, 1, False]]}, "bands of sound must come last"),
        ({"bands": []}, "has 0 bands, but the limits are 1 and 16"),
        ({"length": 127}, "has 127 samples per frame, but the limits are 128 and 512"),
        ({"length": 513}, "has 513 samples per frame"),
        ({"frames": 0}, "has 0 frames"),
        ({"frames": 513}, "has 513 frames, but the limits are 1 and 512"),
        ({"frames": 508, "length": 128}, "has 65,024 samples, but the limits are 1 and 65,000"),
        ({"step": 0.0}, "the step 0, but both must be at most 3.4e"),
        ({"step": 1e300}, "the step 1e"),
        ({"rate": 1e6}, r"is 1e\+06 Hz, but the limits"),
        ({"onset": 0}, "onset threshold is 0; give 1 to 254"),
    ],
)
def test_a_declaration_that_is_none_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        AudioStage.from_arrays(declared(**changes))


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (np.arange(256), np.arange(256)),
        (np.arange(1024), np.arange(1024) // 4),
        (np.arange(-32768, 32768), np.arange(65536) // 256),
        (np.linspace(-1, 1, 257), np.minimum(np.arange(257), 255)),
        (np.arange(256) * 1e3 - 40_000, np.arange(256)),
    ],
    ids=["bytes", "counts of 10 bits", "16 bits", "shares", "others"],
)
def test_samples_keep_their_full_scale(samples: np.ndarray, expected: np.ndarray) -> None:
    points = np.resize(samples, (2, 128)).astype(np.float64)
    points[0, :2] = samples.min(), samples.max()
    stage = AudioStage.fitted(1, 1, points)
    assert (stage.to_bytes(samples) == expected).all()


def test_frames_must_be_whole() -> None:
    with pytest.raises(InputError, match="clips of 299 samples cannot be divided into 2"):
        AudioStage.fitted(4, 2, np.zeros((1, 299)))


def test_features_that_are_changed_are_refused() -> None:
    model = quantize(random_audio_model(audio_of(2, 1, 128)))
    stage = model.feature_stage
    assert stage is not None
    with pytest.raises(InputError, match="rescales energies of sound of 0 to 127"):
        stage.integer_stages(replace(model.inputs, maximum=100))


def test_apply_gives_what_the_integer_stage_gives() -> None:
    stage = replace(audio_of(3, 2, 128), zero=-32640.5, step=256.0)
    X = np.random.default_rng(0).normal(0, 9_000, (4, 256)).round().astype(np.float32)
    features = stage.apply(X)
    assert features.dtype == np.float32
    (integers,) = stage.integer_stages(quantize(random_audio_model(stage)).inputs)
    assert (features == integers.run(stage.to_bytes(X))).all()
