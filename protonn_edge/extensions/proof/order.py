"""In which order the instructions of a function are reached, loop by loop.

Paths that part at a branch meet again where they are in the same pass of the same loops; those that
are behind go on first. So no path is followed twice, and states stay few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

Edges = dict[int, list[int]]
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
    edges: Edges = {}
    left = [entry]
    while left:
        place = left.pop()
        if place not in edges:
            edges[place] = list(dict.fromkeys(followers(place)))
            left += edges[place]
    into: dict[int, int] = {}
    for each in edges.values():
        for to in each:
            into[to] = into.get(to, 0) + 1
    loops = dict(_ordered(edges, entry, ()))
    joins = {place for place, ways in into.items() if ways > 1}
    for place, ways in edges.items():
        joins |= {to for to in ways if not set(loops[place]) <= set(loops[to])}
    return Flow(loops, {place: number for number, place in enumerate(loops)}, joins, edges)


_OUTSIDE = -1


def _ordered(
    edges: Edges, entry: int, heads: tuple[int, ...]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield places with the heads of their loops, in order: a loop's head is its entry."""
    for component in reversed(list(_components(edges, entry))):
        head = component[0]  # found first
        if len(component) == 1 and head not in edges[head]:
            if head != _OUTSIDE:
                yield head, heads
            continue
        own = (*heads, head)
        yield head, own
        inside = set(component) - {head}
        inner = {each: [to for to in edges[each] if to in inside] for each in component}
        yield from _ordered({**inner, _OUTSIDE: inner[head]}, _OUTSIDE, own)


def _components(edges: Edges, entry: int) -> Iterator[list[int]]:
    """Yield sets of places that reach each other, those behind others first (after Tarjan)."""
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    stack: dict[int, None] = {}
    work = [(entry, iter(edges[entry]))]
    number[entry] = lowest[entry] = 0
    stack[entry] = None
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
