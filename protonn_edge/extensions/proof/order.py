"""In which order the instructions of a function are reached, loop by loop.

Paths that part at a branch meet again where they are in the same pass of the same loops; those that
are behind go on first. So no path is followed twice, and states stay few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from protonn_edge.chips.avr.flow import Edges, in_order, reached

Position = tuple[int, ...]


@dataclass(frozen=True)
class Flow:
    """The instructions that a function reaches.

    Attributes
    ----------
    loops : dict of int to tuple of int
        The heads of the loops that each is in, the outermost first; heads are in their own.
    order : dict of int to int
        A number of each: lower ones come first, but for the next pass of a loop.
    joins : set of int
        Those that several ways lead to, or ways that leave a loop after any number of passes.
    followers : dict of int to list of int
        What may come behind each.
    """

    loops: dict[int, tuple[int, ...]]
    order: dict[int, int]
    joins: set[int]
    followers: Edges


def flow_from(entry: int, followers: Callable[[int], Iterable[int]]) -> Flow:
    """Find all that is reached from an entry."""
    edges = reached([entry], followers)
    into = Counter(to for each in edges.values() for to in each)
    loops = dict(in_order(edges, [entry]))
    joins = {place for place, ways in into.items() if ways > 1}
    for place, following in edges.items():
        joins |= {to for to in following if not set(loops[place]) <= set(loops[to])}
    return Flow(loops, {place: number for number, place in enumerate(loops)}, joins, edges)


@dataclass
class CallFrame:
    """A function under way: its flow, and the number of this pass of each loop."""

    flow: Flow
    passes: dict[int, int] = field(default_factory=dict)

    @property
    def entry(self) -> int:
        """The function's first place."""
        return next(iter(self.flow.followers))

    def arrive(self, before: int, place: int) -> None:
        """Count the passes of a loop whose head is reached."""
        loops = self.flow.loops
        if place in loops[place]:
            inside = place in loops.get(before, ())
            self.passes[place] = self.passes.get(place, 0) + 1 if inside else 0

    def position(self, place: int) -> Position:
        """Return what is lower of a state that is behind."""
        order = self.flow.order
        parts: list[int] = []
        for head in self.flow.loops[place]:
            parts += [order[head], self.passes[head]]
        return (*parts, order[place])

    def copy(self) -> CallFrame:
        """Return a copy."""
        return CallFrame(self.flow, dict(self.passes))
