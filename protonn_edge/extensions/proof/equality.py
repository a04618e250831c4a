"""Prove that ``pnn_predict`` of a linked program computes a model's class, and its scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np

from protonn_edge.chips.avr.instruction_set import KEPT_BY_CALLEE
from protonn_edge.chips.avr.names import Variable
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.avr.semantics import INTERRUPTS
from protonn_edge.extensions.proof.adapted import function_of
from protonn_edge.extensions.proof.answers import NOTHING, ProvenAnswers
from protonn_edge.extensions.proof.data_space import OFFSETS
from protonn_edge.extensions.proof.exploration import MOST_STEPS, Explorer
from protonn_edge.extensions.proof.forms import (
    Bit,
    Byte,
    Root,
    SumForm,
    Unproven,
    same,
    variable,
)
from protonn_edge.extensions.proof.machine import Machine
from protonn_edge.extensions.proof.reference import Reference
from protonn_edge.extensions.proof.state import ChipState, spanned
from protonn_edge.model.integer_chain import IntegerChain, named_stages
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.system.errors import CheckFailed

PREFIX = "pnn"
_KEPT = (*KEPT_BY_CALLEE, 28, 29)
_SECOND = 22  # the lower register of a second argument
_OF_DAMAGED_CODE = (
    CheckFailed, LookupError, RecursionError, ValueError, AssertionError, ArithmeticError,
    MemoryError,
)  # fmt: skip
_ARGUMENT = 24  # the lower register of a pointer that is passed, or of what is returned


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
    cycles : tuple of int or None
        Bounds of the cycles for any input, without interrupts; None if a loop was not executed.
    features : str
        The array whose address the compiler put into the code; empty if any may be passed.
    """

    steps: int
    endings: int
    written: tuple[str, ...]
    cycles: tuple[int, int] | None
    features: str


