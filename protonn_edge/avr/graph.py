"""The control flow of a program: which blocks may follow each block, after how many cycles.

A block ends where code branches or where another path joins; a place with a fact begins a block.
Calls are inside of blocks, and jumps out of a function are followed like any others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import NamedTuple

from protonn_edge.avr import instructions
from protonn_edge.avr.instructions import JUMPS, Decoded
from protonn_edge.avr.program import LinkedProgram
from protonn_edge.errors import CheckFailed, InputError

_ZERO = 1  # the register that is 0
_STRAIGHT_BYTES = 64  # in front of a span
_ZERO_FLAG = 1
_T_FLAG = 6
_SHIFTING = frozenset({"lsr", "asr", "ror", "add", "adc", "dec"})  # LSL and ROL are sums
_COPYING = frozenset({"ld", "st"})
# Instructions that the compiler puts between a counter and its loop; some write two registers.
_PAIRS = frozenset({"movw", "adiw", "sbiw"})
_SETTING = _PAIRS | {"ldi", "mov", "subi", "sbci", "in"}
_INDIRECT = frozenset({"ijmp", "eijmp", "icall", "eicall"})
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


class CountedLoop(NamedTuple):
    """A loop of one block that counts a register: the compiler's, for a long shift or a copy."""

    start: int
    before: int  # the instruction in front, which goes on to the loop
    times: int  # how often it is passed then


class CodeStep(NamedTuple):
    """An instruction, for the flow."""

    here: Decoded
    ways: tuple[tuple[int | None, int], ...]  # its successors, and the cycles until then
    called: tuple[int, ...] = ()  # the function that it calls, if any


def graph_of(code: CodeSteps, entries: Collection[int], places: Collection[int]) -> Graph:
    """Return the control flow from the functions at `entries`; blocks also begin at `places`.

    Raises `CheckFailed` if the target of a call or a jump is unknown, or the code waits; the
    message names the function.
    """
    steps = code.all(entries)
    for address, step in steps.items():
        if address not in code.ends and _may_stay(step):
            raise CheckFailed(
                f"{code.program.names.name_of(address)} waits or never returns, so its cycles have "
                "no bound; move the wait or the endless loop into its caller"
            )
    called = {function for step in steps.values() for function in step.called}
    counted = tuple(_counted(steps, entries))
    leaders = {None, *entries, *called, *places, *(loop.before for loop in counted)}
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


def _may_stay(step: CodeStep) -> bool:
    """Whether an instruction waits, jumps to itself, or calls a function that never returns."""
    goes = step.here.name in JUMPS or step.here.name in instructions.CALLS
    return step.here.name in _WAITING or (goes and step.ways[0][0] is None)


def first_write(program: LinkedProgram, address: int, register: int) -> int:
    """Return where straight code first writes to an I/O register; `InputError` if it never does."""
    end = address + _STRAIGHT_BYTES
    while address < end and (here := program.instruction(address)):
        if _writes(here, register):
            return address
        address = here.end
    raise InputError(
        f"{program.path} marks the end of a span but not its beginning; build the program again"
    )


def _writes(here: Decoded, register: int | None) -> bool:
    return here.name == "out" and here.operands["A"] == register


def _joints(steps: Mapping[int, CodeStep]) -> set[int]:
    """Return what can be reached from several places, or as one of several ways from one."""
    joints, seen = set[int](), set[int | None]()
    for step in steps.values():
        for there, _ in step.ways:
            if there is not None and (len(step.ways) > 1 or there in seen):
                joints.add(there)
            seen.add(there)
    return joints


def _counted(steps: Mapping[int, CodeStep], entries: Collection[int]) -> Iterator[CountedLoop]:
    """Yield the loops of one block that ``brne`` ends and that a register counts."""
    before: dict[int | None, list[Decoded]] = defaultdict(list)
    for entry in entries:
        before[entry].append(steps[entry].here)  # it is also entered from elsewhere
    for step in steps.values():
        for there in (*(each for each, _ in step.ways), *step.called):
            before[there].append(step.here)
    for step in steps.values():
        start = step.here.operands.get("k", step.here.address)
        if step.here.name != "brbc" or step.here.operands["s"] != _ZERO_FLAG or start not in steps:
            continue
        inside, address = list[Decoded](), start
        # A path may end there, so its next instruction is unknown.
        while address < step.here.address and address in steps and len(steps[address].ways) == 1:
            inside.append(steps[address].here)
            address = inside[-1].end
        ahead = [each for each in before[start] if each != step.here]
        if address == step.here.address and inside and len(ahead) == 1 and _counts(inside):
            times = _times(ahead[0], inside[-1], before)
            if times is not None:
                yield CountedLoop(start, ahead[0].address, times)


