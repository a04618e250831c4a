"""The control flow of a linked program: where instructions lead, what they call, and loops.

All analyses follow code by these rules: the stack (`functions`), interrupts (`interrupts`), the
longest path (`graph`, `paths`), and proofs for every input, which need its order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Set
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from protonn_edge.chips.avr import instruction_set
from protonn_edge.chips.avr.bounded import BY_POINTER, NoBound
from protonn_edge.chips.avr.instruction_set import CALLS, JUMPS, RETURNS
from protonn_edge.chips.avr.instructions import Decoded
from protonn_edge.chips.avr.program import LinkedProgram

ZERO = 1
"""The register that is 0 between functions."""

_INDIRECT = frozenset({"ijmp", "eijmp", "icall", "eicall"})
_OUTSIDE = -1

Place = TypeVar("Place")
Edges = dict[int, list[int]]
"""The places that may follow each."""


class Step(NamedTuple):
    """An instruction, for the flow."""

    here: Decoded
    # its successors, None for the end of the path, and the cycles until then
    ways: tuple[tuple[int | None, int], ...]
    called: tuple[int, ...] = ()  # the function that it calls, if any


@dataclass(frozen=True)
class Code:
    """The instructions of a program, by where they lead."""

    program: LinkedProgram
    # where paths end, too: before 0 is written to an I/O register, and at addresses
    register: int | None = None
    ends: Set[int] = frozenset()

    def steps(self, entries: Collection[int]) -> dict[int, Step]:
        """Return the instructions that functions and their callees reach, by address."""
        steps: dict[int, Step] = {}

        def following(address: int) -> Iterator[int]:
            step = steps[address] = self.at(address)
            yield from (there for there, _ in step.ways if there is not None)
            yield from step.called

        reached(entries, following)
        return steps

    def at(self, address: int) -> Step:
        """Return the step at an address; `CheckFailed` if its target is unknown."""
        here = self.program.reached(address)
        name, cycles = here.name, here.cycles_on(self.program.core)
        target = here.operands.get("k", 0)
        if address in self.ends:
            return Step(here, ((None, 0),))
        if name in RETURNS:
            return Step(here, ((None, cycles),))
        if writes_to(here, self.register) and here.operands["r"] == ZERO:
            return Step(here, ((None, 0),))
        if name in CALLS and target != here.end:  # else it reserves stack
            behind = None if self.never_returns(here, target) else here.end
            return Step(here, ((behind, cycles),), (target,))
        if name in _INDIRECT or (name in JUMPS and self.is_table_jump(target)):
            raise NoBound(
                "cycles",
                self.program.names.name_of(address),
                BY_POINTER,
                "call the function by its name, or compile with -fno-jump-tables",
            )
        if name in JUMPS and target == address:  # where _exit() stops
            return Step(here, ((None, cycles),))
        ways = self.ways(here)
        if here.stops_cycles:
            ways.append((here.end, cycles + here.stops_cycles))
        return Step(here, tuple(ways))

    def ways(self, here: Decoded) -> list[tuple[int, int]]:
        """Return where code goes on behind an instruction, and the cycles until then.

        A branch or skip that is taken comes last. A call goes on where it returns; where returns
        and pointers lead is not stated.
        """
        name, cycles = here.name, here.cycles_on(self.program.core)
        if name in JUMPS:
            return [(here.operands["k"], cycles)]
        ways = [(here.end, cycles)]
        if name in instruction_set.BRANCHES:
            ways.append((here.operands["k"], cycles + instruction_set.TAKEN_BRANCH))
        elif name in instruction_set.SKIPS and (skipped := self.program.instruction(here.end)):
            ways.append((skipped.end, cycles + skipped.size // 2))
        return ways

    def cycles(self, address: int, there: int) -> int:
        """Return the cycles of an instruction that leads to a place."""
        here = self.program.reached(address)
        return dict(self.ways(here)[::-1]).get(there, here.cycles_on(self.program.core))

    def is_table_jump(self, target: int) -> bool:
        """Return whether the compiler's jump through a table is there."""
        symbol = self.program.names.at(target)
        if symbol is None or symbol.address != target:
            return False
        return symbol.name.startswith("__tablejump")

    def never_returns(self, call: Decoded, target: int) -> bool:
        """Return whether a function ends with this call, and no path from its target returns.

        Code after the call then belongs to something else. libgcc has functions that end with a
        call and continue in the next function.
        """
        names, leaving = self.program.names, RETURNS | {"ijmp", "eijmp"}

        def following(address: int) -> Iterable[int]:
            here = self.program.instruction(address)
            if here is None or here.name in leaving:
                return [_OUTSIDE]
            if here.name in CALLS and names.ends_with(here):
                return [here.operands["k"]]
            return (there for there, _ in self.ways(here))

        return names.ends_with(call) and _OUTSIDE not in reached([target], following)


def writes_to(here: Decoded, register: int | None) -> bool:
    """Return whether an instruction writes a byte to an I/O register."""
    return here.name == "out" and here.operands["A"] == register


def reached(
    starts: Iterable[Place], following: Callable[[Place], Iterable[Place]]
) -> dict[Place, list[Place]]:
    """Return all places that can be reached from some, with those that follow each."""
    edges: dict[Place, list[Place]] = {}
    pending = [*starts]
    while pending:
        place = pending.pop()
        if place not in edges:
            edges[place] = [*dict.fromkeys(following(place))]
            pending += edges[place]
    return edges


def in_order(
    edges: Edges, entries: Iterable[int], heads: tuple[int, ...] = ()
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield places before those that follow them, with the heads of their loops.

    The outermost loop's head is first; a head is the entry of its loop, and in it.
    """
    for component in reversed([*_components({**edges, _OUTSIDE: [*entries]})]):
        head = component[0]  # found first
        if len(component) == 1 and head not in edges.get(head, ()):
            if head != _OUTSIDE:
                yield head, heads
            continue
        own = (*heads, head)
        yield head, own
        inside = set(component) - {head}
        inner = {each: [to for to in edges[each] if to in inside] for each in component}
        yield from in_order(inner, inner[head], own)


def _components(edges: Edges) -> Iterator[list[int]]:
    """Yield sets of places that reach each other, those behind others first (after Tarjan)."""
    number: dict[int, int] = {_OUTSIDE: 0}
    lowest: dict[int, int] = {_OUTSIDE: 0}
    stack: dict[int, None] = {_OUTSIDE: None}
    work = [(_OUTSIDE, iter(edges[_OUTSIDE]))]
    while work:
        place, ways = work[-1]
        for to in ways:
            if to not in number:
                number[to] = lowest[to] = len(number)
                stack[to] = None
                work.append((to, iter(edges[to])))
                break
            if to in stack:
                lowest[place] = min(lowest[place], number[to])
        else:
            work.pop()
            if work:
                before = work[-1][0]
                lowest[before] = min(lowest[before], lowest[place])
            if lowest[place] == number[place]:
                component: list[int] = []
                while not component or component[-1] != place:
                    component.append(stack.popitem()[0])
                yield component[::-1]
