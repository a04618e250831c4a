"""A function of a program does the same in both of its forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from extensions.proof.agreement.explore import RETURN, Explorer, NewJump
from extensions.proof.agreement.lanes import END, UNTOUCHED, LaneWorld, lane_memory
from extensions.proof.agreement.linked import Forms, Linked
from extensions.proof.agreement.machine import Machine, Memory, State
from extensions.proof.agreement.symbolic import GaveUp, Knowledge, TermMemory, TermTable, TermWorld
from extensions.proof.agreement.values import Lanes, Terms, Value, term, z3

_PRESERVED = (*range(2, 18), 28, 29)
_BUFFERS = 0x900  # where arrays of the caller begin
_QUICK, _PATIENT = 8_000_000, 30_000_000  # effort, with products abstract and as they are


@dataclass(frozen=True)
class To:
    """The address of a place in a variable, a buffer or a table."""

    name: str
    offset: int = 0


Table = Sequence[int | None]
"""Bytes in flash; None is for one that may be any."""


@dataclass(frozen=True)
class Call:
    """A call of a function.

    Attributes
    ----------
    function : str
        Its name.
    arguments : sequence of (int, To or str, int)
        What it is given, and bytes of that; a name is of a value that may be any.
    returns : int
        Bytes that it returns.
    fixed : mapping of str to int, To or sequence of int
        Variables and buffers whose values are known; others, and None, may be any.
    ranges : mapping of (str, int, int) to (int, int)
        Of a variable's bytes from an offset on, so many: the least and the largest number.
    buffers : mapping of str to int
        Arrays of the caller, and their bytes.
    tables : mapping of str to sequence
        What is in tables in flash, if that is not what is in the program.
    ignored : sequence of str
        Variables that may differ afterwards.
    points : mapping of str to array of shape (n, size)
        Values of a variable or buffer that a part of many has: they reach what few others do.
    """

    function: str
    arguments: Sequence[tuple[int | To | str, int]] = ()
    returns: int = 0
    fixed: Mapping[str, int | To | Sequence[int | None]] = field(default_factory=dict)
    ranges: Mapping[tuple[str, int, int], tuple[int, int]] = field(default_factory=dict)
    buffers: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    ignored: Sequence[str] = ()
    points: Mapping[str, np.ndarray] = field(default_factory=dict)

    def address(self, linked: Linked, to: To) -> int:
        """Return where a place is."""
        names = list(self.buffers)
        if to.name in names:
            before = names[: names.index(to.name)]
            return _BUFFERS + sum(self.buffers[name] for name in before) + to.offset
        return (linked.variables | linked.tables)[to.name].address + to.offset

    def places(self, linked: Linked) -> dict[int, Place]:
        """Return the bytes that the caller knows of: address to name and offset."""
        sizes = {name: each.size for name, each in linked.variables.items()} | dict(self.buffers)
        return {
            self.address(linked, To(name)) + offset: (name, offset)
            for name, size in sizes.items()
            for offset in range(size)
        }

    def known(self, linked: Linked) -> dict[Place, int]:
        """Return the bytes whose values are given."""
        found = {}
        for name, value in self.fixed.items():
            size = self.buffers.get(name) or linked.variables[name].size
            number = self.address(linked, value) if isinstance(value, To) else value
            if isinstance(number, int):
                number = (number % 256**size).to_bytes(size, "little")
            assert len(number) == size, f"{name} has {size} bytes"
            found |= {(name, at): int(each) for at, each in enumerate(number) if each is not None}
        return found

    def registers(self, linked: Linked, free: Callable[[Place], Value]) -> list[Value]:
        """Return all registers in front of the call; `free` makes a byte of any value."""
        registers: list[Value] = [free(("", number)) for number in range(32)]
        registers[1] = 0
        place = 26
        for value, size in self.arguments:
            place -= size + 1 & ~1
            for byte in range(size):
                if isinstance(value, str):
                    registers[place + byte] = free((value, byte))
                else:
                    number = self.address(linked, value) if isinstance(value, To) else value
                    registers[place + byte] = number >> 8 * byte & 255
        return registers


Place = tuple[str, int]
"""A byte: of which variable, buffer or argument, and which of its."""


@dataclass
class Outcome:
    """What a form leaves."""

    state: State
    before: list[Value]  # the registers in front
    explorer: Explorer


def run(
    linked: Linked,
    call: Call,
    machine: Machine,
    world: Any,
    start: Callable[[], tuple[list[Value], Memory]],
) -> Outcome:
    """Run a form of a function to its return."""
    explorer = Explorer(machine, world)
    while True:
        registers, memory = start()
        state = State(linked.functions[call.function], [*registers], END - 1, memory)
        # where it returns to lies on the stack
        state.memory.store(END - 1, RETURN >> 1 & 255)
        state.memory.store(END - 2, RETURN >> 9)
        state.stack -= 2
        try:
            return Outcome(explorer.run(state), registers, explorer)
        except NewJump as jump:
            explorer.learn(jump)


class Done:
    """What was run."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = outcomes
        self.steps = [each.explorer.steps for each in outcomes]
        self.executed = outcomes[0].explorer.executed  # instructions of the assembly form


