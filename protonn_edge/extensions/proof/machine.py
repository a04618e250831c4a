"""A chip whose bytes are parts of sums of tables: its program, calls and branches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

import numpy as np

from protonn_edge.chips.avr.instruction_set import TAKEN_BRANCH
from protonn_edge.chips.avr.instructions import Decoded, written_by
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.avr.semantics import (
    ACTIONS,
    COMPUTING,
    INTERRUPTS,
    Action,
    Processor,
    Z,
)
from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.arithmetic import Arithmetic
from protonn_edge.extensions.proof.chip_memory import ChipMemory
from protonn_edge.extensions.proof.data_space import OFFSETS, any_bit, anything
from protonn_edge.extensions.proof.forms import (
    Bit,
    Byte,
    Condition,
    Order,
    Root,
    Unproven,
    same,
    variable,
)
from protonn_edge.extensions.proof.state import ChipState
from protonn_edge.system.errors import CheckFailed

RETURN = 1 << 25
"""Where the outermost function returns to: no address of three bytes."""


class Fork(NamedTuple):
    """Where a program goes on: here if the bit is set, else there."""

    bit: Bit | Order
    taken: int
    other: int


_UNFOLLOWED = {"icall", "reti"}
"""Instructions that lead where no flow of the explorer does."""


class Machine(ChipMemory, Processor):
    """A chip with a program.

    Attributes
    ----------
    executed : dict of int to tuple
        The instructions that were executed, by their places.
    chooses : bool
        Whether each value that depends on a comparison of two sums gets a name where paths meet, as
        a rule about the largest scores or a counter needs it. Else only the larger of two bytes
        does: other programs have fewer states without names.
    """

    arithmetic: Arithmetic

    def __init__(
        self,
        program: LinkedProgram,
        initial: Mapping[int, int] | None = None,
        algebra: Algebra | None = None,  # another one, such as that of a program to compare with
    ) -> None:
        super().__init__(program, algebra or Algebra(), initial or {})
        self.chooses = False
        # the return address of the outermost call, which no program knows
        bytes_of_address = range(program.core.return_bytes)
        self.back = [Byte(variable(Root(f"back{k}", np.arange(256))), 0) for k in bytes_of_address]
        self.executed: dict[int, tuple[Action, Decoded]] = {}

    def step(self, state: ChipState) -> Fork | None:
        """Execute an instruction; return the ways on if inputs decide between two."""
        known = self.executed.get(state.place)
        if known is None:
            here = self._reached(state.place)
            known = self.executed[state.place] = ACTIONS[here.name], here
        action, here = known
        state.place = here.end
        self.algebra.facts, self.algebra.masks = state.facts, state.masks
        try:
            return cast("Fork | None", action(self, state, here.operands, here))
        except Unproven as reason:
            if self.kept and here.name in COMPUTING:
                self._leave_open(state, here)
                return None
            where = self.program.names.name_of(here.address)
            raise Unproven(f"{reason} ({here.name} at 0x{here.address:x}, {where})") from None

    def _reached(self, place: int) -> Decoded:
        """Return an instruction, if all that it does is stated."""
        try:
            here = self.program.reached(place)
        except CheckFailed as failure:
            raise Unproven(str(failure)) from None
        if here.name not in ACTIONS or here.name in _UNFOLLOWED:
            raise Unproven(f"the instruction {here.name}")
        if here.moved is not None and here.operands["d"] & ~1 == here.moved:
            raise Unproven("a pointer that moves is read or written itself, which is undefined")
        return here

    def _leave_open(self, state: ChipState, here: Decoded) -> None:
        """Let all that an instruction computes be anything: it may be needed for counters alone."""
        for number in written_by(here):
            state.registers[number] = anything()
        state.flags[:INTERRUPTS] = [any_bit() for _ in range(INTERRUPTS)]

    def enter(self, state: ChipState, function: int, back: int | None = None) -> None:
        """Call a function, which returns to an address, or from the outermost call."""
        for number, byte in enumerate(self.back):
            self.push(state, byte if back is None else back >> 8 * number + 1 & 255)
        state.place = function

    def leave(self, state: ChipState) -> None:
        """Return from a function: to where it was called, or to RETURN."""
        popped = [self.pop(state) for _ in self.back][::-1]
        if all(same(*each) for each in zip(popped, self.back, strict=True)):
            state.place = RETURN
        elif all(isinstance(each, int) for each in popped):
            state.place = sum(byte << 8 * k + 1 for k, byte in enumerate(popped))
        else:
            raise Unproven("the return address is lost")

    def target(self, state: ChipState) -> int:
        """Return the place in code that Z has."""
        place = self.address(*state.registers[Z : Z + 2])
        if not isinstance(place, int) or place >= OFFSETS:
            raise Unproven("it jumps to an unknown place")
        return 2 * place

    def jump(self, state: ChipState, target: int) -> None:
        """Go to a place."""
        state.place = target

    def part(self, state: ChipState, flag: object, taken: int, other: int) -> Fork | None:
        """Go one way, if what is known decides that; else return both."""
        if taken == other:  # whether a branch is taken cannot be seen by its place
            state.cycles = state.cycles[0], state.cycles[1] + TAKEN_BRANCH
        bit = self._condition(flag)
        if isinstance(bit, Bit):
            reached = bit.mask[state.reached(bit.root)]
            if reached.all() or not reached.any():
                bit = int(reached.any())
        elif isinstance(bit, Order):
            known = self.algebra.sums.known(state.facts, bit)
            bit = bit if known is None else int(known)
        if isinstance(bit, int):
            state.place = taken if bit else other
            return None
        return Fork(bit, taken, other)

    def _condition(self, flag: object) -> Condition:
        """Return a bit; in programs that count something, any bit if it is not computed.

        Counters decide only what is counted, so both ways are right, or neither of the answers is.
        """
        try:
            return self.arithmetic.bit(flag)
        except Unproven:
            if not self.kept:
                raise
            return any_bit()
