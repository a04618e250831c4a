"""What copies of sounds are worth on speakers who were not recorded.

Networks learn the spoken digits of five speakers (see audio.py), without copies and with copies as
`train --copies` makes them, and are tested, in integers, on all recordings of the sixth one. Copies
are the same for all speakers and seeds, so that their features are computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import audio
import numpy as np
from columns import Record, figure
from numpy.typing import NDArray
from runner import Benchmark, Case
from trained import DATA

from protonn_edge.extensions.sound.features.audio.clips import fitted_to
from protonn_edge.extensions.sound.features.audio.train.request import AudioRequest
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.integer_stage import run_through
from protonn_edge.model.quantization import quantize

_SETTINGS: dict[str, Any] = {"hidden": "40", "input_noise": 0.3}
_EPOCHS = 108  # divided by one more than the copies: always the same number of steps
_SEED_OF_COPIES = 5
_FULL_SCALE = np.array([[-32768.0], [32767.0]]).repeat(audio.SAMPLES, axis=1)

Bytes = NDArray[np.uint8]


def features_of(spoken: audio.Spoken, copies: int) -> list[Bytes]:
    """Return the features (n, D) of the clips, and of each of their copies."""
    clips, generator = spoken.clips, np.random.default_rng(_SEED_OF_COPIES)
    bands, frames = map(int, audio.FEATURES.partition(":")[2].split("x"))
    stage = fitted_to(_FULL_SCALE, bands, frames)
    signals, shape = clips.astype(np.float32), (audio.SAMPLES, 1)
    made = [clips]
    for _ in range(copies):
        moved = AudioRequest.movement(signals, shape, generator)
        made.append(np.rint(moved).astype(np.int16))
    return [run_through(stage.stages, audio.heard(each)) for each in made]


def without(spoken: audio.Spoken, features: list[Bytes], speaker: int, seed: int) -> float:
    """Return the accuracy on a speaker of a network of the others."""
    own = spoken.speakers == speaker
    X = np.concatenate([each[~own] for each in features]).astype(np.float32)
    classifier = DenseClassifier(
        random_state=seed, epochs=_EPOCHS // len(features), **_SETTINGS
    ).fit(X, np.tile(spoken.digits[~own], len(features)))
    integers = quantize(classifier.to_model())
    Q = integers.quantize(features[0][own].astype(np.float32))
    return share_right(integers.predict(Q), spoken.digits[own])


def measure(case: Case, seeds: Sequence[int]) -> Record:
    """Return the accuracy on each speaker in %, the mean of all seeds."""
    spoken = audio.read_spoken(DATA / case.file)
    features = features_of(spoken, case.given)
    means = [
        100 * float(np.mean([without(spoken, features, speaker, seed) for seed in seeds]))
        for speaker in range(len(spoken.names))
    ]
    return {"copies": case.given, "mean": float(np.mean(means)), "worst": min(means)}


BENCHMARKS = {
    "speakers": Benchmark(
        "The accuracy on speakers who were not recorded, without and with copies of clips.",
        [Case(f"{copies} copies", copies, audio.FILE) for copies in (0, 8)],
        (
            *(figure("copies", "copies"), figure("mean %", "mean", ".1f")),
            figure("worst speaker %", "worst", ".1f"),
        ),
        measure,
        seeds=3,
    ),
}
