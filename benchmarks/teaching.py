"""What a few examples of a new person are worth to a model of other people.

A row has the accuracy of the integers in %, over people whom the model was not trained on, before
teaching, with 1, 3 and 5 examples a class, and with examples of which one in five has a wrong
label. Each cell has the mean over the people, and after a slash the person with the lowest
accuracy. The points that a person teaches, and the windows next to them, which may overlap them,
are never tested; the tested points are the same for each number of examples.

- words: the spoken digits of ``fsdd_audio.npz``, each speaker held out in turn. Examples are of
  their recordings 0 to 9, the tested ones are 10 to 49.
- har, watch: the people of the test part. Examples are spread evenly over a person's windows.
- new-words: a model of the digits 0 to 6 is taught 7, 8 and 9 by each of its speakers, of
  recordings 10 to 19; recordings 0 to 9 are tested, 20 to 49 are for training. There is a row for
  the new words and one for the old ones.

`teaching_cycles` prints the cycles that a full store adds to a prediction on the emulated Uno: the
mean over the first person's tested points and the largest, both also in % of the same prediction
without examples. Besides the models above, there are two of digits; their examples and tested
points are moved by a pixel.

Settings were chosen on people of the training parts of har and watch, who were held out in turn;
those for words on pairs of the same speakers, who were held out of models of the other four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import audio
import numpy as np
from columns import Column, Record, figure
from numpy.typing import NDArray
from runner import Benchmark
from trained import DATA

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import open_session
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.roles.groups import with_groups
from protonn_edge.extensions.teaching.board import stored, teachable_stage, with_taught
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.extensions.teaching.kinds.teachable.train.classifier import (
    TeachableProtoNNClassifier,
)
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.integer_chain import IntegerChain, coordinates
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.folders import scratch_folder

TAUGHT = {
    "before": (0, 0.0),
    "1 example": (1, 0.0),
    "3 examples": (3, 0.0),
    "5 examples": (5, 0.0),
    "3, some wrong": (3, 0.2),
    "5, some wrong": (5, 0.2),
}
"""Examples a class, and the share of them that has a wrong label."""

_WORDS: dict[str, Any] = {
    "features": f"audio:12x10,onset:{audio.ONSET}",
    "copies": 4,
    "n_projections": 16,
    "n_prototypes": 60,
    "epochs": 100,
    "input_noise": 0.2,
    "teachable": 50,
}
_SOME_WORDS: dict[str, Any] = {
    "features": f"audio:16x10,onset:{audio.ONSET}",
    "n_projections": 28,
    "n_prototypes": 140,
    "epochs": 60,
    "teachable": 30,
    "new_classes": 3,
}
_HAR: dict[str, Any] = {"n_projections": 10, "n_prototypes": 40, "teachable": 30}
_WATCH: dict[str, Any] = {"n_projections": 20, "n_prototypes": 60, "teachable": 35}
_DRAWS = 3  # of what a speaker teaches
_MOST = 5
_NEW_WORDS = (7, 8, 9)
# For new words: copies of each training clip, moved by `Spoken.moved`, and as many stretched ones.
_COPIES = 2
_SPEEDS = (0.75, 1.25)
_HOP = 128  # samples between the windows that stretch a clip

Indices = NDArray[np.int64]
Float32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Person:
    """Points of somebody: raw ones (n, features), classes (n,), and which of them are tested."""

    X: Float32
    y: Indices
    examples: Indices  # (classes, 5): rows of each class that is taught, evenly spread
    tested: Indices


class Board:
    """The integers of a model, in front of somebody."""

    def __init__(self, model: IntegerChain, person: Person) -> None:
        Q = model.quantize(person.X)
        self._model, self._person, self._tested = model, person, Q[person.tested]
        self._P = coordinates(model, Q[person.examples.ravel()]).astype(np.int8)

    def right(self, count: int, wrong: float, generator: np.random.Generator) -> NDArray[np.bool_]:
        """Return which tested points are classified correctly after examples of each class.

        A share of `wrong` of the examples is of another class than they are taught as.
        """
        person, model = self._person, self._model
        columns = ((np.arange(count) + 0.5) * _MOST / max(1, count)).astype(int)
        places = np.arange(person.examples.size).reshape(-1, _MOST)[:, columns].ravel()
        labels = person.y[person.examples.ravel()]
        classes = np.unique(labels)
        for place in generator.permutation(places)[: round(wrong * len(places))]:
            labels[place] = generator.choice(classes[classes != labels[place]])
        if count:
            model = with_taught(model, Taught(self._P[places], labels[places].astype(np.uint8)))
        right: NDArray[np.bool_] = model.predict(self._tested) == person.y[person.tested]
        return right


def _spread(X: Float32, y: Indices, generator: np.random.Generator) -> Person:
    """Return somebody who teaches windows at even distances, from a random one on."""
    tested, examples = np.ones(len(y), np.bool_), []
    for rows in (np.flatnonzero(y == label) for label in np.unique(y)):
        places = ((np.arange(_MOST) + generator.random()) * len(rows) / _MOST).astype(int)
        examples.append(rows[places])
        beside = (places[:, None] + [-1, 0, 1]).ravel()
        tested[rows[np.clip(beside, 0, len(rows) - 1)]] = False
    return Person(X, y, np.array(examples), np.flatnonzero(tested))


def _drawn(
    spoken: audio.Spoken,
    taught: NDArray[np.bool_],
    tested: NDArray[np.bool_],
    generator: np.random.Generator,
) -> Person:
    """Return a speaker who teaches some of the recordings, drawn from each class of them."""
    y, rows = spoken.digits, generator.permutation(np.flatnonzero(taught))
    examples = [rows[y[rows] == label][:_MOST] for label in np.unique(y[rows])]
    X = spoken.clips.astype(np.float32)
    return Person(X, y, np.array(examples), np.flatnonzero(tested))


Pairs = Iterator[tuple[Model, Callable[[np.random.Generator], Person]]]
"""Models, each with somebody whom it was not trained on, by what is drawn."""


def _words(path: Path, seed: int) -> Pairs:
    """Yield a model of all speakers but one, and this one, for each speaker."""
    spoken = audio.read_spoken(path)
    for speaker in range(len(spoken.names)):
        own = spoken.of(spoken.speakers == speaker)
        model = _of_words(spoken.of(spoken.speakers != speaker), seed)
        yield model, partial(_drawn, own, own.numbers < 10, own.numbers >= 10)


def _new_words(path: Path, seed: int) -> Pairs:
    """Yield a model of some of the words, and each of its speakers."""
    spoken = audio.read_spoken(path)
    new = np.isin(spoken.digits, _NEW_WORDS)
    old = spoken.of(~new & (spoken.numbers >= 20))
    model = _of_some_words(old, seed)
    for speaker in range(len(spoken.names)):
        own = spoken.of((spoken.speakers == speaker) & (spoken.numbers < 20))
        taught = np.isin(own.digits, _NEW_WORDS) & (own.numbers >= 10)
        yield model, partial(_drawn, own, taught, own.numbers < 10)


def _of_words(spoken: audio.Spoken, seed: int) -> Model:
    """Return a teachable model of the digits of some speakers."""
    classifier = TeachableProtoNNClassifier(random_state=seed, **_WORDS)
    X = spoken.clips.astype(np.float32)
    model: Model = classifier.fit(X, spoken.digits, groups=spoken.speakers).to_model()
    return model


def _of_some_words(spoken: audio.Spoken, seed: int) -> Model:
    generator = np.random.default_rng(seed)
    clips = [spoken.clips, *(spoken.moved(generator) for _ in range(2 * _COPIES))]
    X = np.concatenate(clips).astype(np.float32)
    half = len(X) - _COPIES * len(spoken.digits)
    X[half:] = _stretched(X[half:], generator)
    classifier = TeachableProtoNNClassifier(random_state=seed, **_SOME_WORDS)
    y, speakers = (np.tile(each, len(clips)) for each in (spoken.digits, spoken.speakers))
    model: Model = classifier.fit(X, y, groups=speakers).to_model()
    return model


def _stretched(clips: Float32, generator: np.random.Generator) -> Float32:
    """Return clips (n, samples) that are spoken faster or slower, at the same pitch.

    Windows of a clip, taken from places farther apart or closer, are added where they overlap.
    """
    n, length = clips.shape
    speed, window = generator.uniform(*_SPEEDS, (n, 1)), np.hanning(2 * _HOP + 1)[:-1]
    stretched = np.zeros((n, length + 2 * _HOP), np.float32)
    for begin in range(0, length + 1, _HOP):
        places = np.rint(begin * speed).astype(int) + np.arange(-_HOP, _HOP)
        part = np.take_along_axis(clips, np.clip(places, 0, length - 1), axis=1)
        stretched[:, begin : begin + 2 * _HOP] += window * part
    return stretched[:, _HOP : _HOP + length]


def _people(settings: dict[str, Any], path: Path, seed: int) -> Pairs:
    """Yield the model of the people of the training part, with each of the test part."""
    dataset = with_groups(load_dataset(path), "subject_train", path)
    classifier = TeachableProtoNNClassifier(random_state=seed, **settings)
    classifier.fit(dataset.X_train, dataset.y_train, groups=dataset.groups)
    model = classifier.to_model()
    with np.load(path, allow_pickle=False) as data:
        people = data["subject_test"]
    for person in np.unique(people):
        own = people == person
        yield model, partial(_spread, dataset.X_test[own], dataset.y_test[own])


def _digits(_: Path, seed: int, **changed: Any) -> Pairs:
    """Yield a model of digits, and somebody whose digits are a pixel further to the right."""
    digits = load_digits_dataset()
    settings: dict[str, Any] = {"teachable": 5 * len(digits.classes), **changed}
    classifier = TeachableProtoNNClassifier(random_state=seed, **settings)
    classifier.fit(digits.X_train, digits.y_train, groups=np.arange(len(digits.X_train)) // 100)
    X = np.concatenate([digits.X_train, digits.X_test])
    y = np.concatenate([digits.y_train, digits.y_test])
    moved = np.roll(X.reshape(-1, 8, 8), 1, axis=2).reshape(X.shape)
    taught = np.arange(len(y)) < len(digits.y_train)
    examples = [np.flatnonzero(taught & (y == label))[:_MOST] for label in np.unique(y)]
    person = Person(moved, y, np.array(examples), np.flatnonzero(~taught))
    yield classifier.to_model(classes=digits.classes), lambda _: person


@dataclass(frozen=True)
class Case:
    """A data set, who teaches, and the rows of the table: names, and the classes they count."""

    name: str
    file: str
    taught: Callable[..., Pairs]  # of a file, a seed, and settings that differ
    rows: dict[str, Sequence[int]]


CASES = (
    Case("words", audio.FILE, _words, {"words": range(10)}),
    Case("har", "har_hapt.npz", partial(_people, _HAR), {"har": range(6)}),
    Case("watch", "watch_exercise.npz", partial(_people, _WATCH), {"watch": range(7)}),
    Case(
        "new-words",
        audio.FILE,
        _new_words,
        {"new words": _NEW_WORDS, "old words": range(min(_NEW_WORDS))},
    ),
)


def measure(case: Case, seeds: Sequence[int]) -> Iterator[Record]:
    """Yield the rows of a case: accuracies (people,) of each column, means over the seeds."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for seed in seeds:
        for place, (model, draw_of) in enumerate(case.taught(DATA / case.file, seed)):
            for draw in range(_DRAWS):
                generator = np.random.default_rng([seed, place, draw])
                person = draw_of(generator)
                board, y = Board(quantize(model), person), person.y[person.tested]
                for column, (count, wrong) in TAUGHT.items():
                    right = board.right(count, wrong, generator)
                    for row, classes in case.rows.items():
                        people = found.setdefault(row, {}).setdefault(column, [])
                        people += [[]] * (place == len(people))
                        people[place] = [*people[place], float(right[np.isin(y, classes)].mean())]
    for row, columns in found.items():
        means = {column: [*map(float, map(np.mean, each))] for column, each in columns.items()}
        yield {"name": row, "people": len(people), **means}


