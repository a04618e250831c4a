"""Words that nobody recorded: synthetic voices alone, and together with recordings.

`protonn_edge.extensions.sensing.speech` speaks the ten digits with synthesizers of this machine.
Rows:

- ``synthetic``: trained on these takes, tested on all recordings of ``fsdd_audio.npz`` (see
  audio.py), six speakers whom the model has never heard
- ``recorded``: trained on five of these speakers, tested on the sixth; the mean of all six
- ``both``: trained on five of them and on the synthetic takes, tested on the sixth

Accuracies are those of the integer model. Settings were chosen on synthesizers: models of some were
tested on the voices of others.
"""

from __future__ import annotations

import io
import wave
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import audio
import numpy as np
from columns import Record, figure
from runner import Benchmark, Case
from trained import DATA

from protonn_edge.extensions.sensing.speech.synthesizers import installed
from protonn_edge.extensions.sensing.speech.takes import Studio, Vocabulary
from protonn_edge.extensions.sound.onset import onset_of
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SETTINGS: dict[str, Any] = {
    "features": f"{audio.FEATURES},onset:{audio.ONSET}",
    "hidden": "80",
    "input_noise": 0.3,
    "copies": 4,
    "augment": True,
    "epochs": 80,
}
_FIRST_SYNTHETIC = 100  # the number of the first speaker of synthetic takes
_SPEAKERS = 300  # who speak synthetic takes


def spoken_takes(speakers: int, seed: int) -> audio.Spoken:
    """Return synthetic takes; their speakers follow those of the recordings."""
    studio = Studio(tuple(installed()), "en", speakers, 8000, 1.0, seed)
    takes, digits, groups = [], [], []
    for speaker, files in enumerate(studio.takes(Vocabulary(DIGITS))):
        for name, content in files.items():
            with wave.open(io.BytesIO(content)) as file:
                samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
            if onset_of(audio.heard(samples), audio.ONSET) is not None:
                takes.append(np.pad(samples, (0, audio.SAMPLES)))
                digits.append(DIGITS.index(name.partition("/")[0]))
                groups.append(_FIRST_SYNTHETIC + speaker)
    numbers = np.zeros(len(digits), np.int64)
    return audio.Spoken(takes, np.array(digits), np.array(groups), numbers, ())


@cache
def takes() -> tuple[audio.Spoken, audio.Spoken]:
    """Return all recordings, and all synthetic takes."""
    return audio.read_spoken(DATA / audio.FILE), spoken_takes(_SPEAKERS, seed=0)


def accuracies(row: str, seed: int) -> Iterator[float]:
    """Yield the accuracy on each of the recorded speakers, whom the model has not heard."""
    spoken, synthetic = takes()
    alone = _trained(synthetic, seed) if row == "synthetic" else None
    for speaker in range(len(spoken.names)):
        own, others = (spoken.of((spoken.speakers == speaker) == each) for each in (True, False))
        integers = alone or _trained(_both(others, synthetic) if row == "both" else others, seed)
        Q = integers.quantize(own.clips.astype(np.float32))
        yield share_right(integers.predict(Q), own.digits)


def _both(*parts: audio.Spoken) -> audio.Spoken:
    names = ("digits", "speakers", "numbers")
    digits, speakers, numbers = (
        np.concatenate([getattr(part, name) for part in parts]) for name in names
    )
    recordings = [each for part in parts for each in part.recordings]
    return audio.Spoken(recordings, digits, speakers, numbers, parts[0].names)


def _trained(spoken: audio.Spoken, seed: int) -> IntegerChain:
    classifier = DenseClassifier(random_state=seed, **_SETTINGS)
    return quantize(classifier.fit(spoken.clips.astype(np.float32), spoken.digits).to_model())


def measure(case: Case, seeds: Sequence[int]) -> Record:
    """Return the accuracy on new speakers in %, over all seeds."""
    found = 100 * np.array([list(accuracies(case.name, seed)) for seed in seeds])
    worst = float(found.mean(axis=0).min())
    return {"name": case.name, "mean": float(found.mean()), "worst": worst}


BENCHMARKS = {
    "voices": Benchmark(
        "The accuracy on people whom a model has never heard; 300 synthetic speakers.",
        [Case(name, file=audio.FILE) for name in ("synthetic", "recorded", "both")],
        (
            *(figure("trained on", "name"), figure("new people %", "mean", ".1f")),
            figure("worst person %", "worst", ".1f"),
        ),
        measure,
        seeds=3,
    ),
}
