"""Words that nobody recorded: synthetic voices alone, and together with recordings.

    python benchmarks/words.py [--only NAME] [--speakers N] [--seeds N] [--json]

`protonn_edge.speech` speaks the ten digits with the synthesizers of this machine. Rows:

- ``synthetic``: trained on these takes, tested on all recordings of ``fsdd_audio.npz`` (see
  audio.py), six speakers whom the model has never heard
- ``recorded``: trained on five of these speakers, tested on the sixth; the mean of all six
- ``both``: trained on five of them and on the synthetic takes, tested on the sixth

Accuracies are those of the integer model. Settings were chosen on synthesizers: models of one were
tested on the voices of the others.
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
from numpy.typing import NDArray
from printing import Columns, Record, print_table
from rows import DATA

from protonn_edge.chain.integer_stage import run_through
from protonn_edge.datasets.onset import onset_of
from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.evaluation.accuracy import share_right
from protonn_edge.features.audio.clips import fitted_to
from protonn_edge.features.audio.train import AudioRequest
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.quantization import IntegerChain, quantize
from protonn_edge.speech.synthesizers import installed
from protonn_edge.speech.takes import Studio, Vocabulary

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
COPIES = 4
_SETTINGS: dict[str, Any] = {"hidden": "40", "input_noise": 0.3, "epochs": 20}
_SEED_OF_COPIES = 5
_FULL_SCALE = np.array([[-32768.0], [32767.0]]).repeat(audio.SAMPLES, axis=1)
ROWS = ("synthetic", "recorded", "both")

Features = NDArray[np.float32]  # (n, D)
Digits = NDArray[np.int64]


def spoken_takes(speakers: int, seed: int) -> tuple[NDArray[np.int16], Digits]:
    """Return the clips (n, samples) of synthetic takes, and their digits."""
    studio = Studio(tuple(installed()), "en", speakers, 8000, 1.0, seed)
    clips, digits = [], []
    for files in studio.takes(Vocabulary(DIGITS)):
        for name, content in files.items():
            with wave.open(io.BytesIO(content)) as file:
                samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
            whole = np.pad(samples, (0, audio.SAMPLES))
            start = onset_of(audio.heard(whole), audio.ONSET)
            if start is not None:
                clips.append(whole[start : start + audio.SAMPLES])
                digits.append(DIGITS.index(name.partition("/")[0]))
    return np.array(clips), np.array(digits)


def features_of(clips: NDArray[np.int16], copies: int) -> list[Features]:
    """Return the features of the clips, and of each of their copies."""
    bands, frames = map(int, audio.FEATURES.partition(":")[2].split("x"))
    stage, generator = fitted_to(_FULL_SCALE, bands, frames), np.random.default_rng(_SEED_OF_COPIES)
    signals, shape = clips.astype(np.float32), (audio.SAMPLES, 1)
    moved = (AudioRequest.movement(signals, shape, generator) for _ in range(copies))
    made = [clips, *(np.rint(each).astype(np.int16) for each in moved)]
    return [run_through(stage.stages, audio.heard(each)).astype(np.float32) for each in made]


class Trial:
    """The features of all recordings and all synthetic takes, and the models of some of them."""

    def __init__(self, speakers: int) -> None:
        self.spoken = audio.read_spoken(DATA / audio.FILE)
        self.recorded = features_of(self.spoken.clips, COPIES)
        clips, self.digits = spoken_takes(speakers, seed=0)
        self.synthetic = features_of(clips, COPIES)

    def accuracies(self, row: str, seed: int) -> Iterator[float]:
        """Yield the accuracy on each of the recorded speakers, whom the model has not heard."""
        model = self._trained(row, -1, seed) if row == "synthetic" else None
        for speaker in range(len(self.spoken.names)):
            integers = model or self._trained(row, speaker, seed)
            own = self.spoken.speakers == speaker
            Q = integers.quantize(self.recorded[0][own])
            yield share_right(integers.predict(Q), self.spoken.digits[own])

    def _trained(self, row: str, hidden: int, seed: int) -> IntegerChain:
        rows = self.spoken.speakers != hidden
        parts: list[tuple[Features, Digits]] = []
        if row != "synthetic":
            parts += [(each[rows], self.spoken.digits[rows]) for each in self.recorded]
        if row != "recorded":
            parts += [(each, self.digits) for each in self.synthetic]
        X, y = (np.concatenate(each) for each in zip(*parts, strict=True))
        return quantize(DenseClassifier(random_state=seed, **_SETTINGS).fit(X, y).to_model())


def measure(trial: Trial, row: str, seeds: int) -> Record:
    """Return the accuracy of each speaker, and its mean, over all seeds."""
    found = np.array([list(trial.accuracies(row, seed)) for seed in range(seeds)])
    means = found.mean(axis=0).tolist()
    return {
        "name": row,
        "seeds": seeds,
        "synthetic_takes": len(trial.digits) if row != "recorded" else 0,
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
        click.echo(f"words: no {audio.FILE} in {DATA}; set PROTONN_EDGE_DATA", err=True)
        return
    trial = Trial(speakers)
    rows = ROWS if only is None else (only,)
    print_table((measure(trial, row, seeds) for row in rows), COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