_TIMED = (
    Case("digits", "", _digits, {}),
    Case("digits, d 12", "", partial(_digits, n_projections=12, teachable=39), {}),
    *CASES[:-1],
)
_POINTS = 100  # points whose cycles are counted


def measure_cycles(case: Case) -> Record:
    """Return the cycles that the examples of the first person add to predictions."""
    model, drawn = next(case.taught(DATA / case.file, 0))
    integers, person = quantize(model), drawn(np.random.default_rng(0))
    Q, (last, teaching) = integers.quantize(person.X), teachable_stage(integers)
    rows = person.examples.T.ravel()[: teaching.room]
    P = coordinates(integers, Q[rows]).astype(np.int8)
    taught = Taught(P, person.y[rows].astype(np.uint8))
    tested = Q[person.tested[:: -(-len(person.tested) // _POINTS)]]
    board, cycles = load_board("uno"), []
    with trial_build(DeviceModel(model, integers), board) as trial, scratch_folder() as folder:
        for own in (Taught.nothing(last.n_inputs), taught):
            eeprom = folder / "eeprom"
            eeprom.write_bytes(stored(integers, own).ljust(board.eeprom_bytes, b"\xff"))
            emulated = EmulatedBoard(trial.elf, board=board, eeprom=eeprom)
            with emulated as uno, open_session(uno.url, integers, board) as session:
                answers = [session.predict(point) for point in tested]
            assert [a.label for a in answers] == with_taught(integers, own).predict(tested).tolist()
            cycles.append(np.array([answer.cycles for answer in answers]))
        bound = trial.possible.most
    added = cycles[1] - cycles[0]
    return {
        "name": case.name,
        "d": last.n_inputs,
        "prototypes": last.n_prototypes,
        "examples": len(taught),
        "cycles": float(cycles[0].mean()),
        "added": float(added.mean()),
        "largest": int(added.max()),
        "share": float(added.mean() / cycles[0].mean()),
        "largest_share": float((added / cycles[0]).max()),
        "most": int(cycles[1].max()),
        "bound": bound,
    }


def _mean_and_least(accuracies: Sequence[float]) -> str:
    return f"{100 * float(np.mean(accuracies)):.1f} / {100 * min(accuracies):.1f}"


BENCHMARKS = {
    "teaching": Benchmark(
        "What examples of a new person are worth: the mean of people, and the lowest of them.",
        CASES,
        (
            *(figure("data", "name"), figure("people", "people")),
            *(figure(name, name, _mean_and_least) for name in TAUGHT),
        ),
        measure,
        seeds=5,
    ),
    "teaching_cycles": Benchmark(
        "The cycles that examples add to a prediction, with a full store.",
        _TIMED,
        (
            *(figure(each, each) for each in ("name", "d", "prototypes", "examples")),
            figure("cycles without", "cycles", ",.0f"),
            Column(
                "added, mean",
                lambda r: (r["added"], 100 * r["share"]),
                "{0[0]:,.0f} ({0[1]:.1f} %)".format,
            ),
            Column(
                "largest",
                lambda r: (r["largest"], 100 * r["largest_share"]),
                "{0[0]:,} ({0[1]:.1f} %)".format,
            ),
            *(figure("at most", "most", ","), figure("bound", "bound", ",")),
        ),
        measure_cycles,
    ),
}
