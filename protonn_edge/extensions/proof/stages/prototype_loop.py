"""The loop over prototypes in a linked program, and what each part of it keeps."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from protonn_edge.chips.avr.instructions import written_by
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.avr.semantics import INTERRUPTS
from protonn_edge.extensions.proof.answers import equal_bytes
from protonn_edge.extensions.proof.equality import Executed, PredictionProof
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
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes

LIST, NEXT, ROW, POINTER = 26, 24, 22, 30  # pairs of registers
_LABELS = 18  # the register with which addresses of labels are listed, if they are in the code
LARGEST = 29  # the register of the largest RBF, if that is an answer, too
ENTRY = 3  # bytes of an entry: an RBF, and the address of labels


class VotersProof(Protocol):
    """The proof of what votes beside the prototypes, whose code is behind theirs."""

    def open(self, start: ChipState) -> None:
        """Let what a device keeps of voters be anything."""

    def behind(self, loop: PrototypeLoop, state: ChipState) -> tuple[ChipState, SumForm]:
        """Return a state behind the votes, from one in front of them, and the largest RBF there.

        Refuse votes that are not the model's, for any scores and any largest RBF.
        """

    def check_kept(self, endings: list[ChipState]) -> None:
        """Refuse endings that change what a device keeps of voters."""


class PrototypeLoop:
    """The loop in a linked program, in front of the first prototype."""

    def __init__(self, stage: IntegerPrototypes, proof: PredictionProof, start: ChipState) -> None:
        self.stage, self.proof = stage, proof
        self.machine, self.explorer = proof.machine, proof.explorer
        variables = {each.name: each for each in proof.variables}
        self.list, self.scores = (variables[f"prototypes_{n}"] for n in ("list", "scores"))
        self.point = variables["projection"].address
        self.places = self.list.size // ENTRY
        self.stride = stage.n_inputs + stage.n_outputs
        self.head, self.some = proof.mark("prototypes_step0"), proof.mark("prototypes_some")
        self.done = _done(proof.program, self.some)
        is_loop = any(".prototypes_again." in each.name for each in proof.program.marks)
        # in front of each prototype, if it is instructions of its own
        self.heads, self.rows = ([], 0) if is_loop else _unrolled(proof.program, self)
        self.explorer.stops = frozenset({self.head})
        if proof.run(start) or len(self.explorer.stopped) != 1:
            raise Unproven("the loop over prototypes does not begin in one state")
        self.explorer.stops = frozenset({self.head, *self.heads, self.some, self.done})
        self.first = self.explorer.stopped[0]
        if is_loop:
            low, high = self.first.registers[ROW : ROW + 2]
            if not isinstance(low, int) or not isinstance(high, int):
                raise Unproven("the place of the first prototype depends on inputs")
            self.rows = low | high << 8  # the first prototype, which the program has in its code
        self._check_start()
        first, machine = self.first, self.machine
        self._forget_changing(first)
        self.coordinates = [machine.read(first, self.point + k) for k in range(stage.n_inputs)]
        held = [any(same(v, each) for each in self.coordinates) for v in first.registers]
        changed = self._changed_by_votes()
        # registers that are as they were in front of the call, and do not change in the loop
        self.untouched = [
            number
            for number, value in enumerate(first.registers)
            if not held[number] and number not in changed and same(value, start.registers[number])
        ]
        for number in range(32):
            if not held[number] and number not in self.untouched:
                first.registers[number] = None
        # of the prototypes that have voted: anything, as scores are
        self.nearest = variable(Root("nearest", np.arange(int(stage.table.max()) + 1)))
        if stage.gives_nearest:
            first.registers[LARGEST] = byte_of(self.nearest, 0)
        addresses = self.list.address + ENTRY * np.arange(self.places)
        self.counts, self.entry = machine.pointer("list", addresses, range(ENTRY))
        if self.entry != self.list.address:  # a step knows no other address of this entry
            for place in range(self.list.address, self.list.address + self.list.size):
                del first.memory[place], machine.initial[place]

    def _forget_changing(self, state: ChipState) -> None:
        """Let scores and the list be anything, as behind other prototypes."""
        for each in (self.list, self.scores):
            for k in range(each.size):
                root = Root(f"{each.name}{k}", np.arange(256))
                state.memory[each.address + k] = byte_of(variable(root), 0)
        state.masks, state.facts, state.flags[:INTERRUPTS] = {}, (), [None] * INTERRUPTS

    def _changed_by_votes(self) -> set[int]:
        """Return the registers that code behind the comparison of prototypes writes."""
        changed, place = set(), self.some
        while place < self.done:
            here = self.proof.program.reached(place)
            changed |= written_by(here)
            place = here.end
        return changed

    def _head(self, number: int) -> int:
        """Return the place in front of a prototype."""
        return self.heads[number] if self.heads else self.head

    def _check_start(self) -> None:
        """Refuse a list that is not empty, or scores or a largest RBF that are not 0."""
        if self.stage.gives_nearest and self.first.registers[LARGEST] != 0:
            raise Unproven("the largest RBF does not begin with 0")
        self.check_pair(self.first, LIST, self.list.address)
        self._check_front(self.first, constant(self.rows))
        places = range(self.scores.address, self.scores.address + self.scores.size)
        if any(self.first.memory.get(each) != 0 for each in places):
            raise Unproven("the scores do not begin with 0")

    def _check_front(self, state: ChipState, row: SumForm) -> None:
        """Refuse a state in front of a prototype that does not point to its row, if any does."""
        for pair in () if self.heads else (ROW, POINTER):
            self.check_pair(state, pair, row)

    def _check_kept(self, state: ChipState) -> None:
        # The next list loads the coordinates again.
        nearest = [LARGEST] * self.stage.gives_nearest
        in_front = state.place in (self.head, *self.heads)
        for number in range(32) if in_front else [*self.untouched, *nearest]:
            value = self.first.registers[number]
            if value is not None and not same(state.registers[number], value):
                raise Unproven(f"r{number} is not kept in the loop over prototypes")
        check_frame(state, self.first)

    def any_scores(self, state: ChipState) -> list[SumForm]:
        """Let scores be any numbers, and return these."""
        size, scores = self.scores.size // self.stage.n_outputs, []
        for label in range(self.stage.n_outputs):
            total = constant(0)
            for k in range(size):
                signed = 128 * (k == size - 1)
                root = Root(f"score{label}.{k}", np.arange(256) - signed)
                total = plus(total, scaled(variable(root), 1 << 8 * k))
            for k in range(size):
                state.memory[self.scores.address + size * label + k] = byte_of(total, k)
            scores.append(total)
        return scores

    def check_sums(self, state: ChipState, sums: list[SumForm]) -> None:
        """Refuse other scores than some sums."""
        size = self.scores.size // self.stage.n_outputs
        for label, total in enumerate(sums):
            for k in range(size):
                place = self.scores.address + size * label + k
                if not equal_bytes(state.memory[place], byte_of(total, k)):
                    raise Unproven(f"the votes for class {label} differ from the model's")

    def is_negative(self, state: ChipState, form: SumForm) -> bool:
        """Whether a comparison on the way to a state shows that a sum is negative."""
        forms = self.machine.algebra.sums.forms
        return form.high < 0 or any(
            minus(form, minus(forms[fact.lower], forms[fact.upper])).high - fact.strict < 0
            for fact in state.facts
        )

    def is_not_negative(self, state: ChipState, form: SumForm) -> bool:
        """Whether comparisons, or the values of roots, on the way to a state show the opposite."""
        algebra, forms = self.machine.algebra, self.machine.algebra.sums.forms
        reasons = [constant(0)]  # sums that are not negative
        reasons += [minus(forms[fact.upper], forms[fact.lower]) for fact in state.facts]
        algebra.facts, algebra.masks = state.facts, state.masks
        found = any(algebra.bounds(minus(form, each))[0] >= 0 for each in reasons)
        algebra.forget()
        return found

    def endings(self, voters: VotersProof | None) -> Executed:
        """Return the endings of the decision, for any scores and any largest RBF."""
        state, nearest = self._with_untouched(self.done), self.nearest
        if voters is not None:
            state, nearest = voters.behind(self, state)
        scores = self.any_scores(state)
        self.explorer.stops, self.machine.algebra.orders_sums = frozenset(), False
        endings = self.explorer.go_on([state])
        if voters is not None:
            voters.check_kept(endings)
        return Executed(endings, scores, nearest)

    def _with_untouched(self, place: int) -> ChipState:
        """Return a state behind the comparison of prototypes, which leaves other registers."""
        state = self.first.copy()
        state.place = place
        for number in set(range(32)).difference(self.untouched):
            state.registers[number] = None
        if self.stage.gives_nearest:
            state.registers[LARGEST] = byte_of(self.nearest, 0)
        return state

    def ends(self, state: ChipState) -> list[ChipState]:
        """Return the states at the next places of the loop."""
        self.explorer.stopped, self.machine.algebra.orders_sums = [], True
        if self.explorer.go_on([state]):
            raise Unproven("a part of the loop returns")
        return self.explorer.stopped

    def check_pair(self, state: ChipState, pair: int, wanted: int | SumForm) -> None:
        """Refuse two registers that are not the lowest bytes of a sum."""
        form = constant(wanted) if isinstance(wanted, int) else wanted
        for k in range(2):
            if not equal_bytes(state.registers[pair + k], byte_of(form, k)):
                raise Unproven(f"r{pair + k} differs from the loop's")


def check_frame(state: ChipState, before: ChipState) -> None:
    """Refuse a part of the loop that changes the stack's place, or interrupts."""
    pairs = zip(state.stack, before.stack, strict=True)
    if not all(same(*each) for each in pairs) or state.calls != before.calls:
        raise Unproven("the stack is not kept in the loop over prototypes")
    if state.flags[INTERRUPTS] is not before.flags[INTERRUPTS]:
        raise Unproven("the interrupts are not kept in the loop over prototypes")


