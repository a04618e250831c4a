"""Follow all paths through a function's code to find how it uses the stack."""

from __future__ import annotations

import functools
import heapq
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from protonn_edge.chips.avr import instruction_set
from protonn_edge.chips.avr.bounded import BY_POINTER, NoBound
from protonn_edge.chips.avr.instructions import Decoded
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.avr.state import AT_CALLS, OFF, RETI, Registers, State, Z
from protonn_edge.system.errors import CheckFailed


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
    passes: frozenset[tuple[int, Registers]]  # what may be in registers then, with the address
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
    functions: dict[tuple[int, Registers], Function] = {}
    pending = [(entry, AT_CALLS) for entry in entries]
    while pending:
        called = pending.pop()
        if called not in functions:
            functions[called] = function_at(program, *called)
            pending += functions[called].passes
    return {entry: each for (entry, held), each in functions.items() if held == AT_CALLS}


class _Explorer:
    """Follows all paths through one function; jumps out of it are followed like any other."""

    def __init__(self, program: LinkedProgram, entry: int) -> None:
        self._program = program
        self._names = program.names
        self._entry = entry
        self._name = self._names.name_of(entry)
        self._states: dict[int, State] = {}
        # Switch statements by the address of their jump: the state there, and the cases so far.
        self._switches: dict[int, State] = {}
        self._cases: dict[int, list[int]] = {}
        self._calls: dict[int, Depth] = {}
        self._passes = set[tuple[int, Registers]]()
        self._flags: dict[int, frozenset[str]] = {}

    def function(self, registers: Registers) -> Function:
        """Follow all paths and return the result."""
        start = State(flag=OFF) if self._entry == 0 else State(registers=registers)
        if self._entry in interrupt_handlers(self._program).values():
            start = State(registers=(None,) * 32)  # those of any code
        self._follow(self._entry, start)
        while (case := self._next_case()) is not None:
            self._follow(*case)
        if registers != AT_CALLS:
            self._check_flags()
        peak = max(
            (Depth(state.depth, self._within(address)) for address, state in self._states.items()),
            key=lambda place: place.bytes,
        )
        return Function(
            self._name,
            peak,
            self._calls,
            frozenset(self._passes),
            self._flags,
            frozenset(self._switches),
            frozenset(self._states),
        )

    def _check_flags(self) -> None:
        """Refuse writes to SREG through an argument."""
        plain = function_at(self._program, self._entry).flags
        if passed := self._flags.keys() - plain.keys():
            raise NoBound(
                "time without interrupts",
                self._name,
                f"writes to SREG at 0x{min(passed):x} through a pointer that it receives "
                "as an argument",
                "write to SREG by its name",
            )

    def _within(self, address: int) -> str:
        """Return the name of the function that an address belongs to."""
        own, symbol = self._names.at(self._entry), self._names.at(address)
        if self._entry == 0 or own is None or symbol is None:
            return self._name
        inside = symbol is own or own.address <= address < own.address + own.size
        return self._name if inside else symbol.name

    def _follow(self, start: int, state: State) -> None:
        """Follow all paths from an address until nothing new is learned.

        The lowest address goes first: mostly, all paths to it were then followed.
        """
        pending = [start] if self._learn(start, state) else []
        while pending:
            address = heapq.heappop(pending)
            if pending and pending[0] == address:
                continue
            here = self._program.reached(address)
            for place, after in self._successors(here, self._states[address]):
                if self._learn(place, after):
                    heapq.heappush(pending, place)

    def _learn(self, address: int, state: State) -> bool:
        """Note a state in which an address is reached; return whether that is new."""
        before = self._states.get(address)
        if before is not None and before.depth != state.depth:
            raise NoBound(
                "stack",
                self._name,
                f"reaches 0x{address:x} with {before.depth} B on the stack on one path "
                f"and {state.depth} B on another",
                "push as many bytes on each path",
            )
        merged = state if before is None else before.merged(state)
        self._states[address] = merged
        return merged is not before and merged != before

    def _successors(self, here: Decoded, state: State) -> Iterator[tuple[int, State]]:
        """Yield where the program can be after an instruction, and in which state."""
        name, target = here.name, here.operands.get("k", 0)
        uses_stack = name in instruction_set.WITH_RETURN_ADDRESS | {"push", "pop"}
        if uses_stack and state.pointer != (None, None):  # one half of the pointer is the old one
            raise self._lost(here)
        if name in instruction_set.JUMPS:
            yield from self._jump(here.address, target, state)
        elif name in instruction_set.CALLS:
            yield from self._call(here, target, state)
        elif name in {"ijmp", "eijmp"}:
            yield from self._jump(here.address, self._pointer(here, state), state)
        elif name in {"icall", "eicall"}:
            yield from self._call(here, self._pointer(here, state), state)
        elif name in instruction_set.RETURNS:
            self._check_return(here, state)
        else:
            state = self._step(here, state)
            yield here.end, state
            if name in instruction_set.BRANCHES:
                yield target, state
            elif name in instruction_set.SKIPS:
                yield self._program.reached(here.end).end, state

    def _jump(self, origin: int, target: int, state: State) -> Iterator[tuple[int, State]]:
        """Yield the target of a jump; the cases of a switch statement are looked up later."""
        symbol = self._names.at(target)
        if target == 0:
            return  # reset: the stack starts again
        if symbol and symbol.address == target and symbol.name.startswith("__tablejump"):
            self._switches[origin] = state
            for case in self._cases.setdefault(origin, []):
                yield case, state
        else:
            yield target, state

    def _call(self, here: Decoded, target: int, state: State) -> Iterator[tuple[int, State]]:
        """Note a call, and yield where it returns to."""
        if target == here.end:  # the shortest way to reserve two bytes, or three
            depth = state.depth + self._program.core.return_bytes
            yield here.end, state._replace(depth=depth)
            return
        self._passes |= {(target, AT_CALLS), (target, state.arguments())}
        deepest = self._calls.get(target)
        if deepest is None or deepest.bytes < state.depth:
            self._calls[target] = Depth(state.depth, self._within(here.address))
        if not self._program.never_returns(here, target):
            yield here.end, state.after_call()

    def _pointer(self, here: Decoded, state: State) -> int:
        """Return the address in Z, which counts words; EIND is unknown."""
        words = state.number_in(Z)
        if words is not None and here.name in {"ijmp", "icall"}:
            return 2 * words
        raise NoBound("stack", self._name, BY_POINTER, "call the function by its name")

    def _check_return(self, here: Decoded, state: State) -> None:
        """Refuse a return to an address that the function pushed itself."""
        if here.name == "reti":
            self._flags[here.address] = RETI
        if state.depth:
            raise NoBound(
                "stack",
                self._name,
                f"returns with {state.depth} B still on the stack",
                "balance its pushes and pops",
            )

    def _step(self, here: Decoded, state: State) -> State:
        """Return the state after an instruction that goes on to the next."""
        flag = state.flag_set_by(here)
        if flag is not None and not (flag == state.flag == OFF):
            self._flags[here.address] = flag
        below = state.stack_byte_written(here)
        if below is not None and -self._program.core.return_bytes <= below < 0:
            raise NoBound(
                "stack",
                self._name,
                f"overwrites its return address at 0x{here.address:x}",
                "call functions by their names instead",
            )
        after = state.after(here)
        if after is None or after.depth < 0 or (after.starts_anew and self._entry != 0):
            raise self._lost(here)
        return after

    def _lost(self, here: Decoded) -> CheckFailed:
        return NoBound(
            "stack",
            self._name,
            f"moves the stack pointer at 0x{here.address:x} by an unknown number of "
            "bytes, or above its own stack",
            "give its arrays fixed sizes, and pop only what it pushed",
        )

    def _next_case(self) -> tuple[int, State] | None:
        """Return a case of a switch statement that was not followed yet.

        The compiler jumps to the cases through a table, so nothing else leads there: they are what
        is left of the function's code after everything else was followed.
        """
        for origin, state in self._switches.items():
            symbol = self._names.at(origin)
            if symbol is None or symbol.size == 0:
                raise NoBound(
                    "stack", self._name, "jumps through a table", "compile it with -fno-jump-tables"
                )
            address = symbol.address
            while address < symbol.address + symbol.size:
                if address not in self._states:
                    self._cases[origin].append(address)
                    return address, state
                address = self._program.reached(address).end
        return None
