"""The control flow of a program: which blocks may follow each block, after how many cycles.

A block ends where code branches or where another path joins; a place with a fact begins a block.
Calls are inside of blocks, and jumps out of a function are followed like any others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import SimpleNamespace
from typing import NamedTuple

from protonn_edge.chips.avr import instruction_set
from protonn_edge.chips.avr.bounded import AGAIN, NoBound
from protonn_edge.chips.avr.flow import ZERO, Code, Step, reached, writes_to
from protonn_edge.chips.avr.instruction_set import JUMPS
from protonn_edge.chips.avr.instructions import Decoded, registers_of
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.avr.semantics import ACTIONS, COMPUTING, KnownNumbers
from protonn_edge.chips.avr.state import State
from protonn_edge.system.errors import InvalidValue

_STRAIGHT_BYTES = 64  # in front of a span
_ZERO_FLAG = 1
# Instructions of loops that shift (LSL and ROL are sums), copy or divide.
_IN_LOOPS = frozenset(
    {"lsr", "asr", "ror", "add", "adc", "ld", "st", "sub", "sbc", "cp", "cpc", "brbs", "brbc"}
)
# Instructions between the initial value of a counter and its loop.
_BEFORE_LOOPS = COMPUTING | {"in", "rjmp"}
_NUMBERS = SimpleNamespace(arithmetic=KnownNumbers())
_WAITING = frozenset({"sleep", "break", "spm"})


class Edge(NamedTuple):
    """A way from one block to the next."""

    start: int  # the address of the block that it leaves
    end: int | None  # the address of the block that it enters; None if its function returns
    cycles: int  # of the block, and of leaving it this way


@dataclass(frozen=True)
class Graph:
    """What can be reached from some functions."""

    edges: tuple[Edge, ...]
    calls: Mapping[int, tuple[int, ...]]  # the functions that a block calls, by its address
    counted: tuple[CountedLoop, ...]  # loops with a number of passes that the code shows

    @cached_property
    def following(self) -> Mapping[int, list[int]]:
        """The blocks that may follow each block, with the functions that it calls."""
        following = {block: [*functions] for block, functions in self.calls.items()}
        for edge in self.edges:
            if edge.end is not None:
                following[edge.start].append(edge.end)
        return following


class CountedLoop(NamedTuple):
    """A loop that counts a register: the compiler's, for a long shift, a copy or a division."""

    start: int  # the instruction that counts
    before: int  # the instruction in front, which goes on to the loop
    times: int  # how often the first is passed then


def graph_of(code: Code, entries: Collection[int], places: Collection[int]) -> Graph:
    """Return the control flow from the functions at `entries`; blocks also begin at `places`.

    Raises `CheckFailed` if the target of a call or a jump is unknown, or the code waits; the
    message names the function.
    """
    steps = code.steps(entries)
    for address, step in steps.items():
        if address not in code.ends and _may_stay(step):
            raise NoBound(
                "cycles",
                code.program.names.name_of(address),
                "waits or never returns",
                "move the wait or the endless loop into its caller",
            )
    called = {function for step in steps.values() for function in step.called}
    counted = tuple(_counted(steps, entries, called))
    leaders = {None, *entries, *called, *places}
    leaders |= {place for loop in counted for place in (loop.start, loop.before)}
    leaders |= _joints(steps)
    edges: list[Edge] = []
    calls: dict[int, tuple[int, ...]] = {}
    for start in sorted(steps.keys() & leaders):
        step, cycles, calls[start] = steps[start], 0, steps[start].called
        while len(step.ways) == 1:
            ((there, taken),) = step.ways
            if there is None or there in leaders:
                break
            step, cycles = steps[there], cycles + taken
            calls[start] += step.called
        edges += (Edge(start, there, cycles + taken) for there, taken in step.ways)
    return Graph(tuple(edges), calls, counted)


def _may_stay(step: Step) -> bool:
    """Whether an instruction waits, jumps to itself, or calls a function that never returns."""
    goes = step.here.name in JUMPS or step.here.name in instruction_set.CALLS
    return step.here.name in _WAITING or (goes and step.ways[0][0] is None)


def first_write(program: LinkedProgram, address: int, register: int) -> int:
    """Return where straight code first writes to an I/O register; `InputError` if it never does."""
    end = address + _STRAIGHT_BYTES
    while address < end and (here := program.instruction(address)):
        if writes_to(here, register):
            return address
        address = here.end
    raise InvalidValue(program.path, "the end of a span is marked, but not its beginning", AGAIN)


def _joints(steps: Mapping[int, Step]) -> set[int]:
    """Return what can be reached from several places, or as one of several ways from one."""
    joints, seen = set[int](), set[int | None]()
    for step in steps.values():
        for there, _ in step.ways:
            if there is not None and (len(step.ways) > 1 or there in seen):
                joints.add(there)
            seen.add(there)
    return joints


