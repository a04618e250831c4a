"""What copies of sounds are worth on speakers who were not recorded.

    python benchmarks/speakers.py [--seeds 3] [--json]

trains networks on the spoken digits of ``fsdd_audio.npz`` (see audio.py) of five speakers, without
copies and with copies as `train --copies` makes them, and tests them, in integers, on all
recordings of the sixth one. It prints the mean accuracy over speakers and seeds, and each
speaker's. Copies are the same for all speakers and seeds, so that their features are computed once.

With --validate, settings are compared, as those below were: models of four speakers are tested on
a fifth one, and a row is about the speaker whom none of its models has seen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import rounding  # noqa: F401 - before NumPy
import audio
import click
import numpy as np
from numpy.typing import NDArray
from printing import Columns, Record, print_table
from rows import DATA

from protonn_edge.features.audio.clips import fitted_to
from protonn_edge.features.audio.train.request import AudioRequest
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.integer_stage import run_through
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import ProtoNNEdgeError

COPIES = 8
_SETTINGS: dict[str, Any] = {"hidden": "40", "input_noise": 0.3}
_EPOCHS = 108  # divided by one more than the copies: always the same number of steps
_SPEAKERS = 6
_SEED_OF_COPIES = 5
_FULL_SCALE = np.array([[-32768.0], [32767.0]]).repeat(audio.SAMPLES, axis=1)

Bytes = NDArray[np.uint8]


def features_of(spoken: audio.Spoken) -> list[Bytes]:
    """Return the features (n, D) of the clips, and of each of their copies."""
    clips, generator = spoken.clips, np.random.default_rng(_SEED_OF_COPIES)
    bands, frames = map(int, audio.FEATURES.partition(":")[2].split("x"))
    stage = fitted_to(_FULL_SCALE, bands, frames)
    signals, shape = clips.astype(np.float32), (audio.SAMPLES, 1)
    made = [clips]
    for _ in range(COPIES):
        moved = AudioRequest.movement(signals, shape, generator)
        made.append(np.rint(moved).astype(np.int16))
    return [run_through(stage.stages, audio.heard(each)) for each in made]


def accuracies(
    spoken: audio.Spoken, features: list[Bytes], hidden: set[int], seed: int
) -> Iterator[float]:
    """Yield the accuracy on each of the hidden speakers, in order, of a network of the others."""
    rows = ~np.isin(spoken.speakers, list(hidden))
    X = np.concatenate([each[rows] for each in features]).astype(np.float32)
    classifier = DenseClassifier(
        random_state=seed, epochs=_EPOCHS // len(features), **_SETTINGS
    ).fit(X, np.tile(spoken.digits[rows], len(features)))
    integers = quantize(classifier.to_model())
    for speaker in sorted(hidden):
        own = spoken.speakers == speaker
        Q = integers.quantize(features[0][own].astype(np.float32))
        yield share_right(integers.predict(Q), spoken.digits[own])


def measure(spoken: audio.Spoken, features: list[Bytes], seeds: int, validated: bool) -> Record:
    """Return the accuracy of each speaker, for each seed."""
    found: dict[int, list[float]] = {speaker: [] for speaker in range(_SPEAKERS)}
    for seed in range(seeds):
        for speaker in range(_SPEAKERS):
            if validated:
                pair = {speaker, (speaker + 1) % _SPEAKERS}
                of_each = accuracies(spoken, features, pair, seed)
                for other, accuracy in zip(sorted(pair, reverse=True), of_each, strict=True):
                    found[other].append(accuracy)
            else:
                found[speaker] += accuracies(spoken, features, {speaker}, seed)
    means = {spoken.names[speaker]: float(np.mean(each)) for speaker, each in found.items()}
    mean = float(np.mean(list(means.values())))
    return {"copies": len(features) - 1, "mean": mean, "speakers": means}


COLUMNS: Columns = [
    ("copies", lambda record: str(record["copies"])),
    ("mean %", lambda record: f"{100 * record['mean']:.1f}"),
    (
        "speakers %",
        lambda record: ", ".join(
            f"{name} {100 * share:.1f}" for name, share in record["speakers"].items()
        ),
    ),
]


@click.command()
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--validate", "validated", is_flag=True, help="On a fifth speaker of five.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(seeds: int, validated: bool, as_json: bool) -> None:
    """Print the accuracy on speakers who were not recorded, without and with copies."""
    path = DATA / audio.FILE
    if not path.is_file():
        click.echo(f"fsdd: no {audio.FILE} in {DATA}; set PROTONN_EDGE_DATA", err=True)
        return
    spoken = audio.read_spoken(path)
    features = features_of(spoken)
    parts = (features[:1], features)
    print_table((measure(spoken, each, seeds, validated) for each in parts), COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