class Disagreement(AssertionError):
    """The two forms do not do the same."""


FORMS = ("assembly", "portable")


def differences(
    forms: Forms, call: Call, outcomes: Sequence[Outcome]
) -> Iterator[tuple[str, Value, Value]]:
    """Yield what has to be equal behind the call."""
    for form, outcome in zip(FORMS, outcomes, strict=True):
        registers = outcome.state.registers
        assert outcome.state.stack == END - 1
        yield f"{form}: r1", registers[1], 0
        for number in _PRESERVED:
            yield f"{form}: r{number}", registers[number], outcome.before[number]
    a, b = (outcome.state for outcome in outcomes)
    for number in range(26 - max(call.returns, 2), 26)[: call.returns]:
        yield f"returned r{number}", a.registers[number], b.registers[number]
    one, other = (
        {place: each.memory.left(at) for at, place in call.places(linked).items()}
        for each, linked in ((a, forms.assembly), (b, forms.portable))
    )
    for place in one:  # in this order: the solver's effort depends on it
        if place in other and place[0] not in call.ignored:
            yield f"{place[0]}[{place[1]}]", one[place], other[place]


# ---- for all values ----


def prove(forms: Forms, call: Call, *, abstract: bool = True) -> Done:
    """Prove that both forms do the same for all values.

    Raises
    ------
    Disagreement
        If they do not.
    GaveUp
        If the solver does not find out.
    """
    z3.z3._main_ctx = None  # what was proven before leaves no trace in the solver's choices
    knowledge, values = Knowledge(list(assumed(call))), Terms(abstract=abstract)
    outcomes = [in_terms(getattr(forms, form), form, call, values, knowledge) for form in FORMS]
    different: dict[str, Any] = {}
    for name, *pair in differences(forms, call, outcomes):
        one, other = (term(each, 8) for each in pair)
        if not one.eq(other):
            different[name] = one != other
    try:
        example = knowledge.example(list(different.values()), _QUICK if abstract else _PATIENT)
    except GaveUp:
        if not abstract:
            raise
    else:
        if example is None:
            return Done(outcomes)
    if abstract:
        return prove(forms, call, abstract=False)
    wrong = [name for name, each in different.items() if z3.is_true(example.eval(each, True))]
    raise Disagreement(f"{call.function}: {wrong} for {example}")


def in_terms(linked: Linked, form: str, call: Call, values: Terms, knowledge: Knowledge) -> Outcome:
    """Run a form with a term for each byte that may be any."""
    known = call.known(linked)
    given = {at: known.get(place, _byte(place)) for at, place in call.places(linked).items()}
    tables = [
        TermTable(linked.tables[name].address, content, _table(name))
        for name, content in call.tables.items()
    ]

    def start() -> tuple[list[Value], Memory]:
        registers = call.registers(linked, lambda of: _byte(of if of[0] else (form, of[1])))
        return registers, TermMemory(linked, given, tables, knowledge)

    return run(linked, call, Machine(linked.code, values), TermWorld(values, knowledge), start)


def _byte(place: Place) -> Any:
    return z3.BitVec(f"{place[0]}+{place[1]}", 8)


def assumed(call: Call) -> Iterator[Any]:
    for (name, offset, size), (least, most) in call.ranges.items():
        of = _table(name) if name in call.tables else None
        parts = [of(offset + k) if of else _byte((name, offset + k)) for k in reversed(range(size))]
        number = z3.Concat(parts) if size > 1 else parts[0]
        wide = z3.SignExt(16, number) if least < 0 else z3.ZeroExt(16, number)
        yield wide >= least
        yield wide <= most


