"""The longest time for which linked firmware keeps interrupts off.

The machine code is followed from every ``cli`` and every write to SREG that may disable interrupts
to where interrupts are on again, and every handler from its vector to its end, along all branches
and into all calls; the longest path counts. No function may loop with interrupts off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from protonn_edge.chips.avr.bounded import NoBound
from protonn_edge.chips.avr.flow import Code, in_order, reached
from protonn_edge.chips.avr.functions import functions_from, interrupt_handlers
from protonn_edge.chips.avr.instruction_set import RETURNS
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.avr.state import ENTRY, OFF, ON
from protonn_edge.system.errors import CheckFailed

_RESPONSE_CYCLES = 4  # from the request to the vector (7.7.1); 5 with 3-byte return addresses
_LONGEST_INSTRUCTION = 4  # the one after SEI runs before any interrupt


@dataclass(frozen=True)
class MaskedSpan:
    """Code that runs with interrupts off."""

    where: str  # the function that switches them off, or the handler
    cycles: int  # the most that it takes


@dataclass(frozen=True)
class MaskedSpans:
    """The spans of a firmware during which no interrupt is served."""

    program: MaskedSpan  # the longest one that does not begin with a handler
    # the interrupt handlers with the chip's response, by the number of their vector
    handlers: dict[int, MaskedSpan]

    @property
    def worst_delay(self) -> int:
        """The most cycles from any interrupt's request to the end of its handler.

        In this worst case, the program has just begun its longest span, and every other handler
        runs once before.
        """
        return self.program.cycles + sum(handler.cycles for handler in self.handlers.values())


def masked_spans(program: LinkedProgram) -> MaskedSpans:
    """Return how long a firmware keeps interrupts off.

    Raises `CheckFailed` if there is no bound, because a function loops or returns with interrupts
    off; the message names it.
    """
    return _Spans(program).all()


class _Longest(NamedTuple):
    """The cycles of the longest paths from a place: minus infinity if there are none."""

    to_on: float  # to where interrupts are on
    to_return: float  # to a return without

    def after(self, cycles: float) -> _Longest:
        """Return the longest paths from a place that many cycles before."""
        return _Longest(cycles + self.to_on, cycles + self.to_return)


_NEVER = -math.inf
_IS_ON, _RETURNS = _Longest(0, _NEVER), _Longest(_NEVER, 0)

_Next = tuple[float, int | _Longest]
"""Cycles, and the next address, or what the end of the path is."""


class _Spans:
    """The spans of one program, each function worked out once."""

    def __init__(self, program: LinkedProgram) -> None:
        self._program = program
        self._names = program.names
        self._code = Code(program)
        self._called: dict[int, _Longest] = {}
        self._handlers = interrupt_handlers(program)
        # what the interrupt flag may be after the instructions that set it
        self._flags: dict[int, frozenset[str]] = {}
        for function in functions_from(program, [0, *self._handlers.values()]).values():
            for place, flag in function.flags.items():
                self._flags[place] = self._flags.get(place, flag) | flag

    def all(self) -> MaskedSpans:
        handlers = {each: self._handler(each, entry) for each, entry in self._handlers.items()}
        spans = [self._span(address) for address, flag in self._flags.items() if flag & OFF]
        nothing = MaskedSpan("nothing", 0)
        return MaskedSpans(max(spans, key=lambda span: span.cycles, default=nothing), handlers)

    def _handler(self, number: int, entry: int) -> MaskedSpan:
        core, name = self._program.core, self._names.name_of(entry)
        longest = self._call(core.vector_bytes * number)
        if longest.to_return >= 0:
            raise self._stays_off(name)
        response = _RESPONSE_CYCLES + core.return_bytes - 2
        return MaskedSpan(name, response + int(max(0, longest.to_on)))

    def _stays_off(self, name: str) -> CheckFailed:
        return NoBound(
            "time without interrupts",
            name,
            "returns while they are disabled",
            "enable them in the same function",
        )

    def _span(self, start: int) -> MaskedSpan:
        """Return the span from a ``cli`` or write to SREG on, in the function that has it."""
        name = self._names.function_of(start)
        longest = self._walk(start, restores=True)
        if longest.to_return >= 0:
            raise self._stays_off(name)
        if longest.to_on < 0:
            return MaskedSpan(name, 0)  # the program stops there for good
        return MaskedSpan(name, int(longest.to_on) + _LONGEST_INSTRUCTION)

    def _call(self, entry: int) -> _Longest:
        """Return the longest paths through a function that is called with interrupts off."""
        if entry not in self._called:
            self._called[entry] = self._walk(entry, restores=False)
        return self._called[entry]

    def _walk(self, start: int, *, restores: bool) -> _Longest:
        """Return the longest paths from an address.

        With `restores`, interrupts were on where its function was entered, so a copy of that SREG
        gets them on again.
        """
        following: dict[int, list[_Next]] = {}

        def after(place: int) -> Iterator[int]:
            following[place] = list(self._following(place, restores))
            return (there for _, there in following[place] if isinstance(there, int))

        longest_from: dict[int, _Longest] = {}
        for place, loops in reversed([*in_order(reached([start], after), [start])]):
            if loops:
                raise self._no_bound(loops[0])
            ways = [
                (longest_from[there] if isinstance(there, int) else there).after(cycles)
                for cycles, there in following[place]
            ]
            longest_from[place] = _Longest(*map(max, zip((_NEVER, _NEVER), *ways, strict=True)))
        return longest_from[start]

    def _following(self, place: int, restores: bool) -> Iterator[_Next]:
        """Yield the successors of an instruction, and the cycles until then."""
        try:
            step = self._code.at(place)
        except CheckFailed as error:
            raise self._no_bound(place) from error
        flag, on = self._flags.get(place, OFF), ON | ENTRY if restores else ON
        for there, cycles in step.ways:
            if step.here.name in RETURNS:
                yield cycles, _IS_ON if step.here.name == "reti" else _RETURNS
            elif step.called:
                called = self._call(step.called[0])
                yield cycles + called.to_on, _IS_ON
                if there is not None and called.to_return >= 0:
                    yield cycles + called.to_return, there
            else:
                if flag & on:
                    yield cycles, _IS_ON
                if there is not None and not flag <= on:  # else this is where _exit() stops
                    yield cycles, there

    def _no_bound(self, place: int) -> CheckFailed:
        return NoBound(
            "time without interrupts",
            self._names.function_of(place),
            "runs a loop or a table jump while they are disabled",
            "enable interrupts there, or, if the function is pnn_push_many, compile without -flto",
        )
