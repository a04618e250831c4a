"""A function of a program does the same in both of its forms, on the machine of the proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from extensions.proof.agreement.call import Call, Place
from extensions.proof.agreement.inputs import AnyInputs, DrawnInputs
from extensions.proof.agreement.linked import Forms, Linked

from protonn_edge.chips.avr.semantics import INTERRUPTS
from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.exploration import Explorer
from protonn_edge.extensions.proof.forms import (
    Bit,
    Byte,
    Mask,
    Root,
    SumForm,
    Value,
    congruent,
    same,
)
from protonn_edge.extensions.proof.machine import Machine
from protonn_edge.extensions.proof.state import ChipState

FORMS = ("assembly", "portable")
_PRESERVED = (*range(2, 18), 28, 29)
_BYTES = 256
_MOST_STEPS = 1_000_000

Free = Callable[[Place], Value]
"""What a byte is that may be any."""


class Disagreement(AssertionError):
    """The two forms do not do the same; `index` is a value of a root for which they do not."""

    def __init__(self, sentence: str, root: Root | None = None, index: int = 0) -> None:
        super().__init__(sentence)
        self.root, self.index = root, index


@dataclass
class Outcome:
    """What a form leaves: the states behind its return, and registers and stack in front."""

    machine: Machine
    before: list[Value]
    states: list[ChipState]
    steps: int


class Done:
    """What was run."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.steps = [each.steps for each in outcomes]
        self.executed = {*outcomes[0].machine.executed}  # of the assembly form


def prove(forms: Forms, call: Call) -> Done:
    """Prove that both forms do the same for all values.

    Raises
    ------
    Disagreement
        If they do not.
    Unproven
        If that is beyond what is provable.
    """
    return _agreed(forms, call, AnyInputs(call).byte)


def compare(forms: Forms, call: Call, lanes: int, seed: int = 0) -> Done:
    """Run both forms on random and extreme values, or raise `Disagreement`."""
    inputs = DrawnInputs(call, lanes, np.random.default_rng(seed))
    try:
        return _agreed(forms, call, inputs.byte)
    except Disagreement as error:
        raise Disagreement(f"{error} for {inputs.of(error.index)}") from error


class _OfInputs(Algebra):
    """Bytes as functions of the roots that a call begins with, not of new ones."""

    def reduced(self, form: SumForm) -> SumForm:
        return form


def _agreed(forms: Forms, call: Call, free: Free) -> Done:
    """Run both forms, and refuse what they leave if it is not the same."""
    algebra = _OfInputs()
    outcomes = [run(getattr(forms, form), call, free, form, algebra) for form in FORMS]
    for form, each in zip(FORMS, outcomes, strict=True):
        for state in each.states:
            for name, *values in _kept(each, state):
                _check(f"{call.function}: {name} of {form}", algebra, state.masks, *values)
    one, other = outcomes
    for a in one.states:
        for b in other.states:
            masks = _common(a.masks, b.masks)
            if masks is None:
                continue
            for name, *values in _left(forms, call, (one, a), (other, b)):
                _check(f"{call.function}: {name}", algebra, masks, *values)
    return Done(outcomes)


def run(
    linked: Linked, call: Call, free: Free, form: str = "", algebra: Algebra | None = None
) -> Outcome:
    """Run a form of a function to its return; its registers may be others than another form's."""
    known, places = call.known(linked), call.places(linked)
    initial = {at: known.get(place, 0) for at, place in places.items()}
    machine = Machine(linked.program, initial, algebra)
    code = bytearray(machine.code)
    for name, content in call.tables.items():
        for at, byte in enumerate(content, linked.tables[name].address):
            if byte is None:
                machine.tables[at] = free((name, at))
            else:
                code[at] = byte
    machine.code = bytes(code)
    state = ChipState(0)
    state.registers = call.registers(linked, lambda of: free(of if of[0] else (form, of[1])))
    state.stack = machine.stack()
    state.flags[INTERRUPTS] = Bit(Root("interrupts", [0, 1]), np.array([False, True]))
    state.memory = {at: free(place) for at, place in places.items() if place not in known}
    before = [*state.registers, *state.stack]
    machine.enter(state, linked.functions[call.function])
    explorer = Explorer(machine, _MOST_STEPS)
    return Outcome(machine, before, explorer.run(state), explorer.steps)


def _common(one: Mapping[Root, Mask], other: Mapping[Root, Mask]) -> dict[Root, Mask] | None:
    """Return which values of roots lead to both of two states; None if none do."""
    masks = {root: one.get(root, True) & other.get(root, True) for root in {**one, **other}}
    return masks if all(each.any() for each in masks.values()) else None


def _kept(outcome: Outcome, state: ChipState) -> Iterator[tuple[str, Value, Value]]:
    """Yield what a function has to keep."""
    yield "r1", state.registers[1], 0
    for number in _PRESERVED:
        yield f"r{number}", state.registers[number], outcome.before[number]
    for value, before in zip(state.stack, outcome.before[32:], strict=True):
        yield "the stack pointer", value, before


def _left(
    forms: Forms, call: Call, one: tuple[Outcome, ChipState], other: tuple[Outcome, ChipState]
) -> Iterator[tuple[str, Value, Value]]:
    """Yield what has to be equal behind the call."""
    size = 1 << max(1, (call.returns - 1).bit_length())  # the next power of 2, up to r25
    for number in range(26 - size, 26)[: call.returns]:
        yield f"returned r{number}", one[1].registers[number], other[1].registers[number]
    a, b = (
        {place: outcome.machine.before(state, at) for at, place in call.places(linked).items()}
        for linked, (outcome, state) in zip(
            (forms.assembly, forms.portable), (one, other), strict=True
        )
    )
    for place in a.keys() & b.keys():
        if place[0] not in call.ignored:
            yield "{}[{}]".format(*place), a[place], b[place]


def _check(
    name: str, algebra: Algebra, masks: Mapping[Root, Mask], one: Value, other: Value
) -> None:
    """Refuse two bytes that are not equal within masks."""
    if same(one, other):
        return
    alike = isinstance(one, Byte) and isinstance(other, Byte) and one.bit == other.bit
    if alike and congruent(one.form, other.form, _BYTES << one.bit):
        return
    algebra.masks = masks
    root, differ = algebra.pointwise(lambda x, y: x != y, one, other)
    algebra.forget()
    if root is None:
        raise Disagreement(name)
    wrong = np.broadcast_to(differ, root.size) & masks.get(root, True)
    if wrong.any():
        raise Disagreement(name, root, int(np.argmax(wrong)))
