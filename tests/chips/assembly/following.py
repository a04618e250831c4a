"""Follow what registers hold on all ways through a text, by the semantics of instructions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from chips.assembly.decoding import Line, Unknown
from chips.assembly.statements import FLAGS, REGISTERS, Operand

from protonn_edge.chips.avr.semantics import ACTIONS, SREG, KnownNumbers, Processor

CALL_USED = frozenset({0, *range(18, 28), 30, 31})
_FRAME = (28, 29)


@dataclass(frozen=True)
class Held:
    """What a register or a flag held at first, on all ways or only on some."""

    place: int
    always: bool = True


@dataclass
class Contents:
    """What registers, flags and the stack hold: numbers, what was held, or something else."""

    registers: list[Any]
    flags: list[Any] = field(default_factory=lambda: [Held(each) for each in FLAGS])
    stack: list[Any] = field(default_factory=list)
    written: dict[int, str] = field(default_factory=dict)  # registers, by which instruction

    def merged(self, other: Contents) -> Contents:
        """Return a copy, or what is held where two ways meet."""
        pairs = zip(self._held, other._held, strict=True)
        both = [[_met(*each) for each in zip(*pair, strict=True)] for pair in pairs]
        return Contents(*both, {**other.written, **self.written})

    @property
    def _held(self) -> tuple[list[Any], ...]:
        return self.registers, self.flags, self.stack


def _met(a: Any, b: Any) -> Any:
    if a == b:
        return a
    places = [each.place for each in (a, b) if isinstance(each, Held)]
    return Held(min(places), always=False) if places else None


class _Uses(KnownNumbers):
    """Notes the flags on which results depend."""

    def __init__(self) -> None:
        self.held: list[Held] = []

    def use(self, flag: Any) -> None:
        self.held += [flag] if isinstance(flag, Held) else []

    def sum(self, flags: Any, a: Any, b: Any, carry: Any, sign: int, *, chain: bool = False) -> Any:
        self.use(carry)
        return super().sum(flags, a, b, carry, sign, chain=chain)

    def halved(self, flags: Any, value: Any, above: Any, *, signed: bool) -> Any:
        self.use(above)
        return super().halved(flags, value, above, signed=signed)

    def with_flag(self, value: Any, number: int, flag: Any) -> Any:
        self.use(flag)
        return super().with_flag(value, number, flag)


class Follower(Processor):
    """A chip on all ways through a text.

    Attributes
    ----------
    overtaken : dict of tuple to str
        The instructions that write a register before one is read, by both.
    faults : list of str
        What is read and was never set, pushes that do not fit pops, and what does not hold in the
        end what it held at first.
    """

    arithmetic: _Uses

    def __init__(
        self, code: list[Line], operands: Mapping[str, Operand], known: Set[int], free: Set[int]
    ) -> None:
        self.arithmetic = _Uses()
        self.program: Any = SimpleNamespace(reached=lambda place: self._lines[place].here)
        self._lines = {each.here.address: each for each in code}
        self._operands, self._known, self._free = operands, known, free
        self._is_handler = any(each.here.name == "reti" for each in code)
        self.overtaken: dict[tuple[int, int], str] = {}
        self.faults: list[str] = []
        highest = max((max(each.reads | each.writes, default=0) for each in code), default=0)
        begin = Contents([Held(each) for each in range(max(REGISTERS, highest + 1))])
        if not self._is_handler:
            begin.registers[1] = 0
        self._follow(begin)

    def _follow(self, begin: Contents) -> None:
        states, waiting, ends = {0: begin}, [0], set[int]()
        while waiting:
            place = waiting.pop()
            line, state = self._lines.get(place), states[place].merged(states[place])
            ways = self._step(line, state) if line else ()
            ends |= set() if ways else {place}
            for way in ways:
                known = states.get(way)
                if known and len(known.stack) != len(state.stack):
                    self.faults.append(f"the stack differs behind {place}")
                    return
                merged = state.merged(known or state)
                if merged != known:
                    states[way] = merged
                    waiting.append(way)
        for end in (states[place] for place in ends):
            self._check_end(begin, end)

    def _step(self, line: Line, state: Contents) -> tuple[int, ...]:
        here = line.here
        is_saved = here.name in ("push", "mov", "movw", "in")
        for register in line.reads - self._known:
            if is_saved and (self._is_handler or register in _FRAME):
                continue
            held = state.registers[register]
            if isinstance(held, Held) and held.place == register:
                self._read_unset(line, register)
        if "__zero_reg__" in line.text and 1 in line.reads and state.registers[1] != 0:
            self.faults.append(f"r1 may not be 0 in {line.text!r}")
        pairs = itertools.product(state.written.items(), line.reads)
        self.overtaken |= {(register, read): text for (register, text), read in pairs}
        state.written |= dict.fromkeys(line.writes - state.written.keys(), line.text)
        if here.name not in ACTIONS:
            for register in line.writes:
                state.registers[register] = None
            return (here.end,)
        ways = ACTIONS[here.name](self, state, here.operands, here)
        while self.arithmetic.held:
            self._read_unset(line, self.arithmetic.held.pop().place)
        return (here.end,) if ways is None else ways

    def _read_unset(self, line: Line, place: int) -> None:
        self.faults.append(f"{line.text!r} reads {self._said(place)}, which nothing has set")

    def _check_end(self, begin: Contents, end: Contents) -> None:
        self.faults += ["more is pushed than popped"] if end.stack else []
        held = zip(begin.flags + begin.registers, end.flags + end.registers, strict=True)
        for place, (before, after) in enumerate(held, FLAGS[0]):
            if before != after and place not in self._free:
                self.faults.append(f"{self._said(place)} is changed and not declared")

    def _said(self, place: int) -> str:
        names = [each.name for each in self._operands.values() if place in each.places]
        return "a flag" if place < 0 else f"[{names[0]}]" if place >= REGISTERS else f"r{place}"

    def address(self, *_: object) -> None:
        """Return nothing: pointers, and what else is in memory, are unknown."""

    def moved(self, *_: object) -> list[Any]:
        return [None, None]

    flash = bit = set_bit = address

    def load(self, state: Contents, place: int | None) -> Any:
        return tuple(state.flags) if place == SREG else None

    def store(self, state: Contents, place: int | None, value: Any) -> None:
        if place == SREG:
            state.flags[:] = value if isinstance(value, tuple) else [None] * len(FLAGS)

    def push(self, state: Contents, value: Any) -> None:
        state.stack.append(value)

    def pop(self, state: Contents) -> Any:
        if not state.stack:
            self.faults.append("more is popped than was pushed")
        return state.stack.pop() if state.stack else None

    def target(self, _: Contents) -> int:
        raise Unknown("a jump to an address")

    def jump(self, _: Contents, target: int) -> tuple[int, ...]:
        return (target,)

    def enter(self, state: Contents, _: object, back: int) -> tuple[int, ...]:
        for register in CALL_USED:
            state.registers[register] = None
        state.flags[:] = [None] * len(FLAGS)
        return (back,)

    def leave(self, _: Contents) -> tuple[int, ...]:
        return ()

    def part(self, _: Contents, flag: Any, *ways: int) -> tuple[int, ...]:
        self.arithmetic.use(flag)
        return ways
