"""How long can a linked firmware keep interrupts off?

The machine code is followed from every ``cli`` to where interrupts are on again, and every handler
from its vector to its end, along all branches and into all calls; the longest path counts. The code
of a loop shows no bound, so the caller must pass one for each function that loops with interrupts
off: the plan has those of generated functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from protonn_edge.avr.flow import functions_from, interrupt_handlers
from protonn_edge.avr.graph import CodeStep, CodeSteps
from protonn_edge.avr.instructions import INTERRUPT_FLAG, RETURNS, Decoded
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

    For functions with loops, `bounds` has the most cycles that a call takes. Raises `CheckFailed`
    if there is no bound: a loop with interrupts off in another function, or a function that returns
    with interrupts off; the message names it.
    """
    return _Spans(program, bounds).all()


class _Place(NamedTuple):
    """An instruction that runs with interrupts off."""

    address: int  # in bytes
    # registers with a copy of SREG that was made in between: writing one back changes nothing
    kept: frozenset[int] = frozenset()


class _Longest(NamedTuple):
    """The longest paths from a place: to where interrupts are on, and to a return without."""

    to_on: int | None
    to_return: int | None


_Next = tuple[int, _Place | bool]
"""Cycles, and the next place, or the path's end, with interrupts on or by a return."""


class _Spans:
    """The spans of one program, each function worked out once."""

    def __init__(self, program: LinkedProgram, bounds: Mapping[str, int]) -> None:
        self._program = program
        self._names = program.names
        self._steps = CodeSteps(program, {})
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

    def _switches(self, handlers: Mapping[int, int]) -> list[int]:
        """Return the addresses of all ``cli`` that can be reached."""
        functions = functions_from(self._program, [0, *handlers.values()])
        code = frozenset[int]().union(*(each.addresses for each in functions.values()))
        return sorted(filter(self._is_cli, code))

    def _is_cli(self, address: int) -> bool:
        here = self._program.instruction(address)
        assert here is not None  # the analysis of the stack has been there before
        return here.name == "bclr" and here.operands["s"] == INTERRUPT_FLAG

    def _handler(self, number: int, entry: int) -> MaskedSpan:
        core = self._program.core
        ((_, jump_cycles),) = self._steps.at(core.vector_bytes * number).ways
        response = _RESPONSE_CYCLES + core.return_bytes - 2
        cycles = response + jump_cycles + max(filter(None, self._call(entry)))
        return MaskedSpan(self._names.name_of(entry), cycles)

    def _span(self, cli: int) -> MaskedSpan:
        """Return the span from a ``cli`` on, in the function that has it."""
        name = self._names.function_of(cli)
        longest = self._walk(_Place(cli), restores=True)
        if longest.to_return is not None:
            raise CheckFailed(
                f"{name} returns with interrupts disabled, so they stay disabled for an unknown "
                "time; enable them in the same function"
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
        """Yield the successors of an instruction, and the cycles until then."""
        try:
            step = self._steps.at(place.address)
        except CheckFailed as error:
            raise self._no_bound(place) from error
        here, kept = step.here, _kept_after(step.here, place)
        for there, cycles in step.ways:
            if here.name in RETURNS:
                yield cycles, here.name == "reti"
            elif _switches_on(here, place, restores):
                yield cycles, True
            elif step.called:
                yield from self._following_call(step, place)
            elif there is not None:  # else this is where _exit() stops
                yield cycles, _Place(there, kept)

    def _following_call(self, step: CodeStep, place: _Place) -> Iterator[_Next]:
        ((there, cycles),), called = step.ways, self._call(step.called[0])
        if called.to_on is not None:
            yield cycles + called.to_on, True
        if called.to_return is not None and there is not None:
            yield cycles + called.to_return, _Place(there, place.kept)

    def _no_bound(self, place: _Place) -> CheckFailed:
        return CheckFailed(
            f"{self._names.function_of(place.address)} loops or jumps through a table while "
            "interrupts are disabled, for a time without a bound; enable them in the loop, or "
            "compile without -flto if the function is pnn_push_many"
        )


def _switches_on(here: Decoded, place: _Place, restores: bool) -> bool:
    """Return whether interrupts are on after an instruction: by SEI, or by writing SREG back."""
    if here.name == "bset":
        return here.operands["s"] == INTERRUPT_FLAG
    writes = here.name == "out" and here.operands["A"] == _SREG
    return writes and restores and here.operands["r"] not in place.kept


def _kept_after(here: Decoded, place: _Place) -> frozenset[int]:
    reads = here.name == "in" and here.operands["A"] == _SREG
    return place.kept | {here.operands["d"]} if reads else place.kept


def _joined(following: list[_Next], known: Mapping[_Place, _Longest]) -> _Longest:
    """Return the longest paths from an instruction, given the paths from its successors."""
    to_on: list[int] = []
    to_return: list[int] = []
    for cycles, after in following:
        if isinstance(after, bool):
            (to_on if after else to_return).append(cycles)
            continue
        longest = known[after]
        if longest.to_on is not None:
            to_on.append(cycles + longest.to_on)
        if longest.to_return is not None:
            to_return.append(cycles + longest.to_return)
    return _Longest(max(to_on, default=None), max(to_return, default=None))
