"""Prove that ``pnn_predict`` of a linked program computes a model's scores and class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from protonn_edge.avr.instruction_set import KEPT_BY_CALLEE
from protonn_edge.avr.names import Variable
from protonn_edge.avr.program import LinkedProgram
from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.chain.integer_stage import IntegerStage
from protonn_edge.chain.registry import module_of_stage
from protonn_edge.errors import CheckFailed
from protonn_edge.proof.exploration import Explorer
from protonn_edge.proof.facts import OrderFact
from protonn_edge.proof.forms import (
    Bit,
    Byte,
    Root,
    SumForm,
    Unproven,
    Value,
    byte_of,
    congruent,
    minus,
    same,
    scaled,
    variable,
)
from protonn_edge.proof.instructions import ACTIONS
from protonn_edge.proof.machine import OFFSETS, Machine
from protonn_edge.proof.reference import Reference
from protonn_edge.proof.state import INTERRUPTS, ChipState

PREFIX = "pnn"
_MOST_STEPS = 20_000_000
_KEPT = (*KEPT_BY_CALLEE, 28, 29)
_ARGUMENT = 24  # the lower register of a pointer that is passed, or of what is returned


class Different(Unproven):
    """A byte of a program is not proven to be the model's."""

    def __init__(self, sentence: str, found: Any, wanted: Value) -> None:
        super().__init__(sentence)
        self.found, self.wanted = found, wanted


@dataclass(frozen=True)
class Proof:
    """What was proven.

    Attributes
    ----------
    steps : int
        Instructions that were executed.
    endings : int
        States behind the last one: paths that did not become one.
    written : tuple of str
        The variables that the program changes.
    """

    steps: int
    endings: int
    written: tuple[str, ...]


