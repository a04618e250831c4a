"""Follow all paths through a function's code to find how it uses the stack."""

from __future__ import annotations

import functools
import heapq
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from protonn_edge.chips.avr import instruction_set
from protonn_edge.chips.avr.bounded import NoBound
from protonn_edge.chips.avr.flow import Code, reached
from protonn_edge.chips.avr.instructions import Decoded
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.avr.semantics import ACTIONS, INTERRUPTS, Z
from protonn_edge.chips.avr.state import AT_CALLS, OFF, RETI, Registers, State
from protonn_edge.chips.avr.tracking import StackTracker


class Depth(NamedTuple):
    """A place in a function."""

    bytes: int  # on the stack there, below the function's return address
    within: str  # the function that the place belongs to: another one after a jump out of the first


@dataclass(frozen=True)
class Function:
    """A function as far as the stack goes."""

    name: str  # for messages
    peak: Depth  # its deepest place, without its callees
    calls: dict[int, Depth]  # where it calls, by the address called; the deepest of several
    passes: tuple[tuple[int, Registers], ...]  # what may be in registers then, with the address
    flags: Mapping[int, frozenset[str]]  # where it sets the interrupt flag, to what (`state`)
    switches: frozenset[int]  # where it jumps through a table, which is believed to stay in it
    # its instructions, those that it jumps to in other functions included
    addresses: frozenset[int]


@functools.lru_cache(maxsize=4)
def interrupt_handlers(program: LinkedProgram) -> dict[int, int]:
    """Return where vectors jump to, by their numbers, but for avr-libc's jumps to reset.

    A vector that does not jump is a handler itself.
    """
    size = program.core.vector_bytes
    named = (_VECTOR.fullmatch(symbol.name) for symbol in program.symbols)
    last = max((int(match[1]) for match in named if match), default=_LAST_VECTOR)
    targets = {number: _jump_target(program, size * number) for number in range(1, last + 1)}
    return {
        number: size * number if target is None else target
        for number, target in targets.items()
        if target is None or _jump_target(program, target) != 0
    }


_VECTOR = re.compile(r"__vector_(\d{1,3})")  # the start-up code has a name for each, used or not
_ON_STACK = instruction_set.WITH_RETURN_ADDRESS | {"push", "pop"}
_LAST_VECTOR = 25  # of the ATmega48 to 328 family, for programs with another start-up code


def _jump_target(program: LinkedProgram, address: int) -> int | None:
    """Return where the jump at an address leads; None if there is another instruction."""
    here = program.instruction(address)
    return here.operands["k"] if here and here.name in instruction_set.JUMPS else None


@functools.lru_cache(maxsize=1 << 12)  # several checks look at the same functions
def function_at(program: LinkedProgram, entry: int, registers: Registers = AT_CALLS) -> Function:
    """Return the function at a byte address; `CheckFailed` if no bound of its stack is found."""
    return _Explorer(program, entry).function(registers)


def functions_from(program: LinkedProgram, entries: Iterable[int]) -> dict[int, Function]:
    """Return the functions at some addresses, and all that they call; raises as `function_at`.

    They are also followed with addresses that are passed to them.
    """
    starts = ((entry, AT_CALLS) for entry in entries)
    called = reached(starts, lambda each: function_at(program, *each).passes)
    return {entry: function_at(program, entry) for entry, held in called if held == AT_CALLS}


Ways = tuple[tuple[int, State], ...]
"""Places where code goes on, and what is known there."""


