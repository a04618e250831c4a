"""Words that nobody recorded: synthetic voices alone, and together with recordings.

    python benchmarks/voices.py [--only NAME] [--speakers N] [--seeds N] [--json]

`protonn_edge.extensions.sensing.speech` speaks the ten digits with synthesizers of this machine.
Rows:

- ``synthetic``: trained on these takes, tested on all recordings of ``fsdd_audio.npz`` (see
  audio.py), six speakers whom the model has never heard
- ``recorded``: trained on five of these speakers, tested on the sixth; the mean of all six
- ``both``: trained on five of them and on the synthetic takes, tested on the sixth
- ``taught``: a teachable model of both, after three examples of each word by the sixth (see
  teaching.py)

Accuracies are those of the integer model. Settings were chosen on synthesizers: models of some were
tested on the voices of others.
"""

from __future__ import annotations

import io
import sys
import wave
from collections.abc import Iterator
from typing import Any

import rounding  # noqa: F401 - before NumPy
import audio
import click
import numpy as np
from printing import Columns, Record, print_table
from rows import DATA
from teaching import DRAWS, Board, drawn, of_words

from protonn_edge.data.onset import onset_of
from protonn_edge.extensions.sensing.speech.synthesizers import installed
from protonn_edge.extensions.sensing.speech.takes import Studio, Vocabulary
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import ProtoNNEdgeError

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SETTINGS: dict[str, Any] = {
    "features": f"{audio.FEATURES},onset:{audio.ONSET}",
    "hidden": "80",
    "input_noise": 0.3,
    "copies": 4,
    "augment": True,
    "epochs": 80,
}
_TEACHABLE: dict[str, Any] = {"epochs": 40, "augment": True}
_EXAMPLES = 3  # of each word
_FIRST_SYNTHETIC = 100  # the number of the first speaker of synthetic takes
ROWS = ("synthetic", "recorded", "both", "taught")


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


class Trial:
    """All recordings and all synthetic takes, and the models of some of them."""

    def __init__(self, speakers: int) -> None:
        self.spoken = audio.read_spoken(DATA / audio.FILE)
        self.synthetic = spoken_takes(speakers, seed=0)

    def accuracies(self, row: str, seed: int) -> Iterator[float]:
        """Yield the accuracy on each of the recorded speakers, whom the model has not heard."""
        model = _trained(self.synthetic, seed) if row == "synthetic" else None
        for speaker in range(len(self.spoken.names)):
            own = self.spoken.of(self.spoken.speakers == speaker)
            if row == "taught":
                yield _after_teaching(
                    of_words(self._without(speaker, row), seed, **_TEACHABLE), own
                )
            else:
                integers = model or _trained(self._without(speaker, row), seed)
                Q = integers.quantize(own.clips.astype(np.float32))
                yield share_right(integers.predict(Q), own.digits)

    def _without(self, speaker: int, row: str) -> audio.Spoken:
        """Return what a row is trained on if this speaker is tested."""
        others = self.spoken.of(self.spoken.speakers != speaker)
        if row == "recorded":
            return others
        parts = [others, self.synthetic]
        return audio.Spoken(
            [each for part in parts for each in part.recordings],
            np.concatenate([part.digits for part in parts]),
            np.concatenate([part.speakers for part in parts]),
            np.concatenate([part.numbers for part in parts]),
            others.names,
        )


def _trained(spoken: audio.Spoken, seed: int) -> IntegerChain:
    classifier = DenseClassifier(random_state=seed, **_SETTINGS)
    return quantize(classifier.fit(spoken.clips.astype(np.float32), spoken.digits).to_model())


def _after_teaching(model: Model, own: audio.Spoken) -> float:
    """Return the accuracy after a speaker's examples, the mean of several draws of them."""
    found = []
    for draw in range(DRAWS):
        generator = np.random.default_rng(draw)
        person = drawn(own, own.numbers < 10, own.numbers >= 10, generator)
        found.append(Board(quantize(model), person).right(_EXAMPLES, 0.0, generator).mean())
    return float(np.mean(found))


def measure(trial: Trial, row: str, seeds: int) -> Record:
    """Return the accuracy of each speaker, and its mean, over all seeds."""
    found = np.array([list(trial.accuracies(row, seed)) for seed in range(seeds)])
    means = found.mean(axis=0).tolist()
    return {
        "name": row,
        "seeds": seeds,
        "synthetic_takes": len(trial.synthetic.digits) if row != "recorded" else 0,
        "mean": float(found.mean()),
        "speakers": dict(zip(trial.spoken.names, means, strict=True)),
    }


COLUMNS: Columns = [
    ("trained on", lambda record: record["name"]),
    ("synthetic takes", lambda record: f"{record['synthetic_takes']:,}"),
    ("new speakers %", lambda record: f"{100 * record['mean']:.1f}"),
    ("worst speaker %", lambda record: f"{100 * min(record['speakers'].values()):.1f}"),
]


@click.command()
@click.option("--only", type=click.Choice(ROWS), help="One row.")
@click.option("--speakers", type=click.IntRange(1), default=300, show_default=True)
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, speakers: int, seeds: int, as_json: bool) -> None:
    """Print the accuracy on people whom a model has never heard."""
    path = DATA / audio.FILE
    if not path.is_file():
        click.echo(f"voices: no {audio.FILE} in {DATA}; set PROTONN_EDGE_DATA", err=True)
        return
    trial = Trial(speakers)
    rows = ROWS if only is None else (only,)
    print_table((measure(trial, row, seeds) for row in rows), COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