class PredictionProof:
    """A prediction of inputs that may be anything.

    It is one call of ``pnn_predict``; or, if `parts` are numbers of features, one of ``pnn_begin``,
    one of ``pnn_push_many`` for each of them, and one of ``pnn_finish``.
    """

    def __init__(
        self,
        program: LinkedProgram,
        model: IntegerChain,
        prefix: str = PREFIX,
        most_steps: int = _MOST_STEPS,
        parts: Sequence[int] = (),
    ) -> None:
        self.program, self.model, self.prefix = program, model, prefix
        self.variables = variables_of(program, prefix)
        self.machine = Machine(program, ACTIONS, initial_bytes(program, self.variables))
        self.explorer = Explorer(self.machine, most_steps)
        maximum = model.quantizer.maximum
        self.inputs = [Root(f"x{i}", np.arange(maximum + 1)) for i in range(model.n_features)]
        bytes_ = [Byte(variable(root), 0) for root in self.inputs]
        ends = np.cumsum(parts).tolist()
        pushed = [bytes_[end - count : end] for count, end in zip(parts, ends, strict=True)]
        self._calls = [("begin", []), *(("push_many", each) for each in pushed), ("finish", [])]
        if not parts:
            self._calls = [("predict", bytes_)]

    def proof(self) -> Proof:
        """Execute it, and compare all that it leaves behind with the model."""
        start = self.start()
        try:
            endings, scores = self._executed(start)
            self._check(start, endings, scores)
        # of code that was damaged
        except (CheckFailed, LookupError, RecursionError, ValueError, AssertionError) as failure:
            raise Unproven(f"the code is not that of functions: {failure}") from failure
        return Proof(self.explorer.steps, len(endings), self._written(endings))

    def _executed(self, start: ChipState) -> tuple[list[ChipState], list[SumForm]]:
        """Return the endings of the call, and the model's scores."""
        *before, last = (*self.model.feature_stages, *self.model.own_stages)
        module = module_of_stage(last.kind, "proof")
        if hasattr(module, "executed"):  # it has a loop whose data decide what is done
            run: Any = cast(Any, module).executed
            endings, scores = run(last, self, start, lambda: self.reference(before))
            return endings, scores
        return self.run(start), self.reference([*before, last])

    def run(self, start: ChipState) -> list[ChipState]:
        """Return the states behind the last call, from one in front of the first one."""

        def call(function: str, features: list[Byte], state: ChipState) -> None:
            self._check_kept(start, state)
            own = {place: value for place, value in state.memory.items() if place < OFFSETS}
            self._call(state, function, features)
            state.memory |= own

        return self.explorer.run(start, *(partial(call, *each) for each in self._calls[1:]))

    def reference(self, stages: Sequence[IntegerStage]) -> list[SumForm]:
        """Return the values of stages for the inputs, after the program was executed."""
        inputs = [variable(root) for root in self.inputs]
        return Reference(self.machine.algebra, self.explorer.ways).values(stages, inputs)

    def start(self) -> ChipState:
        """Return the state at the first instruction of the call."""
        state = ChipState(0)
        state.registers[1] = 0
        for number in _KEPT:
            state.registers[number] = Byte(variable(Root(f"r{number}", np.arange(256))), 0)
        state.stack = self.machine.stack()
        state.flags[INTERRUPTS] = Bit(Root("interrupts", [0, 1]), np.array([False, True]))
        self._call(state, *self._calls[0])
        return state

    def _call(self, state: ChipState, function: str, features: list[Byte]) -> None:
        """Put a state in front of a function, which may have an array of features."""
        pointer, state.memory = self.machine.array(function, features)
        count = len(features)
        for number in set(range(32)).difference(_KEPT, (1,)):
            state.registers[number] = None
        if features:
            state.registers[22:26] = count & 255, count >> 8, *pointer
        state.flags[:INTERRUPTS] = [None] * INTERRUPTS
        self.machine.enter(state, self.entry(function))

    def entry(self, function: str) -> int:
        """Return where one of the model's functions is."""
        name = f"{self.prefix}_{function}"
        address = self.program.names.address_of(name)
        if address is None:
            raise Unproven(f"there is no function {name}")
        return address

    def mark(self, name: str) -> int:
        """Return the first place with a label of this name."""
        marks = (each for each in self.program.marks if f".{name}." in each.name)
        address = min((each.address for each in marks), default=None)
        if address is None:
            raise Unproven(f"there is no label {name}")
        return address

    # ---- what is compared ----

    def _check(self, start: ChipState, endings: Sequence[ChipState], scores: list[SumForm]) -> None:
        """Refuse endings that differ from the model, or leave anything else behind."""
        if not endings:
            raise Unproven("no path returns")
        for state in endings:
            self._check_kept(start, state)
        for state in endings:
            place, asked = self.asked_for_scores(state)
            self._check_scores(asked, place, scores)
        for state in endings:
            self._check_class(state, scores)

    def _check_kept(self, start: ChipState, end: ChipState) -> None:
        for number in (1, *_KEPT):
            if not same(start.registers[number], end.registers[number]):
                raise Unproven(f"r{number} is not restored")
        top, before = self.machine.top(end), self.machine.top(start)
        if top != before + self.program.core.return_bytes:
            raise Unproven("the stack pointer is not restored")
        if end.flags[INTERRUPTS] is not start.flags[INTERRUPTS]:
            raise Unproven("the interrupts are not as before")
        for place in self.machine.carried:
            value = end.memory.get(place, self.machine.initial[place])
            if not same(value, self.machine.initial[place]):
                inside = (v for v in self.variables if v.address <= place < v.address + v.size)
                name = next(inside).name
                raise Unproven(f"{name} is read before it is written, and changes")

    def asked_for_scores(self, state: ChipState) -> tuple[int, ChipState]:
        """Return the address of the scores, and the state behind the function that returns it."""
        asking = state.copy()
        asking.masks, asking.facts, asking.frames, asking.calls = {}, (), [], []
        asking.registers = [None, 0, *[None] * 30]
        self.machine.enter(asking, self.entry("scores"))
        explorer = Explorer(self.machine, 1_000)
        (end,) = explorer.run(asking)
        low, high = end.registers[_ARGUMENT : _ARGUMENT + 2]
        if not isinstance(low, int) or not isinstance(high, int):
            raise Unproven("the place of the scores depends on inputs")
        return low | high << 8, end

    def _check_scores(self, state: ChipState, place: int, scores: list[SumForm]) -> None:
        size = self.model.own_stages[-1].output_bits // 8
        for label, score in enumerate(scores):
            for k in range(size):
                found = state.memory.get(place + size * label + k)
                wanted = byte_of(score, k)
                if not equal_bytes(found, wanted):
                    sentence = f"byte {k} of score {label} is {found}, not that of {score}"
                    raise Different(sentence, found, wanted)

    def _check_class(self, state: ChipState, scores: list[SumForm]) -> None:
        found = state.registers[_ARGUMENT]
        if isinstance(found, int):
            self._check_first_largest(state, scores, found, None, None)
        elif isinstance(found, Byte) and found.form.root is not None:
            root, array = found.form.root, found.array()
            mask = state.masks.get(root, np.ones(root.size, bool))
            for label in np.unique(array[mask]):
                self._check_first_largest(state, scores, int(label), root, mask & (array == label))
        else:
            raise Unproven(f"the class is {found}")

    def _check_first_largest(
        self, state: ChipState, scores: list[SumForm], label: int, root: Root | None, mask: Any
    ) -> None:
        if label >= len(scores):
            raise Unproven(f"the class {label} of {len(scores)}")
        for other in range(len(scores)):
            difference = minus(scores[other], scores[label])
            limit = 0 if other > label else -1  # of equal ones, the first wins
            if other == label or _at_most(difference, root, mask, limit):
                continue
            if any(_at_most(difference, each, own, limit) for each, own in state.masks.items()):
                continue
            if not self._ordered(state, scores[other], scores[label], strict=other < label):
                raise Unproven(f"class {label} may have a lower score than class {other}")

    def _ordered(self, state: ChipState, lower: SumForm, upper: SumForm, *, strict: bool) -> bool:
        """Whether the comparisons on the way here say which of two scores is less."""
        sums = self.machine.algebra.sums
        modulus = 1 << self.model.own_stages[-1].output_bits
        numbers = [*range(len(sums.forms)), *(sums.number(each) for each in (lower, upper))]
        alike = [
            [n for n in dict.fromkeys(numbers) if _is_score(sums.forms[n], each, modulus)]
            for each in (lower, upper)
        ]
        return any(
            sums.holds(state.facts, OrderFact(one, other, strict))
            for one in alike[0]
            for other in alike[1]
        )

    def _written(self, endings: Sequence[ChipState]) -> tuple[str, ...]:
        places = {place for each in endings for place in each.memory}
        return tuple(sorted({
            each.name
            for each in self.variables
            if not places.isdisjoint(range(each.address, each.address + each.size))
        }))  # fmt: skip


