"""Examples taught to a board: prototypes that it adds and may forget again.

An example is a point of the projected space with a class. The examples nearest to a point vote:
each adds its RBF times `Teaching.vote` to the score of its class, or twice as much if all of them
are of one class. A board's examples form a multiset: which ones vote, and which one a full store
replaces, does not depend on when or where they were stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.boards import Board
from protonn_edge.chain.integer_chain import MODEL_HASH_BYTES
from protonn_edge.chain.integer_stage import IntArray, check_holds
from protonn_edge.errors import CheckFailed
from protonn_edge.kinds.protonn.prototypes.integers import (
    IntegerPrototypes,
    read_table,
    squared_distances,
)
from protonn_edge.kinds.protonn.prototypes.voters import Voters
from protonn_edge.system.checks import check, check_kind, check_range, check_shape

MOST_VOTE = 127  # a byte if it is doubled, whose product with an RBF fits 16 bits
# Of twice a squared distance: examples that differ by more than a signed byte are always far.
MOST_SHIFT = 7
MOST_SLOTS = 254  # limit of slots and classes together: the store's header numbers them

# Without new classes, the table is read at this many times the squared distance of an example.
SHARPNESS = 2

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
class Teaching(Voters):
    """A model's limits for teaching, and how examples vote.

    Of three voters, one with a wrong label can do little harm, and three that agree can overrule
    the prototypes. The examples of a new class have no prototypes to help them, so their RBF is
    wide; since votes of several would win points of other classes, only the nearest one votes.
    """

    extension: ClassVar[str] = "teaching"

    room: int  # maximum number of examples, 1..254
    vote: int  # vote for an example's class, in units of the label vectors, 1..127
    new_classes: int = 0  # number of classes, the last ones, that only examples vote for
    # the examples taught so far, which are not part of the model
    taught: Taught | None = field(default=None, repr=False, compare=False)

    @property
    def neighbours(self) -> int:
        """Number of nearest examples that vote."""
        return 1 if self.new_classes else 3

    def shift(self, distance_shift: int) -> int:
        """Return the right shift from twice a squared distance to its place in the table, 0..7.

        With new classes, the place is half that of a prototype at this distance.
        """
        return min(MOST_SHIFT, distance_shift + 2) if self.new_classes else distance_shift

    def limit(self, distance_shift: int) -> int:
        """Return the squared distance at and beyond which an example is far, up to 16,384.

        Without new classes, it is where the table has fallen to an eleventh: farther examples would
        take time but change few answers.
        """
        return (256 if self.new_classes else 128) << self.shift(distance_shift) >> 1

    @property
    def largest(self) -> int:
        """The largest sum of votes for a class, in units of the label vectors."""
        return 2 * self.neighbours * self.vote

    def check(self, n_inputs: int, n_outputs: int) -> None:
        """Raise `InputError` if generated code cannot hold these numbers, or taught examples."""
        fits = 1 <= self.vote <= MOST_VOTE
        check_holds(fits, f"a vote of {self.vote} for taught examples", f"1 to {MOST_VOTE}")
        most = MOST_SLOTS - n_outputs - 1
        what = f"room for {self.room} taught examples of {n_outputs} classes"
        check_holds(1 <= self.room <= most, what, f"1 to {most}")
        if self.taught is not None:
            self.taught.check(self, n_inputs, n_outputs)

    def votes(self, stage: IntegerPrototypes, P: IntArray) -> tuple[IntArray, IntArray]:
        """Return the RBFs of the examples nearest to points P, (n, d), and their votes, (n, L)."""
        taught, shift = self.taught or Taught.nothing(stage.n_inputs), stage.distance_shift
        squares = squared_distances(P, taught.points.T)
        order = np.argsort((squares << 8) + taught.classes, axis=1)[:, : self.neighbours]
        squares, classes = np.take_along_axis(squares, order, axis=1), taught.classes[order]
        near = squares < self.limit(shift)
        values = near * read_table(stage.table, 2 * squares >> self.shift(shift))
        agree = (~near | (classes == classes[:, :1])).all(axis=1)
        votes = np.zeros((len(P), stage.n_outputs), np.int64)
        each = values * (self.vote << agree[:, None])
        np.add.at(votes, (np.arange(len(P))[:, None], classes), each)
        return values, votes

    @property
    def slots(self) -> int:
        """Number of places in the store, one more than examples: so replacing one is atomic."""
        return self.room + 1

    def check_eeprom(self, dimension: int, board: Board) -> None:
        """Raise `CheckFailed` if a board's EEPROM is too small for the store of points (d,)."""
        store = self.store(dimension)
        if 0 < board.eeprom_bytes < store.size:
            most = (board.eeprom_bytes - store.header) // store.record - 1
            raise CheckFailed(
                f"storing {self.room} taught examples takes {store.size:,} B of EEPROM, but "
                f"{board.name} has {board.eeprom_bytes:,}; train with --teachable {most}"
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