def _counts(inside: list[Decoded]) -> bool:
    """Return whether only the last instruction of a loop writes the register that it counts."""
    counter = inside[-1].operands.get("d")
    writes = [each for each in inside if each.operands.get("d") == counter]
    moved = {each.moved for each in inside} - {None}
    return (
        len(writes) == 1
        and all(each.name in _SHIFTING or each.name in _COPYING for each in inside)
        and not any(counter in {pointer, pointer + 1} for pointer in moved if pointer is not None)
    )


def _times(
    here: Decoded, counting: Decoded, before: Mapping[int | None, list[Decoded]]
) -> int | None:
    """Return how often a loop is passed, from its counter's initial value.

    ``dec`` counts a constant down; ``lsr`` moves a bit out that was set in the register of 0.
    """
    register = counting.operands["d"]
    if counting.name == "lsr":
        sets_bit = register == _ZERO and here.name == "bld" and here.operands["d"] == register
        ahead = before[here.address] if sets_bit else []
        is_set = len(ahead) == 1 and ahead[0].name == "bset" and ahead[0].operands["s"] == _T_FLAG
        return here.operands["b"] + 1 if is_set else None
    while counting.name == "dec" and here.name in _SETTING:
        written = here.operands["d"]
        if written == register and here.name == "ldi":
            return here.operands["K"] or 256
        if written == register and here.name == "mov":
            register = here.operands["r"]
        elif register in {written, written + (here.name in _PAIRS)}:
            break
        if len(before[here.address]) != 1:
            break
        here = before[here.address][0]
    return None


@dataclass(frozen=True)
class CodeSteps:
    """Follows code, an instruction at a time."""

    program: LinkedProgram
    targets: Mapping[int, tuple[int, ...]]  # of jumps through tables, by their addresses
    # where paths end, too: before 0 is written to an I/O register, and at addresses
    register: int | None = None
    ends: Set[int] = frozenset()

    def all(self, entries: Collection[int]) -> dict[int, CodeStep]:
        """Return the instructions that can be reached, by address."""
        steps: dict[int, CodeStep] = {}
        pending = [*entries]
        while pending:
            address = pending.pop()
            if address not in steps:
                step = steps[address] = self.at(address)
                pending += (there for there, _ in step.ways if there is not None)
                pending += step.called
        return steps

    def at(self, address: int) -> CodeStep:
        """Return the step at an address; `CheckFailed` if its target is unknown."""
        here = self.program.reached(address)
        name, cycles = here.name, here.cycles_on(self.program.core)
        target = here.operands.get("k", 0)
        if address in self.ends:
            return CodeStep(here, ((None, 0),))
        if name in instructions.RETURNS:
            return CodeStep(here, ((None, cycles),))
        if _writes(here, self.register) and here.operands["r"] == _ZERO:
            return CodeStep(here, ((None, 0),))
        if name in instructions.CALLS and target != here.end:  # else it reserves stack
            behind = None if self.program.never_returns(here, target) else here.end
            return CodeStep(here, ((behind, cycles),), (target,))
        if name in JUMPS:
            return CodeStep(here, tuple(self._jump(here, target, cycles)))
        if name in _INDIRECT:
            raise self._lost(here)
        ways: list[tuple[int | None, int]] = [(here.end, cycles)]
        if name in instructions.BRANCHES:
            ways.append((target, cycles + instructions.TAKEN_BRANCH))
        if name in instructions.SKIPS:
            skipped = self.program.reached(here.end)
            ways.append((skipped.end, cycles + skipped.size // 2))
        return CodeStep(here, tuple(ways))

    def _jump(self, here: Decoded, target: int, cycles: int) -> Iterator[tuple[int | None, int]]:
        symbol = self.program.names.at(target)
        if target == here.address:  # where _exit() stops
            yield None, cycles
        elif symbol is not None and symbol.name.startswith("__tablejump"):
            if here.address not in self.targets:
                raise self._lost(here)
            cycles += self._until_jump(target)
            yield from ((each, cycles) for each in self.targets[here.address])
        else:
            yield target, cycles

    def _until_jump(self, address: int) -> int:
        """Return the cycles of code up to its jump through a pointer, with it."""
        cycles = 0
        while True:
            here = self.program.reached(address)
            cycles += here.cycles_on(self.program.core)
            if here.name in _INDIRECT:
                return cycles
            address = here.operands["k"] if here.name in JUMPS else here.end

    def _lost(self, here: Decoded) -> CheckFailed:
        return CheckFailed(
            f"{self.program.names.name_of(here.address)} calls or jumps through a pointer, so its "
            "target is unknown; call the function by its name, or compile with -fno-jump-tables"
        )
