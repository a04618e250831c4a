"""The gain of teaching: each person in a data set teaches a board and is tested on other points.

Examples are spread evenly over a person's points of a class. Neither they nor the points next to
them, which may be overlapping windows, are tested, for any number of examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.teaching.board import after_teaching, teachable_stage
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import InputError, counted

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class TaughtPerson:
    """Accuracies (0..1) on a person's tested points after 0, 1, 2, ... examples of each class."""

    name: str
    n: int  # tested points
    accuracies: tuple[float, ...]


def teach_people(
    model: IntegerChain, Q: NDArray[np.uint8], y: Indices, people: NDArray[np.str_], most: int
) -> list[TaughtPerson]:
    """Let each person teach a board up to `most` examples of each class; return the gains.

    - `Q` (n, features): quantized points, with class indices `y` (n,) and the names of `people`.

    Raises `InputError` if the model cannot be taught, or somebody has too few points of a class.
    """
    teachable_stage(model)
    taught = []
    is_known = y < model.n_classes
    for name in np.unique(people[is_known]):
        own = np.flatnonzero((people == name) & is_known)
        examples, tested = _held_back(y[own], most, str(name), model.classes)
        accuracies = []
        for count in range(most + 1):
            rows = own[examples[:, _spread(count, most)].ravel()]
            answers = after_teaching(model, Q[rows], y[rows]).predict(Q[own[tested]])
            accuracies.append(float((answers == y[own[tested]]).mean()))
        taught.append(TaughtPerson(str(name), int(tested.sum()), tuple(accuracies)))
    return taught


def _held_back(
    y: Indices, most: int, name: str, classes: Sequence[str]
) -> tuple[Indices, NDArray[np.bool_]]:
    """Return the examples (classes, most) in somebody's points, and which are tested (n,)."""
    tested, examples = np.ones(len(y), np.bool_), []
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        if len(rows) < 4 * most:
            fewer = (
                f"or use --teach {len(rows) // 4}" if len(rows) >= 4 else "or remove these points"
            )
            raise InputError(
                f"{name!r} has {counted(len(rows), 'point')} of {classes[label]!r}, but --teach "
                f"{most} needs {4 * most}, because examples and their neighbours are not tested; "
                f"give more points, {fewer}"
            )
        places = _spread(most, len(rows))
        examples.append(rows[places])
        tested[rows[(places[:, None] + [-1, 0, 1]).ravel()]] = False
    return np.array(examples), tested


def _spread(count: int, length: int) -> Indices:
    """Return `count` places in 0..length - 1, evenly spread."""
    return ((2 * np.arange(count) + 1) * length // max(1, 2 * count)).astype(np.int64)