def variables_of(program: LinkedProgram, prefix: str) -> list[Variable]:
    """Return the variables that the model's file alone can use."""
    return [each for each in program.variables if each.source == f"{prefix}_model.c"]


def initial_bytes(program: LinkedProgram, variables: Sequence[Variable]) -> dict[int, int]:
    """Return the bytes of variables as they are when a program starts."""
    places = {p for each in variables for p in range(each.address, each.address + each.size)}
    initial = dict.fromkeys(sorted(places), 0)
    for section in program.initial_values:
        for place, byte in enumerate(section.contents, section.address):
            if place in initial:
                initial[place] = byte
    return initial


def equal_bytes(found: Any, wanted: Value) -> bool:
    """Whether two bytes are proven equal for every input."""
    if same(found, wanted):
        return True
    if not isinstance(found, Byte):
        return isinstance(found, int) and _is_always(wanted, found)
    if not isinstance(wanted, Byte):
        return isinstance(wanted, int) and _is_always(found, wanted)
    fits = found.place == wanted.place or (found.place < wanted.place and found.extends)
    return fits and congruent(found.form, wanted.form, 256 << 8 * wanted.place)


def _is_always(byte: Any, number: int) -> bool:
    low, high = (end >> 8 * byte.place for end in (byte.form.low, byte.form.high))
    return bool(low == high and low & 255 == number)


def _is_score(form: SumForm, score: SumForm, modulus: int) -> bool:
    """Whether a form that was compared is a score: congruent, within the range of its integer."""
    half = modulus >> 1
    fits = all(-half <= each.low and each.high < half for each in (form, score))
    return fits and congruent(form, score, modulus)


def _at_most(difference: SumForm, root: Root | None, mask: Any, limit: int) -> bool:
    """Whether a difference is at most that, where a root is within a mask."""
    if difference.high <= limit:
        return True
    if root is None:
        return False
    if difference.root is root:
        return bool((difference.array()[mask] <= limit).all())
    if root.of is None:
        return False
    for factor in (-2, -1, 1, 2):  # of the sum that the root stands for
        rest = minus(difference, scaled(root.of, factor))
        if not rest.tables:
            low = root.values[mask] << 8 * root.dropped
            high = low + (1 << 8 * root.dropped) - 1
            largest = factor * (high if factor > 0 else low) + rest.constant
            return bool((largest <= limit).all())
    return False
