"""Every kind of classifier learns from energies of sound; a device computes what it learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from avr_tools import skip_without
from extensions.sound.audio_factory import audio_of, random_audio_model
from generated_programs import assert_equal_to_reference
from refusals import refused_by

from protonn_edge.chips.cores import CORES
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import Limits, make_plan
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.learn.features import FeatureData
from protonn_edge.model.quantization import quantize

_BRIEF = {"epochs": 40, "n_trees": 5, "depth": 2}
_OF_SOUND = [kind for name, kind in CLASSIFIERS.items() if name != "basis-images"]


def recorded(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return clips of two frames, (n, 256), of three tones, in 16 bits."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    turns = np.array([0.3, 1.0, 2.2])[y, None] * rng.uniform(0.9, 1.1, (n, 1))
    waves = rng.uniform(3_000, 20_000, (n, 1)) * np.sin(turns * np.arange(256))
    return np.rint(waves + rng.normal(0, 300, waves.shape)), y


X, Y = recorded()


@pytest.mark.parametrize("kind", _OF_SOUND)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_kind_learns_sounds(kind: Any) -> None:
    skip_without("cc")
    known = kind().get_params()
    settings = {name: value for name, value in _BRIEF.items() if name in known}
    classifier = kind(features="audio:4x2", random_state=0, **settings).fit(X, Y)
    integers = quantize(classifier.to_model())
    new, labels = recorded(seed=1)
    Q = integers.quantize(new)
    assert (integers.predict(Q) == labels).mean() > 0.9
    with host_program(integers, sanitize=True) as program:
        assert_equal_to_reference(program, integers, Q[:12])


@pytest.mark.parametrize(
    "settings",
    [
        {"features": "audio"},
        {"features": "audio:4"},
        {"features": "audio:4x2,mean"},
        {"features": "audio:17x2"},
        {"features": "audio:4x3"},
        {"features": "audio:4x4"},
        {"features": "audio:4x2", "sample_rate": 50.0},
    ],
)
def test_what_is_no_sound_is_refused(settings: dict[str, Any]) -> None:
    with refused_by(
        "extensions.sound.features.audio.clips",
        "extensions.sound.features.audio.frames",
        "learn.features",
    ):
        ProtoNNClassifier(**settings).fit(X, Y)


def test_the_rate_decides_on_the_bands() -> None:
    fast, slow = (
        ProtoNNClassifier(features="audio:3x2", sample_rate=rate).features_for(FeatureData(X))
        for rate in (16_000.0, 4_000.0)
    )
    assert fast != slow
    assert fast.points.rate == 16_000.0


def test_a_chip_without_a_multiplier_has_an_estimate() -> None:
    plan = make_plan(quantize(random_audio_model(audio_of(2, 1, 128))), Limits(core=CORES["avr25"]))
    assert plan.cycles is None
    assert plan.buffered