class _Explorer(StackTracker):
    """Follows all paths through one function; jumps out of it are followed like any other."""

    def __init__(self, program: LinkedProgram, entry: int) -> None:
        super().__init__(program, entry)
        self._names, self._code = program.names, Code(program)
        self._states: dict[int, State] = {}
        # Switch statements by the address of their jump: the state there, and the cases so far.
        self._switches: dict[int, State] = {}
        self._cases: dict[int, list[int]] = {}
        self._calls: dict[int, Depth] = {}
        self._passes: dict[tuple[int, Registers], None] = {}  # in the order of its calls

    def function(self, registers: Registers) -> Function:
        """Follow all paths and return the result."""
        start = State(registers=[*registers])
        if self.entry == 0:
            start.flags[INTERRUPTS] = OFF
        if self.entry in interrupt_handlers(self.program).values():
            start = State(registers=[None] * 32)  # those of any code
        self._follow(self.entry, start)
        while (case := self._next_case()) is not None:
            self._follow(*case)
        if registers != AT_CALLS:
            self._check_flags()
        deepest = max(self._states, key=lambda address: self._states[address].depth)
        peak = Depth(self._states[deepest].depth, self._within(deepest))
        return Function(
            self.name,
            peak,
            self._calls,
            tuple(self._passes),
            self.flags,
            frozenset(self._switches),
            frozenset(self._states),
        )

    def _check_flags(self) -> None:
        """Refuse writes to SREG through an argument."""
        plain = function_at(self.program, self.entry).flags
        if passed := self.flags.keys() - plain.keys():
            raise NoBound(
                "time without interrupts",
                self.name,
                f"writes to SREG at 0x{min(passed):x} through a pointer that it receives "
                "as an argument",
                "write to SREG by its name",
            )

    def _within(self, address: int) -> str:
        """Return the name of the function that an address belongs to."""
        own, symbol = self._names.at(self.entry), self._names.at(address)
        if self.entry == 0 or own is None or symbol is None:
            return self.name
        inside = symbol is own or own.address <= address < own.address + own.size
        return self.name if inside else symbol.name

    def _follow(self, start: int, state: State) -> None:
        """Follow all paths from an address until nothing new is learned.

        The lowest address goes first: mostly, all paths to it were then followed.
        """
        pending = [start] if self._learn(start, state) else []
        while pending:
            address = heapq.heappop(pending)
            if pending and pending[0] == address:
                continue
            here = self.program.reached(address)
            for place, after in self._successors(here, self._states[address]):
                if self._learn(place, after):
                    heapq.heappush(pending, place)

    def _learn(self, address: int, state: State) -> bool:
        """Note a state in which an address is reached; return whether that is new."""
        before = self._states.get(address)
        if before is not None and before.depth != state.depth:
            raise NoBound(
                "stack",
                self.name,
                f"reaches 0x{address:x} with {before.depth} B on the stack on one path "
                f"and {state.depth} B on another",
                "push as many bytes on each path",
            )
        merged = state if before is None else before.merged(state)
        self._states[address] = merged
        return merged is not before and merged != before

    def _successors(self, here: Decoded, state: State) -> Ways:
        """Return where the program can be after an instruction, and in which state."""
        self.here, after = here, state.copy()
        if here.name in _ON_STACK and state.has_half_a_pointer:
            raise self.lost()
        ways: Ways | None = None
        if here.name in ACTIONS:
            ways = ACTIONS[here.name](self, after, here.operands, here)
        else:
            self.forget(after)
        if here.name in {"bset", "bclr"} and here.operands["s"] == INTERRUPTS:
            self.note(state, after.flag)
        return ((here.end, after),) if ways is None else ways

    # ---- jumps, calls and branches ----

    def jump(self, state: State, target: int) -> Ways:
        """Return the target of a jump; the cases of a switch statement are looked up later."""
        origin = self.here.address
        if target == 0:
            return ()  # reset: the stack starts again
        if self._code.is_table_jump(target):
            self._switches[origin] = state
            return tuple((case, state) for case in self._cases.setdefault(origin, []))
        return ((target, state),)

    def enter(self, state: State, function: int, back: int) -> Ways:
        """Note a call, and return where it returns to."""
        if function == back:  # the shortest way to reserve two bytes, or three
            state.depth += self.program.core.return_bytes
            return ((back, state),)
        self._passes |= {(function, AT_CALLS): None, (function, state.arguments()): None}
        deepest = self._calls.get(function)
        if deepest is None or deepest.bytes < state.depth:
            self._calls[function] = Depth(state.depth, self._within(self.here.address))
        if self._code.never_returns(self.here, function):
            return ()
        return ((back, state.after_call()),)

    def target(self, state: State) -> int:
        """Return the place in code that Z has, which counts words."""
        low, high = state.registers[Z : Z + 2]
        if not isinstance(low, int) or not isinstance(high, int):
            raise self.by_pointer()
        return 2 * (high << 8 | low)

    def leave(self, state: State) -> Ways:
        """Refuse a return to an address that the function pushed itself."""
        if self.here.name == "reti":
            self.flags[self.here.address] = RETI
        if state.depth:
            raise NoBound(
                "stack",
                self.name,
                f"returns with {state.depth} B still on the stack",
                "balance its pushes and pops",
            )
        return ()

    def part(self, state: State, _: object, taken: int, other: int) -> Ways:
        """Return both ways."""
        return (other, state), (taken, state)

    def _next_case(self) -> tuple[int, State] | None:
        """Return a case of a switch statement that was not followed yet.

        The compiler jumps to the cases through a table, so nothing else leads there: they are what
        is left of the function's code after everything else was followed.
        """
        for origin, state in self._switches.items():
            symbol = self._names.at(origin)
            if symbol is None or symbol.size == 0:
                raise NoBound(
                    "stack", self.name, "jumps through a table", "compile it with -fno-jump-tables"
                )
            address = symbol.address
            while address < symbol.address + symbol.size:
                if address not in self._states:
                    self._cases[origin].append(address)
                    return address, state
                address = self.program.reached(address).end
        return None
