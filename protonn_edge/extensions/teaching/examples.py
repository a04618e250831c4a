"""Examples taught to a board, which it adds to its model and may forget again.

An example is a point, as the model's last stage receives it, with a class. How examples change the
scores depends on the kind of classifier. A board's examples form a multiset: neither the scores,
nor which example a full store replaces, depend on when or where they were stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.extensions.teaching import MOST_SLOTS
from protonn_edge.model.integer_chain import MODEL_HASH_BYTES
from protonn_edge.model.integer_stage import IntArray, check_holds
from protonn_edge.system.checks import check, check_enough, check_kind, check_range, check_shape

CRC_BYTES = 2
STORE_FORMAT = 1

ERASED = (
    "the board's EEPROM has examples of another model, and the first new example will erase them; "
    "to keep them, upload that model"
)


def is_of_another(content: bytes, model_hash: bytes) -> bool:
    """Return whether a store in EEPROM belongs to another model; see `ERASED`."""
    beginning = model_hash[:MODEL_HASH_BYTES]
    return content[:1] == bytes([STORE_FORMAT]) and content[1 : 1 + MODEL_HASH_BYTES] != beginning


class Store(NamedTuple):
    """The layout of a store in EEPROM, in bytes."""

    hidden: int  # offset of the hidden slot or class, after the format and the model's hash
    record: int  # the size of a record: a class, a point and a CRC
    size: int
    format: int = STORE_FORMAT
    # initial upper byte, which makes zeros invalid; the lower one is the class
    crc_start: int = 0xFF
    all_hidden: int = 254

    @property
    def header(self) -> int:
        """Number of bytes before the first record."""
        return self.hidden + 1


@dataclass(frozen=True)
class Teaching:
    """A model's limits for teaching.

    The last integer stage of a model that can be taught has them as its `voters`; the folder of the
    kind of classifier extends them by how the examples change its scores.
    """

    room: int  # maximum number of examples, 1..254
    vote: int  # vote for an example's class, in units of the scores that the kind chooses
    new_classes: int = 0  # number of classes, the last ones, that only examples vote for
    # the examples taught so far, which are not part of the model
    taught: Taught | None = field(default=None, repr=False, compare=False)

    def check_room(self, n_inputs: int, n_outputs: int) -> None:
        """Raise `InputError` if no device has this room, or it has taught examples that do not fit.

        The sizes are those of the stage: of an example, and the number of classes.
        """
        most = MOST_SLOTS - n_outputs - 1
        what = f"room for {self.room} taught examples of {n_outputs} classes"
        check_holds(1 <= self.room <= most, what, f"1 to {most}")
        if self.taught is not None:
            self.taught.check(self, n_inputs, n_outputs)

    @property
    def slots(self) -> int:
        """Number of places in the store, one more than examples: so replacing one is atomic."""
        return self.room + 1

    def check_eeprom(self, dimension: int, board: Board) -> None:
        """Raise `CheckFailed` if a board's EEPROM is too small for the store of points (d,)."""
        store = self.store(dimension)
        if 0 < board.eeprom_bytes < store.size:
            most = (board.eeprom_bytes - store.header) // store.record - 1
            check_enough(
                f"the store of {self.room} taught examples",
                store.size,
                f"{board.name} has",
                board.eeprom_bytes,
                "B of EEPROM",
                f"train with --teachable {most}",
            )

    def store(self, dimension: int) -> Store:
        """Return the layout of the store for points (d,)."""
        hidden, record = 1 + MODEL_HASH_BYTES, 1 + dimension + CRC_BYTES
        return Store(hidden, record, hidden + 1 + self.slots * record)


@dataclass(frozen=True, eq=False)
class Taught:
    """A board's examples, in any order.

    Attributes
    ----------
    points : ndarray of int8
        The projected examples, (n, d).
    classes : ndarray of uint8
        The class of each, (n,).
    """

    points: NDArray[np.int8]
    classes: NDArray[np.uint8]

    def __post_init__(self) -> None:
        check(self.points.dtype == np.int8, "points", self.points.dtype, "int8")
        check_kind("points", self.points, "i", 2)
        check(self.classes.dtype == np.uint8, "classes", self.classes.dtype, "uint8")
        check_shape("classes", self.classes.shape, self.points.shape[:1])

    def check(self, teaching: Teaching, dimension: int, n_classes: int) -> None:
        """Raise `InputError` unless a model of these sizes has room for them."""
        check_range("taught examples", len(self), 0, teaching.room)
        check_shape("points", self.points.shape, (len(self), dimension))
        check_range("classes", int(self.classes.max(initial=0)), 0, n_classes - 1)

    @classmethod
    def nothing(cls, dimension: int) -> Self:
        """Return no examples, of points (d,)."""
        return cls(np.zeros((0, dimension), np.int8), np.zeros(0, np.uint8))

    def __len__(self) -> int:
        return len(self.points)

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same examples, in any order."""
        return isinstance(other, Taught) and sorted(self._examples()) == sorted(other._examples())

    __hash__ = None  # type: ignore[assignment]

    def _examples(self) -> list[tuple[int, ...]]:
        return list(map(tuple, np.column_stack([self.classes, self.points]).tolist()))

    def learn(self, point: ArrayLike, label: int, room: int) -> Taught:
        """Return these examples with another one, a point (d,) of -128..127; at most `room` in all.

        If there is no room, the new example replaces the nearest one of its class, by the sum of
        absolute differences of coordinates, or the nearest of all if its class has none. Among
        equally near examples, it replaces the first in lexicographic order of the bytes (class,
        then point).
        """
        points = np.vstack([self.points, np.asarray(point, np.int8)])
        classes = np.append(self.classes, np.uint8(label))
        if len(self) < room:
            return Taught(points, classes)
        replaced = self._replaced(points[-1], label)
        return Taught(np.delete(points, replaced, axis=0), np.delete(classes, replaced))

    def _replaced(self, point: NDArray[np.int8], label: int) -> int:
        distances = np.abs(self.points.astype(np.int64) - point).sum(axis=1)
        examples = np.column_stack([self.classes, self.points.astype(np.uint8)])
        order = np.lexsort((*examples.T[::-1], distances, self.classes != label))
        return int(order[0])

    def forget(self, label: int) -> Taught:
        """Return these examples without the examples of a class."""
        kept = self.classes != label
        return Taught(self.points[kept], self.classes[kept])

    def counts(self, n_classes: int) -> IntArray:
        """Return the number of examples of each class, (n_classes,)."""
        return np.bincount(self.classes, minlength=n_classes)