class Executed(NamedTuple):
    """The endings of a prediction, and what the model states of them."""

    endings: list[ChipState]
    scores: list[SumForm]
    nearest: SumForm = NOTHING


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
        most_steps: int = MOST_STEPS,
        parts: Sequence[int] = (),
    ) -> None:
        self.program, self.model, self.prefix = program, model, prefix
        self.variables = variables_of(program.variables, prefix)
        self.machine = Machine(program, initial_bytes(program, self.variables))
        self.machine.kept = frozenset(_places(variables_of(program.kept, prefix)))
        self.machine.chooses = bool(model.policy.other_answers or self.machine.kept)
        self.explorer = Explorer(self.machine, most_steps)
        self._left: list[dict[int, Any]] = []  # memory behind each function, before the next one
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
            execution = self._executed(start)
            self._check(start, execution)
        except _OF_DAMAGED_CODE as failure:
            raise Unproven(f"the code is not that of functions: {failure}") from failure
        last = self.model.own_stages[-1]
        whole = not _has_loop(last)
        endings = execution.endings
        cycles = spanned(endings) if whole else None
        written, features = self._written(endings), self.machine.callers.name
        return Proof(self.explorer.steps, len(endings), written, cycles, features)

    def _executed(self, start: ChipState) -> Executed:
        """Return the endings of the call, and the model's scores."""
        *before, last = (*self.model.feature_stages, *self.model.own_stages)
        if _has_loop(last):
            return executed(last, self, start, lambda: self.reference(before))
        return Executed(self.run(start), self.reference([*before, last]))

    def run(self, start: ChipState) -> list[ChipState]:
        """Return the states behind the last call, from one in front of the first one."""

        def call(function: str, features: list[Byte], state: ChipState) -> None:
            self._check_kept(start, state)
            own = _in_variables(state)
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
        place, adapted = self.entry(function)
        pointer, state.memory = self.machine.array(function, [] if adapted else features)
        others = (each for each in self.program.variables if each not in self.variables)
        self.machine.callers.give(others, features if adapted else ())
        count = len(features)
        for number in set(range(32)).difference(_KEPT, (1,)):
            state.registers[number] = None
        if features and not adapted:
            state.registers[_ARGUMENT : _ARGUMENT + 2] = pointer
        if function == "push_many":
            number = _ARGUMENT if adapted else _SECOND
            state.registers[number : number + 2] = count & 255, count >> 8
        state.flags[:INTERRUPTS] = [None] * INTERRUPTS
        self.machine.enter(state, place)

    def entry(self, function: str) -> tuple[int, bool]:
        """Return where one of the model's functions is, and whether it has no array of features."""
        return function_of(self.program.names, f"{self.prefix}_{function}")

    def mark(self, name: str) -> int:
        """Return the first place with a label of this name."""
        marks = (each for each in self.program.marks if f".{name}." in each.name)
        address = min((each.address for each in marks), default=None)
        if address is None:
            raise Unproven(f"there is no label {name}")
        return address

    # ---- what is compared ----

    def _check(self, start: ChipState, executed: Executed) -> None:
        """Refuse endings that differ from the model, or leave anything else behind."""
        endings = executed.endings
        if not endings:
            raise Unproven("no path returns")
        for state in endings:
            self._check_kept(start, state)
        answers = ProvenAnswers(self.machine.algebra, self.model, *executed[1:])
        place = self.scores_place()
        for state in endings:
            self._check_asking(state, place)
            answers.check_scores(state, place)
            answers.check_class(state)
        for memory in self._left:
            self._check_carried(memory)

    def scores_place(self) -> int:
        """Return the address of the scores, which callers read there by any way.

        They are a variable of the model's last stage, or the first bytes of its only variable. The
        function that returns the address may be inlined, so that nothing is left of it.
        """
        *_, stage, _ = named_stages(self.model)  # the last one is the decision
        places = {each.base: each.address for each in self.variables}
        place = places.get(f"{stage}_scores", places.get(stage))
        if place is None:
            raise Unproven("there is no variable with the scores of the model")
        return place

    def _check_kept(self, start: ChipState, end: ChipState) -> None:
        for number in (1, *_KEPT):
            if not same(start.registers[number], end.registers[number]):
                raise Unproven(f"r{number} is not restored")
        top, before = self.machine.top(end), self.machine.top(start)
        if top != before + self.program.core.return_bytes:
            raise Unproven("the stack pointer is not restored")
        if end.flags[INTERRUPTS] is not start.flags[INTERRUPTS]:
            raise Unproven("the interrupts are not as before")
        self._left.append(end.memory)

    def _check_carried(self, memory: dict[int, Any]) -> None:
        """Refuse memory behind a function with which another prediction could differ."""
        for place in self.machine.carried:
            value = memory.get(place, self.machine.initial[place])
            if not same(value, self.machine.initial[place]):
                inside = (v for v in self.variables if v.address <= place < v.address + v.size)
                name = next(inside).name
                raise Unproven(f"{name} is read before it is written, and changes")

    def _check_asking(self, state: ChipState, place: int) -> None:
        """Refuse a function that returns another address of the scores, if it is not inlined.

        It may be called again, when the array of features holds something else.
        """
        if not self.program.names.copies_of(f"{self.prefix}_scores"):
            return
        asking = state.copy()
        asking.memory = _in_variables(state)
        self.machine.callers.give((), ())
        asking.masks, asking.facts, asking.frames, asking.calls = {}, (), [], []
        for number in set(range(32)).difference(_KEPT, (1,)):
            asking.registers[number] = None
        self.machine.enter(asking, self.entry("scores")[0])
        (end,) = Explorer(self.machine, 1_000).run(asking)
        self._check_kept(asking, end)
        if _in_variables(end) != _in_variables(state):
            raise Unproven("asking for the scores changes a variable")
        if end.registers[_ARGUMENT : _ARGUMENT + 2] != [place & 255, place >> 8]:
            raise Unproven("asking for the scores returns another place")

    def _written(self, endings: Sequence[ChipState]) -> tuple[str, ...]:
        places = {place for each in endings for place in each.memory}
        return tuple(sorted({
            each.name
            for each in self.variables
            if not places.isdisjoint(range(each.address, each.address + each.size))
        }))  # fmt: skip


def _in_variables(state: ChipState) -> dict[int, Any]:
    return {place: value for place, value in state.memory.items() if place < OFFSETS}


def variables_of(variables: Iterable[Variable], prefix: str) -> list[Variable]:
    """Return the variables that the model's file alone can use."""
    return [each for each in variables if each.source == f"{prefix}_model.c"]


def _places(variables: Iterable[Variable]) -> set[int]:
    return {p for each in variables for p in range(each.address, each.address + each.size)}


def initial_bytes(program: LinkedProgram, variables: Sequence[Variable]) -> dict[int, int]:
    """Return the bytes of variables as they are when a program starts."""
    initial = dict.fromkeys(sorted(_places(variables)), 0)
    for section in program.initial_values:
        for place, byte in enumerate(section.contents, section.address):
            if place in initial:
                initial[place] = byte
    return initial


@singledispatch
def executed(
    stage: IntegerStage,
    proof: PredictionProof,
    start: ChipState,
    inputs: Callable[[], list[SumForm]],
) -> Executed:
    """Return the endings of a call, and the scores, of a last stage that proves its own loop.

    A module of `stages` registers what does so for a kind of stage whose data decide how often a
    loop is run.
    """
    raise NotImplementedError


def _has_loop(stage: IntegerStage) -> bool:
    return executed.dispatch(type(stage)) is not executed.dispatch(object)
