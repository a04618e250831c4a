"""The stage of sound: its part of a model file, the scales of samples, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from extensions.sound.audio_factory import audio_of, random_audio_model
from model_factory import scaled
from refusals import refused_by
from stored_features import from_arrays, to_arrays

from protonn_edge.extensions.sound.features.audio.clips import fitted_to
from protonn_edge.model.features import feeding
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError


def declared(place: str, **changes: Any) -> dict[str, np.ndarray]:
    """Return the arrays of features with other numbers in them."""
    arrays = to_arrays(audio_of(2, 3, 128))
    text = json.loads(arrays["features"].tobytes())
    part = {"points": text["points"], "clip": text["stages"][0]["clip"], "stage": text["stages"][0]}
    part[place] |= changes
    return arrays | {"features": np.frombuffer(json.dumps(text).encode(), np.uint8)}


@pytest.mark.parametrize(
    ("place", "changes"),
    [
        ("clip", {"bands": []}),
        ("clip", {"length": 127}),
        ("clip", {"length": 513}),
        ("clip", {"frames": 0}),
        ("clip", {"frames": 513}),
        ("clip", {"frames": 508}),
        ("points", {"rate": 10000000.0}),
        ("stage", {"onset": 0}),
    ],
)
def test_a_declaration_that_is_none_is_refused(place: str, changes: dict[str, Any]) -> None:
    with refused_by(
        "model.signals",
        "model.registry",
        "model.stored",
        "extensions.sound.onset",
        "extensions.sound.features.audio.frames",
    ):
        from_arrays(declared(place, **changes))


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
    stage = fitted_to(points, 1, 1)
    assert (stage.points.to_bytes(samples) == expected).all()


def test_frames_must_be_whole() -> None:
    with refused_by("extensions.sound.features.audio.clips"):
        fitted_to(np.zeros((1, 299)), 4, 2)


def test_features_that_are_changed_are_refused() -> None:
    model = quantize(random_audio_model(audio_of(2, 1, 128)))
    stage = model.features
    assert stage is not None
    with pytest.raises(InputError, match="rescales values of 0 to 127"):
        feeding(stage, replace(model.inputs, maximum=100))


def test_apply_gives_what_the_integer_stage_gives() -> None:
    stage = scaled(audio_of(3, 2, 128), -32640.5, 256.0)
    X = np.random.default_rng(0).normal(0, 9_000, (4, 256)).round().astype(np.float32)
    features = stage.apply(X)
    assert features.dtype == np.float32
    (integers,) = feeding(stage, quantize(random_audio_model(stage)).inputs)
    assert (features == integers.run(stage.points.to_bytes(X))).all()
