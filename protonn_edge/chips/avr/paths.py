"""The longest and the shortest path through functions of a program, in cycles.

Paths are not enumerated: a variable counts how often each way from a block to the next is taken,
and integer linear programming finds the largest sum of cycles (Li and Malik, "Performance analysis
of embedded software using implicit path enumeration", 1995). A block is left as often as it is
entered, a function as often as it is called, and facts limit how often places are passed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from numpy.typing import NDArray

from protonn_edge.chips.avr.bounded import AGAIN, NoBound
from protonn_edge.chips.avr.facts import Fact, facts_of, predictions_of, span_labels
from protonn_edge.chips.avr.flow import Code, in_order, reached
from protonn_edge.chips.avr.functions import functions_from
from protonn_edge.chips.avr.graph import Graph, first_write, graph_of
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.system.checks import check
from protonn_edge.system.errors import CheckFailed, InputError, InvalidValue

# Many commands import this module, and few follow paths: SciPy is imported where it is used.
if TYPE_CHECKING:
    from scipy import optimize

_NEARLY = 0.01  # the largest error of a solver's integers
_SECONDS = 1.0  # for integers, which are seldom needed
_OPTIMAL, _OUT_OF_TIME = 0, 1  # a solver's result
_MOST_CYCLES = 1e12  # as far as the solver's numbers are exact enough
_MOST_SECONDS = 60.0
_REASONS = {
    _OUT_OF_TIME: (
        f"has a path that takes more than {_MOST_SECONDS:g} s to find",
        "choose a smaller function",
    ),
    2: ("has no path that satisfies all labels", AGAIN),
}


@dataclass(frozen=True)
class CodePath:
    """A path, as far as its length goes."""

    cycles: int  # a bound of any path's cycles
    functions: Mapping[str, tuple[int, int]]  # by name: the calls, and the cycles without callees
    passes: Mapping[str, int]  # how often it passes the places of facts, by their names


@dataclass(frozen=True)
class Paths:
    """The longest and the shortest path."""

    longest: CodePath
    shortest: CodePath
    given: tuple[str, ...] = ()  # the conditions under which labels say that code is never reached


class Times(NamedTuple):
    """How often something happens."""

    least: int
    most: int


def paths_through(program: LinkedProgram, entry: str) -> Paths:
    """Return the longest and the shortest path of a call of a function.

    Cycles are counted from its first instruction to the end of its return, without interrupts. The
    paths are those of a whole prediction for ``P_predict``, and of any part of a prediction, begun
    or abandoned elsewhere, for other functions.

    Raises
    ------
    InputError
        If the program lacks a function with this name.
    CheckFailed
        If there is no bound because of a loop without a fact, a jump through a pointer, a stack
        that the function does not leave as it was, or facts that no path can satisfy; the message
        names the place.
    """
    copies, once = program.names.copies_of(entry), Times(1, 1)
    if not copies:
        raise no_function(program, entry)
    functions_from(program, copies)  # refuses returns to other places than the caller
    whole = entry in predictions_of(program)
    facts = facts_of(program)
    flows = [_flow(program, {at: once}, facts, part=not whole) for at in copies]
    return Paths(
        max((flow.path(-1) for flow in flows), key=lambda path: path.cycles),
        min((flow.path(1) for flow in flows), key=lambda path: path.cycles),
        tuple(sorted(set().union(*(flow.given for flow in flows)))),
    )


def no_function(program: LinkedProgram, entry: str) -> InputError:
    """Return the error for an entry that a program does not have."""
    return InvalidValue(
        program.path,
        f"no function {entry}",
        "choose another function with --entry, or link without removing symbols",
    )


def paths_between(program: LinkedProgram, register: int, spans: Mapping[str, Times]) -> Paths:
    """Return the longest and the shortest path of all spans of a prediction that marks them.

    A span begins at a label ``P_span.NAME.N`` with the first write to the I/O register at this
    address, and ends before the write of 0. `spans` gives the number of spans of each name in a
    prediction. Raises `InputError` unless the program has exactly one label of each name, and
    `CheckFailed` as `paths_through`.
    """
    labels = span_labels(program)
    roots: dict[int, Times] = {}
    for name, times in spans.items():
        check(
            len(labels.get(name, ())) == 1,
            program.path,
            f"{len(labels.get(name, ()))} marks of the span {name}",
            "one",
            AGAIN,
        )
        roots[first_write(program, labels[name][0], register)] = times
    flow = _flow(program, roots, facts_of(program), register)
    return Paths(flow.path(-1), flow.path(1), tuple(sorted(flow.given)))


def longest_part(
    program: LinkedProgram,
    starts: Mapping[int, Times],
    ends: Collection[int] = (),
    limits: Mapping[str, int] | None = None,
) -> CodePath:
    """Return the longest path of code that may be a part of a prediction.

    It begins at each address in `starts` as often as given there, and ends at one of `ends` or at
    the end of the function in which it began. `limits` lowers limits of facts, by name; code after
    places that are never passed is left out. Raises `CheckFailed` as `paths_through`.
    """
    limits = limits or {}
    facts = tuple(
        fact if fact.others else replace(fact, most=limits.get(fact.name, fact.most))
        for fact in facts_of(program)
    )
    return _flow(program, starts, facts, ends=ends, part=True).path(-1)


def _flow(
    program: LinkedProgram,
    roots: Mapping[int, Times],
    facts: tuple[Fact, ...],
    register: int | None = None,
    ends: Collection[int] = (),
    *,
    part: bool = False,
) -> _Flow:
    """Return the paths from addresses; of a `part`, they may be any part of a prediction."""
    places = {place for fact in facts for place in (*fact.places, *fact.others)}
    # The code there may wait, as a loop does that only another state of the model would leave.
    never = defaultdict[bool, set[int]](set)
    for fact in facts:
        if fact.most == 0 and not fact.others:
            never[fact.is_condition].update(fact.places)
    code = Code(program, register, never[True].union(never[False], ends))
    graph = graph_of(code, roots, places)
    if part:
        facts = tuple(fact.of_a_part(_early(graph, roots, fact)) for fact in facts)
    counted = (
        Fact(f"{loop.start:#x}", {loop.start: 1}, loop.times, loop.times, {loop.before: 1})
        for loop in graph.counted
    )
    given = {
        fact.name
        for fact in facts
        if fact.is_condition and (fact.places.keys() - never[False]) & graph.calls.keys()
    }
    every = [*facts, *counted]
    limited = {place for fact in every for place, times in fact.places.items() if times}
    free = {
        block: [each for each in following if each not in limited]
        for block, following in graph.following.items()
        if block not in limited
    }
    endless = [block for block, loops in in_order(free, free) if loops]
    if endless:
        raise _no_bound(program, min(endless))
    return _Flow(program, graph, every, roots, given)


def _early(graph: Graph, roots: Mapping[int, Times], fact: Fact) -> int:
    """Return how many paths may pass a fact's places before they pass one of the others."""
    early = reached(roots, lambda each: () if each in fact.others else graph.following[each])
    passed = fact.places.keys() & early.keys() - fact.others.keys()
    return sum(times.most for times in roots.values()) if passed else 0


