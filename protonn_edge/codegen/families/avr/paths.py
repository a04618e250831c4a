"""The cycles of predictions on an AVR, proven from the machine code and the facts that it states.

An emulator counts how often the places of these facts are passed, to check them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path as File
from typing import TYPE_CHECKING, NamedTuple

from protonn_edge.chips import avr
from protonn_edge.chips.avr.facts import Fact, facts_of, span_labels
from protonn_edge.chips.avr.graph import first_write
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.boards import Board
from protonn_edge.chips.emulator.uno import EmulatorStats, Watch
from protonn_edge.codegen.plan import DevicePlan, Plan
from protonn_edge.system.errors import CheckFailed, InputError
from protonn_edge.system.kept_results import KeptResults

if TYPE_CHECKING:
    from protonn_edge.chips.avr.paths import CodePath, Paths

_IO_REGISTERS = 0x20  # where they begin, in data addresses
_KEPT = KeptResults("paths", most=1000)  # of some 2 kB
_LONGEST_WATCH = 100_000  # characters of the emulator's option


@lru_cache(maxsize=4)  # what watches facts asks for them, and what compares cycles
def prediction_paths(program: LinkedProgram, plan: Plan, board: Board) -> Paths:
    """Return the paths of the measured part of a prediction, as `paths_between`."""
    spans = {"finish": 1} if plan.buffered else {"begin": 1, "push": plan.feed.calls, "finish": 1}
    return _paths_of_spans(program, spans, board)


def longest_pushes(program: LinkedProgram, plan: Plan, board: Board) -> CodePath:
    """Return the longest path of all pushes of a prediction, if features are pushed as they arrive.

    Raises as `paths_between`.
    """
    return _paths_of_spans(program, {"push": plan.feed.calls}, board).longest


def _paths_of_spans(program: LinkedProgram, spans: Mapping[str, int], board: Board) -> Paths:
    def solve() -> bytes:
        from protonn_edge.chips.avr.paths import Times, paths_between  # SciPy takes half a second

        times = {name: Times(number, number) for name, number in spans.items()}
        return json.dumps(asdict(paths_between(program, register, times))).encode()

    register = _register(board)
    read = (program.symbols, program.marks, program.core, spans, register)
    found = _KEPT.of([_source(), program.code, repr(read).encode()], solve)
    return _read(found)


def _read(found: bytes) -> Paths:
    from protonn_edge.chips.avr.paths import CodePath, Paths

    kept = json.loads(found)
    for each in (kept["longest"], kept["shortest"]):
        each["functions"] = {name: tuple(both) for name, both in each["functions"].items()}
    return Paths(CodePath(**kept["longest"]), CodePath(**kept["shortest"]), tuple(kept["given"]))


@cache
def _source() -> bytes:
    """Return the source of all that finds paths."""
    files = sorted(File(avr.__file__).parent.glob("*.py"))
    return b"".join(path.read_bytes() for path in files)


class _Sum(NamedTuple):
    """A sum of passes, and its limits in any prediction."""

    name: str
    times: Mapping[int, int]
    least: float
    most: float


@dataclass(frozen=True)
class StatedFacts:
    """The facts of a program that hold for the part that its firmware measures."""

    sums: tuple[_Sum, ...] = ()
    watch: Watch | None = None

    @classmethod
    def of(cls, program: LinkedProgram, paths: Paths, register: int, *, whole: bool) -> StatedFacts:
        """Return the facts that limit paths: none if there are more than can be watched."""
        facts = [each for each in facts_of(program) if each.name in paths.longest.passes]
        sums = [each for fact in facts for each in _sums(fact)]
        first, last = (
            first_write(program, span_labels(program)[name][0], register)
            for name in ("finish" if whole else "begin", "finish")
        )
        watch = Watch([each.times for each in sums], first, last)
        return cls(tuple(sums), watch) if len(watch.options[1]) < _LONGEST_WATCH else cls()

    def check(self, stats: EmulatorStats) -> None:
        """Raise `CheckFailed` if a prediction on the emulator contradicts a fact."""
        for each, (least, most) in zip(self.sums, stats.passes, strict=False):
            if least < each.least or most > each.most:
                raise CheckFailed(
                    f"the cycle bound is wrong, because the label {each.name} of the generated "
                    f"code is wrong: the emulator counted {least:,} to {most:,} passes, but the "
                    f"label allows {each.least:,.0f} to {each.most:,.0f}; report this as a bug"
                )


def _sums(fact: Fact) -> list[_Sum]:
    """Return a fact as sums; one about other places has a sum for each limit."""
    if not fact.others:
        return [_Sum(fact.name, fact.places, fact.least, fact.most)]
    upper, lower = (_less(fact, times) for times in (fact.most, fact.least))
    return [
        _Sum(fact.name, upper, float("-inf"), fact.base),
        _Sum(fact.name, lower, 0, float("inf")),
    ]


def _less(fact: Fact, times: int) -> dict[int, int]:
    """Return the passes of a fact's places, less a multiple of the others' passes."""
    sums = dict(fact.places)
    for address, weight in fact.others.items():
        sums[address] = sums.get(address, 0) - times * weight
    return sums


def stated_facts(program: LinkedProgram, plan: DevicePlan, board: Board) -> StatedFacts:
    """Return the facts behind a program's paths, for an emulator to count: none if it has none."""
    if not isinstance(plan, Plan) or not plan.core.multiplies:
        return StatedFacts()
    try:
        paths = prediction_paths(program, plan, board)
    except (CheckFailed, InputError):
        return StatedFacts()
    return StatedFacts.of(program, paths, _register(board), whole=plan.buffered)


def _register(board: Board) -> int:
    """Return the I/O register that marks spans, as instructions have it."""
    return board.gpior0 - _IO_REGISTERS