def _counted(
    steps: Mapping[int, Step], entries: Collection[int], called: Collection[int]
) -> Iterator[CountedLoop]:
    """Yield the loops that ``brne`` ends and that a register counts."""
    before: _Before = defaultdict(list)
    for entered in (*entries, *called):
        before[entered].append(None)
    for step in steps.values():
        for there, _ in step.ways:
            before[there].append(step.here)
    unclear = _nonzero(steps, before)
    for step in steps.values():
        match before[step.here.address]:
            case [Decoded() as counting] if _ends_loop(step.here, counting):
                loop = _loop(step.here, counting, before, steps, unclear)
                if loop is not None:
                    yield loop


_Before = Mapping[int | None, list[Decoded | None]]
"""The instructions before each one; None for a call, or where the analysis begins."""


def _ends_loop(here: Decoded, counting: Decoded) -> bool:
    """Return whether a register is counted by an instruction, and its loop ends with the next."""
    branches = here.name == "brbc" and here.operands["s"] == _ZERO_FLAG
    return branches and (counting.name == "dec" or _shifts_zero(counting))


def _shifts_zero(here: Decoded) -> bool:
    return here.name == "lsr" and here.operands["d"] == ZERO


def _loop(
    last: Decoded,
    counting: Decoded,
    before: _Before,
    steps: Mapping[int, Step],
    unclear: Set[int],
) -> CountedLoop | None:
    """Return a loop from its branch and the instruction that counts.

    None unless the initial count is known, nothing else enters or leaves the loop or calls a
    function, and nothing else in it writes the counter.
    """

    def following(address: int | None) -> list[int | None]:
        if address is None or not _keeps(steps[address].here, counting):
            return [None]
        return [there for there, _ in steps[address].ways if there != last.address]

    start: list[int | None] = [last.operands["k"]]
    inside = {last.address, *reached(start, following)}
    if None in inside:
        return None
    into = chain.from_iterable(before[address] for address in inside)
    ahead = [each for each in into if each is None or each.address not in inside]
    if len(ahead) != 1 or ahead[0] is None:
        return None
    times = _times(ahead[0], counting, before, unclear)
    return None if times is None else CountedLoop(counting.address, ahead[0].address, times)


def _keeps(here: Decoded, counting: Decoded) -> bool:
    """Return whether an instruction of a loop is the one that counts, or keeps the counter."""
    counter, moved = counting.operands["d"], here.moved
    return here == counting or (
        here.name in _IN_LOOPS
        and here.operands.get("d") != counter
        and (moved is None or counter not in {moved, moved + 1})
    )


def _nonzero(steps: Mapping[int, Step], before: _Before) -> set[int]:
    """Return where the register that is 0 at calls may have another value."""

    def following(address: int) -> Iterator[int]:
        here, ways = steps[address].here, steps[address].ways
        match before[address]:
            case [Decoded() as ahead] if _ends_loop(here, ahead) and _shifts_zero(ahead):
                ways = ways[1:]  # the other way, the register is 0
        if not _clears_zero(here):
            yield from (there for there, _ in ways if there is not None)

    writing = (address for address, step in steps.items() if _writes_zero(step.here))
    return set().union(*reached(writing, following).values())


def _writes_zero(here: Decoded) -> bool:
    """Return whether an instruction may change the register that is 0 at calls."""
    return bool(registers_of(here)[1] & 1 << ZERO) and not _clears_zero(here)


def _clears_zero(here: Decoded) -> bool:
    return here.name == "eor" and here.operands["d"] == here.operands["r"] == ZERO


def _times(last: Decoded, counting: Decoded, before: _Before, unclear: Set[int]) -> int | None:
    """Return how often a loop is passed, if straight code in front sets its counter to a number.

    ``dec`` counts down; ``lsr`` moves the bits out that are set in the register of 0.
    """
    straight = dict[int, Decoded]()  # the last one first
    ways: list[Decoded | None] = [last]
    while len(ways) == 1 and (here := ways[0]) and here.name in _BEFORE_LOOPS:
        if here.address in straight:
            return None  # the loop around
        straight[here.address] = here
        ways = before[here.address]
    state = State(registers=[None] * 32)
    if straight and [*straight][-1] not in unclear:
        state.registers[ZERO] = 0
    for each in reversed(straight.values()):
        if each.name == "in":
            state.registers[each.operands["d"]] = None
        elif each.name != "rjmp":
            ACTIONS[each.name](_NUMBERS, state, each.operands, each)
    count = state.registers[counting.operands["d"]]
    if not isinstance(count, int):
        return None
    return max(1, count.bit_length()) if counting.name == "lsr" else count or 256