class _Flow:
    """The linear program: a variable for each edge, how often it is taken."""

    def __init__(
        self,
        program: LinkedProgram,
        graph: Graph,
        facts: Iterable[Fact],
        roots: Mapping[int, Times],
        given: Collection[str],
    ) -> None:
        self.given = given
        self._names = program.names
        self._starts = [*graph.calls]
        number = {start: block for block, start in enumerate(self._starts)}
        self._facts = [fact for fact in facts if fact.places.keys() & number.keys()]
        self._cycles = np.array([edge.cycles for edge in graph.edges])
        n, edges = len(number), list(enumerate(graph.edges))
        self._left = _matrix(((number[e.start], k, 1) for k, e in edges), n, len(edges))
        entered = ((number[e.end], k, 1) for k, e in edges if e.end is not None)
        self._entered = _matrix(entered, n, len(edges))
        called = ((number[f], number[b], 1) for b, inside in graph.calls.items() for f in inside)
        self._called = _matrix(called, n, n)
        self._held, self._per = (
            _matrix(
                (
                    (row, number[place], times)
                    for row, places in enumerate(of)
                    for place, times in places.items()
                    if place in number
                ),
                len(of),
                n,
            )
            for of in ([f.places for f in self._facts], [f.others for f in self._facts])
        )
        none = Times(0, 0)
        self._roots = np.array([roots.get(start, none) for start in self._starts])

    def path(self, sign: int) -> CodePath:
        """Return the longest path, for a sign of -1, or the shortest.

        A bound does not need integer variables, but solutions usually are integers. A solution may
        contain loops that no path enters, since their blocks are left as often as entered; the
        condition that such a loop is entered is then added, as long as it improves the bound.
        """
        from scipy import optimize, sparse

        flow = sparse.csr_array(self._entered - self._left + self._called @ self._left)
        rows = [optimize.LinearConstraint(flow, -self._roots[:, 1], -self._roots[:, 0])]
        if self._facts:
            rows += [self._kept("most", -np.inf, 0), self._kept("least", 0, np.inf)]
        bound = -math.inf
        while True:
            solution = self._solved(sign, rows)
            taken = np.rint(solution.x).astype(np.int64)
            loose = self._unreached(taken)
            if not loose or solution.fun < bound + _NEARLY:
                break
            bound = solution.fun
            rows += [self._entered_first(blocks) for blocks in loose]
        bound = solution.fun
        if np.abs(solution.x - taken).max() > _NEARLY:
            better = self._solved(sign, rows, integers=True)
            if better.x is not None:
                bound = max(bound, better.mip_dual_bound)
                taken = np.rint(better.x).astype(np.int64)
        return self._described(taken, sign * math.ceil(bound - _NEARLY))

    def _kept(self, limit: str, low: float, high: float) -> optimize.LinearConstraint:
        """Return the condition that facts hold: a limit of passes, or one for each of others."""
        from scipy import optimize, sparse

        times = np.array([getattr(fact, limit) for fact in self._facts], float)
        base = [fact.base * (limit == "most") for fact in self._facts]
        alone = np.where([bool(fact.others) for fact in self._facts], base, times)
        passed = (self._held - sparse.diags_array(times) @ self._per) @ self._left
        return optimize.LinearConstraint(sparse.csr_array(passed), low + alone, high + alone)

    def _solved(
        self, sign: int, rows: list[optimize.LinearConstraint], *, integers: bool = False
    ) -> Any:
        """Return the solution; of integers, if they are found in time: the bound holds anyway."""
        from scipy import optimize

        solution = optimize.milp(
            sign * self._cycles,
            integrality=np.full(len(self._cycles), int(integers)),
            bounds=optimize.Bounds(0, np.inf),
            constraints=rows,
            options={"mip_rel_gap": 0, "time_limit": _SECONDS if integers else _MOST_SECONDS},
        )
        if not (integers and solution.status == _OUT_OF_TIME) and (
            solution.status != _OPTIMAL or abs(solution.fun) > _MOST_CYCLES
        ):
            too_many = f"has labels that allow more than {_MOST_CYCLES:.0g} cycles"
            why = _REASONS.get(solution.status, (too_many, "correct their limits"))
            raise NoBound("cycles", "the program", *why)
        return solution

    def _unreached(self, taken: NDArray[np.int64]) -> list[NDArray[np.intp]]:
        """Return the blocks of each loop that is passed, and that no path leads to."""
        from scipy import sparse
        from scipy.sparse import csgraph

        used = sparse.diags_array((taken > 0).astype(float))
        following = self._entered @ used @ self._left.T
        following += self._called @ sparse.diags_array((self._left @ taken > 0).astype(float))
        count, parts = csgraph.connected_components(sparse.csr_array(following), directed=False)
        reached = np.zeros(count, bool)
        reached[parts[self._roots[:, 1] > 0]] = True
        lost = (self._left @ taken > 0) & ~reached[parts]
        return [np.flatnonzero(lost & (parts == part)) for part in np.unique(parts[lost])]

    def _entered_first(self, blocks: NDArray[np.intp]) -> optimize.LinearConstraint:
        """Return the condition that a loop's places are passed only if the loop is entered."""
        from scipy import optimize, sparse

        inside = np.zeros(len(self._starts))
        inside[blocks] = 1
        ways = inside @ (self._entered + self._called @ self._left)
        ways[inside @ self._left > 0] = 0  # from one of them to another
        most = np.array([0 if fact.others else fact.most for fact in self._facts])
        held = self._held @ sparse.diags_array(inside) @ self._left
        rows = sparse.csr_array(held) - sparse.csr_array(most[:, None]) @ sparse.csr_array(
            ways[None]
        )
        return optimize.LinearConstraint(rows[most > 0], -np.inf, 0)

    def _described(self, taken: NDArray[np.int64], cycles: int) -> CodePath:
        """Return a path in the terms of the program."""
        passes = (self._left @ taken).astype(np.int64)
        entries = self._called @ passes + self._roots[:, 1]
        spent = self._left @ (taken * self._cycles)
        functions: dict[str, tuple[int, int]] = {}
        for start, calls, own in zip(self._starts, entries, spent, strict=True):
            name = self._names.function_of(start)
            before = functions.get(name, (0, 0))
            functions[name] = (before[0] + int(calls), before[1] + int(own))
        counts = self._held @ passes
        return CodePath(
            cycles,
            {name: each for name, each in functions.items() if each[1]},
            {fact.name: int(count) for fact, count in zip(self._facts, counts, strict=True)},
        )


