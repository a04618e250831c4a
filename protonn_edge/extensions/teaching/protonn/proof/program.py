"""What taught examples may be, and the parts of the proof that they vote."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from protonn_edge.extensions.proof.additions import ProofAddition
from protonn_edge.extensions.proof.data_space import anything
from protonn_edge.extensions.proof.equality import PredictionProof
from protonn_edge.extensions.proof.forms import Root, SumForm, Unproven, byte_of, variable
from protonn_edge.extensions.proof.stages.prototype_loop import PrototypeLoop
from protonn_edge.extensions.proof.state import ChipState
from protonn_edge.extensions.teaching.protonn.proof.code import TaughtCode
from protonn_edge.extensions.teaching.protonn.proof.loop import TaughtLoop
from protonn_edge.extensions.teaching.protonn.proof.slots import Slots
from protonn_edge.extensions.teaching.protonn.proof.votes import Votes
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes


class TaughtProof:
    """The proof that the model's taught examples vote; see `VotersProof`."""

    def __init__(self, stage: IntegerPrototypes, proof: PredictionProof) -> None:
        self.code, self._machine = TaughtCode(stage, proof), proof.machine
        self._count = Root("examples", np.arange(256))
        self._taught: dict[int, object] = {}

    def open(self, start: ChipState) -> None:
        """Let the number of examples and their first coordinates be anything."""
        first, count = self.code.first, self.code.count
        self._taught = {
            place: anything() for place in range(first.address, first.address + first.size)
        }
        self._taught[count.address] = byte_of(variable(self._count), 0)
        start.memory |= {**self._taught, **dict.fromkeys(self.code.changing)}

    def check_kept(self, endings: list[ChipState]) -> None:
        """Refuse endings with other examples."""
        for state in endings:
            if any(state.memory.get(place) is not byte for place, byte in self._taught.items()):
                raise Unproven("a prediction changes taught examples")

    def behind(self, prototypes: PrototypeLoop, state: ChipState) -> tuple[ChipState, SumForm]:
        """Return a state behind the votes, and the largest RBF there."""
        machine = self._machine
        chooses, machine.chooses = machine.chooses, False  # a path for each order of keys
        loop = TaughtLoop(self.code, prototypes, state, self._count)
        slots, votes = Slots(loop), Votes(loop)
        slots.check_slot()
        slots.check_insertion()
        votes.check_agreement()
        votes.check_voters()
        machine.chooses, machine.eeprom = chooses, {}
        return votes.end()


class ExamplesProof(ProofAddition):
    """The calls of examples, and their votes."""

    function: ClassVar[str] = "recall"
    calls: ClassVar[str] = "teaching/proof.j2"

    def voters_proof(self, stage: IntegerPrototypes, proof: PredictionProof) -> TaughtProof:
        """Return the proof that examples vote."""
        return TaughtProof(stage, proof)