def check_unchanged(state: ChipState, before: dict[int, object], own: range) -> None:
    """Refuse a part of the loop that changes, or takes off the stack, anything but its own."""
    for place in state.memory.keys() | before.keys():
        if place not in own and state.memory.get(place) is not before.get(place):
            raise Unproven("the loop over prototypes changes another variable")


def _done(program: LinkedProgram, some: int) -> int:
    """Return what is behind the votes, which ends with clearing the register of zero."""
    here = program.reached(some)
    while here.name != "eor" or {here.operands["d"], here.operands["r"]} != {1}:
        here = program.reached(here.end)
    return here.address


def _unrolled(program: LinkedProgram, loop: PrototypeLoop) -> tuple[list[int], int]:
    """Return the places in front of prototypes, behind others' entries, and the rows."""
    heads, labels, stores, place = [loop.head], list[int](), 0, loop.head
    while place < loop.some and len(heads) < loop.stage.n_prototypes:
        here = program.reached(place)
        place, stores = here.end, stores + (here.name == "st")
        if stores == ENTRY:
            heads, stores = [*heads, place], 0
        if here.name == "ldi" and here.operands["d"] == _LABELS:
            labels.append(here.operands["K"])
    low, high, *_ = labels  # of the first prototype
    return heads, low + (high << 8) - loop.stage.n_inputs