def _matrix(places: Iterable[tuple[int, int, int]], rows: int, columns: int) -> Any:
    """Return a matrix from (row, column, number); numbers at the same place are added."""
    from scipy import sparse

    at = np.array([*places], np.int64).reshape(-1, 3).T
    return sparse.csr_array((at[2].astype(float), (at[0], at[1])), shape=(rows, columns))


def _no_bound(program: LinkedProgram, address: int) -> CheckFailed:
    """Return that a path can go round without passing a place that has a limit."""
    line = _source_line(program, address)
    return NoBound(
        "cycles",
        program.names.function_of(address),
        f"loops at 0x{address:x}{f' ({line})' if line else ''}, and no label limits how often",
        "add a label there",
    )


def _source_line(program: LinkedProgram, address: int) -> str:
    """Return ``file:line`` for an address in flash, or nothing if the file does not know."""
    try:
        with program.path.open("rb") as file:
            return _line(ELFFile(file), address)
    except (OSError, ELFError, LookupError, ValueError):
        return ""  # it only makes a message clearer


def _line(elf: ELFFile, address: int) -> str:
    if not elf.has_dwarf_info():
        return ""
    dwarf = elf.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        states = [entry.state for entry in program.get_entries() if entry.state]
        for state, after in pairwise(states):
            if state.address <= address < after.address and not state.end_sequence:
                name = program["file_entry"][state.file - 1].name.decode(errors="replace")
                return f"{name}:{state.line}"
    return ""