def _table(name: str) -> Callable[[Value], Any]:
    """Return what makes terms of the bytes of a table."""
    array = z3.Function(name, z3.BitVecSort(16), z3.BitVecSort(8))
    return lambda at: array(term(at, 16))


# ---- for many values at once ----


def compare(forms: Forms, call: Call, lanes: int, seed: int = 0) -> Done:
    """Run both forms on random and extreme values, or raise `Disagreement`."""
    draw = _Draw(call, lanes, np.random.default_rng(seed))
    outcomes = [_in_lanes(getattr(forms, form), form, call, draw) for form in FORMS]
    for outcome in outcomes:
        state = outcome.state
        order = np.argsort(state.memory.lanes)
        assert len(order) == lanes
        state.registers = [r if isinstance(r, int) else r[order] for r in state.registers]
    for name, one, other in differences(forms, call, outcomes):
        wrong = np.broadcast_to(one != other, lanes)
        if wrong.any():
            raise Disagreement(f"{call.function}: {name} for {draw.lane(int(np.argmax(wrong)))}")
    return Done(outcomes)


class _Draw:
    """The values of bytes that may be any, a lane each."""

    def __init__(self, call: Call, lanes: int, rng: np.random.Generator) -> None:
        self.lanes, self._rng = lanes, rng
        self._drawn: dict[Place, np.ndarray] = {}
        for (name, offset, size), (least, most) in call.ranges.items():
            numbers = _drawn(rng, least, most, lanes)
            self._drawn |= {(name, offset + k): numbers >> 8 * k & 255 for k in range(size)}
        chosen = rng.random(lanes) < 0.5
        for name, points in call.points.items():
            which = rng.integers(0, len(points), lanes)
            for at, values in enumerate(points.T.astype(np.int64) & 255):
                before = self._drawn.get((name, at), values[which])
                self._drawn[name, at] = np.where(chosen, values[which], before)

    def byte(self, place: Place) -> np.ndarray:
        """Return the values of a byte."""
        if place not in self._drawn:
            self._drawn[place] = _drawn(self._rng, 0, 255, self.lanes)
        return self._drawn[place]

    def lane(self, lane: int) -> dict[Place, int]:
        """Return the values of a lane."""
        return {place: int(each[lane]) for place, each in self._drawn.items() if place[0]}


def _in_lanes(linked: Linked, form: str, call: Call, draw: _Draw) -> Outcome:
    """Run a form with many values for each byte that may be any."""
    known = call.known(linked)
    tables = {}
    for name, content in call.tables.items():
        rows = [
            draw.byte((name, at)) if byte is None else np.full(draw.lanes, byte)
            for at, byte in enumerate(content)
        ]
        tables[linked.tables[name].address] = np.array(rows)

    def start() -> tuple[list[Value], Memory]:
        data = np.full((END, draw.lanes), UNTOUCHED, np.int16)
        for at, place in call.places(linked).items():
            data[at] = known[place] if place in known else draw.byte(place)
        registers = call.registers(linked, lambda of: draw.byte(of if of[0] else (form, of[1])))
        return registers, lane_memory(linked, data, tables)

    return run(linked, call, Machine(linked.code, Lanes()), LaneWorld(), start)


def _drawn(rng: np.random.Generator, least: int, most: int, lanes: int) -> np.ndarray:
    """Return numbers within a range: some anywhere, some at its ends, some about 0 and powers."""
    corners = [least, most, least + 1, most - 1, 0, 1, -1, 2, 127, 128, 129, 255, 256, -128, -129,
               32767, -32768, 65535]  # fmt: skip
    corners = [each for each in corners if least <= each <= most]
    anywhere = rng.integers(least, most, lanes, endpoint=True)
    chosen = np.array(corners)[rng.integers(0, len(corners), lanes)]
    # whole lanes of corners, so that extremes meet
    kind = np.arange(lanes) % 8
    numbers = np.where((kind < 3) | ((kind < 6) & (rng.random(lanes) < 0.5)), anywhere, chosen)
    numbers[kind == 6] = most
    numbers[kind == 7] = least
    return numbers
