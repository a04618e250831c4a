"""Whether what a program's labels state is true: the emulator counts how often places pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from protonn_edge.avr.facts import Fact, facts_of, span_labels
from protonn_edge.avr.graph import first_write
from protonn_edge.avr.program import LinkedProgram
from protonn_edge.emulator import EmulatorStats, Watch
from protonn_edge.errors import CheckFailed

if TYPE_CHECKING:
    from protonn_edge.avr.paths import Paths

_LONGEST = 100_000  # characters of the emulator's option


class _Sum(NamedTuple):
    """A sum of passes, and its limits in any prediction."""

    name: str
    times: Mapping[int, int]
    least: float
    most: float


@dataclass(frozen=True)
class StatedFacts:
    """The facts of a program that hold for what its firmware measures."""

    sums: tuple[_Sum, ...] = ()
    watch: Watch | None = None

    @classmethod
    def of(cls, program: LinkedProgram, paths: Paths, register: int, *, whole: bool) -> StatedFacts:
        """Return the facts that limit paths: none if there are more than can be watched."""
        passes = (fact for fact in facts_of(program, whole=whole).passes)
        sums = [each for f in passes if f.name in paths.longest.passes for each in _sums(f)]
        first, last = (
            first_write(program, span_labels(program)[name][0], register)
            for name in ("finish" if whole else "begin", "finish")
        )
        watch = Watch([each.times for each in sums], first, last)
        return cls(tuple(sums), watch) if len(watch.options[1]) < _LONGEST else cls()

    def check(self, stats: EmulatorStats) -> None:
        """Raise `CheckFailed` if a prediction on the emulator was not as a fact says."""
        for each, (least, most) in zip(self.sums, stats.passes, strict=False):
            if least < each.least or most > each.most:
                raise CheckFailed(
                    f"the cycles' bound is wrong, because the fact {each.name} of the generated "
                    f"code is: it counts {least:,} to {most:,}, and states {each.least:,.0f} to "
                    f"{each.most:,.0f}"
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
    """Return the passes of a fact's places less so many times those of the others."""
    sums = dict(fact.places)
    for address, weight in fact.others.items():
        sums[address] = sums.get(address, 0) - times * weight
    return sums
