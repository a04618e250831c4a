"""The loop over taught examples, in front of any slot, with any list."""

from __future__ import annotations

import numpy as np

from protonn_edge.chips.avr.semantics import INTERRUPTS
from protonn_edge.extensions.proof.forms import (
    Root,
    SumForm,
    Unproven,
    byte_of,
    constant,
    minus,
    same,
    variable,
)
from protonn_edge.extensions.proof.stages.prototype_loop import (
    PrototypeLoop,
    check_frame,
    check_unchanged,
)
from protonn_edge.extensions.proof.state import ChipState
from protonn_edge.extensions.teaching.protonn.proof.code import TaughtCode
from protonn_edge.extensions.teaching.protonn.proof.examples import Example

SLOT, ENTRY, RECORD, LIMIT, DISTANCE = 26, 26, 24, 6, 20  # pairs of registers
LABEL, FACTOR = 19, 22  # registers
COORDINATES = (22, 23, 8, 9)  # of the point's first coordinates
NO_CLASS = 255
NOWHERE = range(0)


class TaughtLoop:
    """What the loop does to any list, and to any scores."""

    def __init__(
        self, code: TaughtCode, prototypes: PrototypeLoop, state: ChipState, count: Root
    ) -> None:
        self.code, self.prototypes, self.stage = code, prototypes, code.stage
        self.example = Example(code)
        state.memory |= {prototypes.point + k: each for k, each in enumerate(self.example.point)}
        prototypes.any_scores(state)
        self.first, left = self._begin(state, count)
        pairs = zip(self.first.registers, left.registers, strict=True)
        differ = {number for number, each in enumerate(pairs) if not same(*each)}
        self.largest = self._with_largest()
        self.changed = (differ | code.written()).difference(self.largest)
        self.check_kept(left, self.first, code.changing)
        self._check_begun()
        self.any = self._any_list()

    def _begin(self, state: ChipState, count: Root) -> tuple[ChipState, ChipState]:
        """Return the state in front of the first slot, and that behind the votes, without any."""
        code = self.code
        ends = {each.place: each for each in self.ends(state, code.head, code.done)}
        if len(code.explorer.stopped) != 2 or len(ends) != 2:
            raise Unproven("the loop over taught examples does not begin in one state")
        for place, some in ((code.head, True), (code.done, False)):
            mask = ends[place].masks.pop(count, None)
            wanted = (count.values > 0) == some
            if ends[place].masks or ends[place].facts or mask is None or (mask != wanted).any():
                raise Unproven("whether taught examples vote depends on something else")
        return ends[code.head], ends[code.done]

    def ends(self, state: ChipState, *stops: int) -> list[ChipState]:
        """Return the states at the next of some places."""
        self.code.explorer.stops = frozenset(stops)
        return self.prototypes.ends(state)

    def _with_largest(self) -> list[int]:
        """Return the register of the largest RBF, which voters change, if that is an answer."""
        if not self.stage.gives_nearest:
            return []
        nearest = byte_of(self.prototypes.nearest, 0)
        held = [n for n in self.code.written() if same(self.first.registers[n], nearest)]
        if len(held) != 1:
            raise Unproven("no register has the largest RBF")
        return held

    # ---- what holds in front of each slot ----

    def _check_begun(self) -> None:
        """Refuse a loop that does not begin with the first slot, and a list without examples."""
        code, state = self.code, self.first
        nothing = [NO_CLASS, *divmod(code.limit - 1, 256)[::-1]] * len(code.entries)
        places = range(code.place_of(1), code.place_of(1) + len(nothing))
        if [state.memory[each] for each in places] != nothing:
            raise Unproven("the list of taught examples does not begin empty")
        slot, record = (int(each.values[0]) for each in (self.example.slots, self.example.records))
        self.check_next(state, constant(slot), constant(record), constant(code.limit - 1))

    def check_next(self, state: ChipState, slot: SumForm, record: SumForm, limit: SumForm) -> None:
        """Refuse a state that is not in front of a slot, with a point and a largest distance."""
        self.prototypes.check_pair(state, SLOT, slot)
        self.prototypes.check_pair(state, RECORD, record)
        self.prototypes.check_pair(state, LIMIT, minus(constant(-1), limit))
        for number, byte in zip(COORDINATES, self.example.point, strict=False):
            if not same(state.registers[number], byte):
                raise Unproven("the point is lost")

    def _any_list(self) -> ChipState:
        """Return the state in front of any slot, with any list."""
        code, state = self.code, self.first.copy()
        for number in self.changed:
            state.registers[number] = None
        state.flags[:INTERRUPTS] = [None] * INTERRUPTS
        state.memory |= {**dict.fromkeys(code.changing), **self.example.memory}
        classes = [*range(self.stage.n_outputs), NO_CLASS]
        self.classes = [Root(f"class{k}", classes) for k in code.entries]
        self.distances = [Root(f"distance{k}", np.arange(code.limit)) for k in code.entries]
        for k, label, distance in zip(code.entries, self.classes, self.distances, strict=True):
            place = code.place_of(k)
            state.memory[place] = byte_of(variable(label), 0)
            state.memory |= {place + 1 + n: byte_of(variable(distance), n) for n in range(2)}
        slot, record = variable(self.example.slots), variable(self.example.records)
        most = minus(constant(-1), variable(self.distances[-1]))
        for pair, form in ((SLOT, slot), (RECORD, record), (LIMIT, most)):
            state.registers[pair : pair + 2] = (byte_of(form, k) for k in range(2))
        for number, byte in zip(COORDINATES, self.example.point, strict=False):
            state.registers[number] = byte
        return state

    def at(self, place: int) -> ChipState:
        """Return the state with any list, at a place."""
        state = self.any.copy()
        state.place = place
        state.frames[-1].arrive(-1, place)
        return state

    def check_kept(self, state: ChipState, before: ChipState, own: range) -> None:
        """Refuse other changes than those of the loops' registers and some addresses."""
        for number in set(range(32)).difference(self.changed):
            if not same(state.registers[number], before.registers[number]):
                raise Unproven(f"r{number} is not kept in the loop over taught examples")
        check_frame(state, before)
        check_unchanged(state, before.memory, own)
