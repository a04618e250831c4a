"""What a slot changes: nothing, or its example is inserted into the list."""

from __future__ import annotations

import numpy as np

from protonn_edge.extensions.proof.answers import equal_bytes
from protonn_edge.extensions.proof.facts import OrderFact
from protonn_edge.extensions.proof.forms import (
    Root,
    SumForm,
    Unproven,
    byte_of,
    constant,
    minus,
    plus,
    same,
    scaled,
    variable,
)
from protonn_edge.extensions.proof.state import ChipState
from protonn_edge.extensions.teaching.protonn.proof.loop import (
    DISTANCE,
    LABEL,
    NOWHERE,
    TaughtLoop,
)


class Slots:
    """Any slot, in front of which is any list."""

    def __init__(self, loop: TaughtLoop) -> None:
        self.loop, self.code, self.example = loop, loop.code, loop.example
        self.prototypes = loop.prototypes

    def check_slot(self) -> None:
        """Refuse a slot whose example goes on if and only if it is listed."""
        code, example = self.code, self.example
        is_end = np.arange(example.slots.size) == example.slots.size - 1
        slot, record = variable(example.slots), variable(example.records)
        slot, record = plus(slot, constant(1)), plus(record, constant(example.stride))
        limit = variable(self.loop.distances[-1])
        for each in self.loop.ends(self.loop.at(code.head), code.head, code.near, code.vote):
            self.loop.check_kept(each, self.loop.any, NOWHERE)
            if (each.reached(example.slots) & (is_end != (each.place == code.vote))).any():
                raise Unproven("the loop over taught examples ends elsewhere")
            if each.place == code.vote:
                continue
            self.loop.check_next(each, slot, record, limit)
            beyond = minus(minus(example.distance, limit), constant(1))
            if each.place == code.near:
                self._check_near(each, beyond)
            elif not self._is_left_out(each, beyond):
                raise Unproven("an example is left out that may be near")

    def _check_near(self, state: ChipState, beyond: SumForm) -> None:
        """Refuse an example of no class, or farther than the limit: its distance is wrong, too."""
        self.prototypes.check_pair(state, DISTANCE, beyond)
        if not self.prototypes.is_negative(state, beyond):
            raise Unproven("an example is listed without all of its coordinates")
        label = self.example.label
        if not same(state.registers[LABEL], byte_of(variable(label), 0)):
            raise Unproven("an example is listed with another class")
        if (state.reached(label) & ~self.example.is_class).any():
            raise Unproven("an example without a class is listed")
        for root in self.example.coordinates:
            if (state.reached(root) & self.example.is_wrapped).any():
                raise Unproven("a far example is listed")

    def _is_left_out(self, state: ChipState, beyond: SumForm) -> bool:
        """Whether a state's examples have no class, or are farther than the limit."""
        if not (state.reached(self.example.label) & self.example.is_class).any():
            return True
        return self.prototypes.is_not_negative(state, beyond) or any(
            not (state.reached(each) & ~self.example.is_wrapped).any()
            for each in self.example.coordinates
        )

    def check_insertion(self) -> None:
        """Refuse a list that is not in order with a near example."""
        code, example, state = self.code, self.example, self.loop.at(self.code.near)
        label = variable(Root("class", np.arange(self.loop.stage.n_outputs)))
        distance = variable(Root("distance", np.arange(code.limit)))
        limit = variable(self.loop.distances[-1])
        beyond = minus(minus(distance, limit), constant(1))
        state.registers[LABEL] = byte_of(label, 0)
        state.registers[DISTANCE : DISTANCE + 2] = (byte_of(beyond, k) for k in range(2))
        slot, record = variable(example.slots), variable(example.records)
        for each in self.loop.ends(state, code.head):
            self.loop.check_kept(each, state, code.changing)
            entries = self._with_inserted(each, (label, distance))
            self.loop.check_next(each, slot, record, entries[-1][1])
            for number, entry in zip(code.entries, entries, strict=True):
                wanted = byte_of(entry[0], 0), *(byte_of(entry[1], k) for k in range(2))
                for place, byte in enumerate(wanted, code.place_of(number)):
                    if not equal_bytes(each.memory[place], byte):
                        raise Unproven("an example is inserted elsewhere")

    def _with_inserted(
        self, state: ChipState, new: tuple[SumForm, SumForm]
    ) -> list[tuple[SumForm, SumForm]]:
        """Return the entries with a new one, where the comparisons on the way here have it."""
        sums = self.code.machine.algebra.sums
        entries = [
            (variable(label), variable(distance))
            for label, distance in zip(self.loop.classes, self.loop.distances, strict=True)
        ]
        key, *keys = (sums.number(plus(x, scaled(y, 256))) for x, y in (new, *entries))
        for place in range(len(keys) + 1):
            facts = [OrderFact(each, key, strict=False) for each in keys[:place][-1:]]
            facts += [OrderFact(key, each, strict=True) for each in keys[place:][:1]]
            if all(sums.holds(state.facts, each) for each in facts):
                return [*entries[:place], new, *entries[place:]][: len(entries)]
        raise Unproven("an example is inserted without a comparison")
