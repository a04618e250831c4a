"""How long can a linked firmware keep interrupts off?

The machine code is followed from every ``cli`` to where interrupts are on again, and every handler
from its vector to its end, along all branches and into all calls; the longest path counts. A loop
on the way has no bound that the code shows, so functions with loops that run with interrupts off
need one from whoever knows it: the plan knows what the generated ones take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from protonn_edge.avr.cycles import TAKEN_BRANCH, cycles_of
from protonn_edge.avr.flow import flow_of, interrupt_handlers
from protonn_edge.avr.instructions import (
    BRANCHES,
    CALLS,
    INTERRUPT_FLAG,
    JUMPS,
    RETURNS,
    SKIPS,
    Decoded,
    decode,
)
from protonn_edge.avr.program import LinkedProgram
from protonn_edge.errors import CheckFailed

_RESPONSE_CYCLES = 4  # from the request to the vector (7.7.1); 5 with 3-byte return addresses
_LONGEST_INSTRUCTION = 4  # the one after SEI runs before any interrupt
_SREG = 0x3F


@dataclass(frozen=True)
class MaskedSpan:
    """Code that runs with interrupts off."""

    where: str  # the function that switches them off, or the handler
    cycles: int  # the most that it takes


@dataclass(frozen=True)
class MaskedSpans:
    """The spans of a firmware during which no interrupt is served."""

    program: MaskedSpan  # the longest one from a ``cli`` on
    # the interrupt handlers with the chip's response, by the number of their vector
    handlers: dict[int, MaskedSpan]

    @property
    def worst_delay(self) -> int:
        """The most cycles from any interrupt's request to the end of its handler.

        The program has just begun its longest span, and every other handler goes first, once.
        """
        return self.program.cycles + sum(handler.cycles for handler in self.handlers.values())


def masked_spans(program: LinkedProgram, bounds: Mapping[str, int]) -> MaskedSpans:
    """Return how long a firmware keeps interrupts off.

    Parameters
    ----------
    program : LinkedProgram
        The firmware, with its symbols.
    bounds : mapping of str to int
        The most cycles that a call of a function takes, for those with loops.

    Raises
    ------
    CheckFailed
        If there is no bound: a loop with interrupts off in a function that `bounds` does not have,
        or a function that returns with interrupts off; the message names it.
    """
    return _Spans(program, bounds).all()


class _Place(NamedTuple):
    """An instruction that runs with interrupts off."""

    address: int  # in bytes
    # registers with a copy of SREG that was made in between: writing one back changes nothing
    kept: frozenset[int] = frozenset()


class _PathEnd(NamedTuple):
    """The end of a path: with interrupts on, or by a return with interrupts off."""

    interrupts_on: bool


class _Longest(NamedTuple):
    """The longest paths from a place: to where interrupts are on, and to a return without."""

    to_on: int | None
    to_return: int | None


_Next = tuple[int, _Place | _PathEnd]


class _Spans:
    """The spans of one program, each function worked out once."""

    def __init__(self, program: LinkedProgram, bounds: Mapping[str, int]) -> None:
        self._program = program
        self._code = program.code
        self._flow = flow_of(program)
        self._names = self._flow.names
        self._core = program.core
        self._called: dict[int, _Longest] = {}
        for name, cycles in bounds.items():
            address = self._names.address_of(name)
            if address is not None:
                self._called[address] = _Longest(None, cycles)

    def all(self) -> MaskedSpans:
        entries = interrupt_handlers(self._program)
        handlers = {number: self._handler(number, entry) for number, entry in entries.items()}
        spans = [self._span(address) for address in self._switches(entries)]
        nothing = MaskedSpan("nothing", 0)
        return MaskedSpans(max(spans, key=lambda span: span.cycles, default=nothing), handlers)

    def _switches(self, handlers: Mapping[int, int]) -> Iterator[int]:
        """Yield the addresses of all ``cli`` that can be reached."""
        pending, seen, found = [0, *handlers.values()], set[int](), set[int]()
        while pending:
            entry = pending.pop()
            if entry not in seen:
                seen.add(entry)
                function = self._flow.function(entry)
                pending.extend(function.calls)
                found.update(filter(self._is_cli, function.addresses))
        yield from sorted(found)

    def _is_cli(self, address: int) -> bool:
        here = self._instruction(address)
        return here.name == "bclr" and here.operands["s"] == INTERRUPT_FLAG

    def _handler(self, number: int, entry: int) -> MaskedSpan:
        jump = self._instruction(self._program.core.vector_bytes * number)
        longest = self._call(entry)
        response = _RESPONSE_CYCLES + self._core.return_bytes - 2
        cycles = response + cycles_of(jump, self._core) + max(filter(None, longest))
        return MaskedSpan(self._names.name_of(entry), cycles)

    def _span(self, cli: int) -> MaskedSpan:
        """Return the span from a ``cli`` on, in the function that has it."""
        symbol = self._names.at(cli)
        name = symbol.name if symbol else self._names.name_of(cli)
        longest = self._walk(_Place(cli), restores=True)
        if longest.to_return is not None:
            raise CheckFailed(
                f"{name} returns with interrupts disabled, so that nobody knows for how long; put "
                "the sei() or the ATOMIC_BLOCK's end into the same function"
            )
        if longest.to_on is None:
            return MaskedSpan(name, 0)  # the program stops there for good
        return MaskedSpan(name, longest.to_on + _LONGEST_INSTRUCTION)

    def _call(self, entry: int) -> _Longest:
        """Return the longest paths through a function that is called with interrupts off."""
        if entry not in self._called:
            self._called[entry] = self._walk(_Place(entry), restores=False)
        return self._called[entry]

    def _walk(self, start: _Place, *, restores: bool) -> _Longest:
        """Return the longest paths from a place.

        With `restores`, SREG gets interrupts on again from a copy of it that was made before.
        """
        known: dict[_Place, _Longest] = {}
        following: dict[_Place, list[_Next]] = {}  # the places of the path that is being walked
        pending = [start]
        while pending:
            place = pending[-1]
            if place in known:
                pending.pop()
                continue
            if place not in following:
                following[place] = list(self._following(place, restores))
                after = [next_ for _, next_ in following[place] if isinstance(next_, _Place)]
                if any(next_ in following for next_ in after):
                    raise self._no_bound(place)
                pending.extend(next_ for next_ in after if next_ not in known)
            else:
                known[place] = _joined(following.pop(place), known)
        return known[start]

    def _following(self, place: _Place, restores: bool) -> Iterator[_Next]:
        """Yield what can come after an instruction, and the cycles until then."""
        here = self._instruction(place.address)
        name, cycles = here.name, cycles_of(here, self._core)
        after = _Place(here.end, place.kept)
        if name in RETURNS:
            yield cycles, _PathEnd(name == "reti")
        elif name in CALLS:
            yield from self._following_call(here, cycles, after)
        elif name in {"ijmp", "icall", "eijmp", "eicall"}:
            raise self._no_bound(place)
        elif name in JUMPS:
            if here.operands["k"] != here.address:  # else this is where _exit() stops
                yield cycles, _Place(here.operands["k"], place.kept)
        elif name in SKIPS:
            skipped = self._instruction(here.end)
            yield cycles, after
            yield cycles + skipped.size // 2, _Place(skipped.end, place.kept)
        else:
            yield (
                cycles,
                _PathEnd(True) if _switches_on(here, place, restores) else _after(here, place),
            )
            if name in BRANCHES:
                yield cycles + TAKEN_BRANCH, _Place(here.operands["k"], place.kept)

    def _following_call(self, here: Decoded, cycles: int, after: _Place) -> Iterator[_Next]:
        target = here.operands["k"]
        if target == here.end:  # the shortest way to reserve two bytes of stack
            yield cycles, after
            return
        called = self._call(target)
        if called.to_on is not None:
            yield cycles + called.to_on, _PathEnd(True)
        if called.to_return is not None:
            yield cycles + called.to_return, after

    def _instruction(self, address: int) -> Decoded:
        instruction = decode(self._code, address, self._program.core.wraps_at)
        assert instruction is not None  # the analysis of the stack has been there before
        return instruction

    def _no_bound(self, place: _Place) -> CheckFailed:
        symbol = self._names.at(place.address)
        name = symbol.name if symbol else self._names.name_of(place.address)
        return CheckFailed(
            f"{name} loops or jumps through a table while interrupts are disabled, so that nobody "
            "knows for how long; enable them in between, or leave out -flto if it is pnn_push_many"
        )


def _switches_on(here: Decoded, place: _Place, restores: bool) -> bool:
    """Return whether interrupts are on after an instruction: by SEI, or by writing SREG back."""
    if here.name == "bset":
        return here.operands["s"] == INTERRUPT_FLAG
    writes = here.name == "out" and here.operands["A"] == _SREG
    return writes and restores and here.operands["r"] not in place.kept


def _after(here: Decoded, place: _Place) -> _Place:
    if here.name == "in" and here.operands["A"] == _SREG:
        return _Place(here.end, place.kept | {here.operands["d"]})
    return _Place(here.end, place.kept)


def _joined(following: list[_Next], known: Mapping[_Place, _Longest]) -> _Longest:
    """Return the longest paths from an instruction, from those of what can come after it."""
    to_on: list[int] = []
    to_return: list[int] = []
    for cycles, after in following:
        if isinstance(after, _PathEnd):
            (to_on if after.interrupts_on else to_return).append(cycles)
            continue
        longest = known[after]
        if longest.to_on is not None:
            to_on.append(cycles + longest.to_on)
        if longest.to_return is not None:
            to_return.append(cycles + longest.to_return)
    return _Longest(max(to_on, default=None), max(to_return, default=None))
