"""How the examples that a board is taught vote: as prototypes that it adds and may forget again.

An example is a point of the projected space with a class. The examples nearest to a point vote:
each adds its RBF times `NearestExamples.vote` to the score of its class, or twice as much if all of
them are of one class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from protonn_edge.extensions.teaching.examples import Taught, Teaching
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes, read_table
from protonn_edge.kinds.protonn.prototypes.voters import Voters
from protonn_edge.model.formulas import arrays_of
from protonn_edge.model.integer_stage import IntArray, check_holds
from protonn_edge.system.arrays import Array

MOST_VOTE = 127  # a byte if it is doubled, whose product with an RBF fits 16 bits
# Of twice a squared distance: examples that differ by more than a signed byte are always far.
MOST_SHIFT = 7

# Without new classes, the table is read at this many times the squared distance of an example.
SHARPNESS = 2


@dataclass(frozen=True)
class NearestExamples(Teaching, Voters):
    """The examples nearest to a point, which vote in units of the label vectors.

    Of three voters, one with a wrong label can do little harm, and three that agree can overrule
    the prototypes. The examples of a new class have no prototypes to help them, so their RBF is
    wide; since votes of several would win points of other classes, only the nearest one votes.
    """

    extension: ClassVar[str] = "teaching"

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

    def state_bytes(self, n_inputs: int) -> int:
        """Return the bytes of the store, a point, first coordinates, nearest ones and counters."""
        nearest = 4 * (self.neighbours + 2)
        return self.store(n_inputs).size + n_inputs + self.slots + nearest + 3

    def check(self, n_inputs: int, n_outputs: int) -> None:
        """Raise `InputError` if generated code cannot hold these numbers, or taught examples."""
        fits = 1 <= self.vote <= MOST_VOTE
        check_holds(fits, f"a vote of {self.vote} for taught examples", f"1 to {MOST_VOTE}")
        self.check_room(n_inputs, n_outputs)

    def votes(self, stage: IntegerPrototypes, P: IntArray) -> tuple[IntArray, IntArray]:
        """Return the RBFs of the examples nearest to points P, (n, d), and their votes, (n, L)."""
        taught, shift = self.taught or Taught.nothing(stage.n_inputs), stage.distance_shift
        squares = arrays_of(lambda x: x.squared_distances(taught.points), P)
        order = np.argsort((squares << 8) + taught.classes, axis=1)[:, : self.neighbours]
        squares, classes = np.take_along_axis(squares, order, axis=1), taught.classes[order]
        near = squares < self.limit(shift)
        places = 2 * squares >> self.shift(shift)
        values: Array = near * arrays_of(partial(read_table, stage.table), places)
        agree = (~near | (classes == classes[:, :1])).all(axis=1)
        votes = np.zeros((len(P), stage.n_outputs), np.int64)
        each = values * (self.vote << agree[:, None])
        np.add.at(votes, (np.arange(len(P))[:, None], classes), each)
        return values, votes
