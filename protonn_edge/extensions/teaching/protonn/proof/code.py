"""Where the code and the variables of taught examples are in a linked program."""

from __future__ import annotations

from protonn_edge.chips.avr.instructions import written_by
from protonn_edge.extensions.proof.equality import PredictionProof
from protonn_edge.extensions.teaching.protonn.votes import NearestExamples
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes

_ENTRY_BYTES = 3  # a class and a distance


class TaughtCode:
    """The loop over taught examples, and the list of the nearest ones.

    Attributes
    ----------
    head, near, vote, voter, done : int
        Where the next slot is looked for, a near example is inserted, the votes begin, one voter's
        are added, and all of them are.
    """

    def __init__(self, stage: IntegerPrototypes, proof: PredictionProof) -> None:
        voters = stage.voters
        assert isinstance(voters, NearestExamples)
        self.stage, self.voters, self.program = stage, voters, proof.program
        self.machine, self.explorer = proof.machine, proof.explorer
        variables = {each.name: each for each in proof.variables}
        names = "nearest", "first", "examples"
        self.list, self.first, self.count = (variables[f"prototypes_{each}"] for each in names)
        self.near, self.voter = proof.mark("prototypes_near"), proof.mark("prototypes_voter")
        self.head, self.vote, self.done = self._places(proof.mark("prototypes_slot"))
        self.limit = voters.limit(stage.distance_shift)

    def _places(self, slot: int) -> tuple[int, int, int]:
        here = self.program.reached(slot)
        while here.name != "brbs":  # a difference of more than a byte
            here = self.program.reached(here.end)
        head, vote = here.operands["k"], self.program.reached(slot - 2).operands["k"]
        here = self.program.reached(self.voter)
        while here.name != "brbc" or here.operands["k"] != self.voter:
            here = self.program.reached(here.end)
        return head, vote, here.end

    def written(self) -> set[int]:
        """Return the registers that the loops write."""
        written, place = set(), self.head
        while place < self.done:
            here = self.program.reached(place)
            written |= written_by(here)
            place = here.end
        return written

    @property
    def entries(self) -> range:
        """The entries of the list that vote."""
        return range(1, self.voters.neighbours + 1)

    def place_of(self, entry: int) -> int:
        """Return the address of an entry of the list."""
        return self.list.address + _ENTRY_BYTES * entry

    @property
    def changing(self) -> range:
        """The addresses of the list, but for its first entry, which is always 0."""
        return range(self.place_of(1), self.list.address + self.list.size)
