"""Which registers still matter at a place, and which of them become addresses.

Only these decide whether two paths that meet can go on as one. A function is looked at for each
place that it returns to, since what matters there matters at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from protonn_edge.chips.avr import instruction_set
from protonn_edge.chips.avr.instruction_set import KEPT_BY_CALLEE
from protonn_edge.chips.avr.instructions import registers_of
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.extensions.proof.order import Flow

_COPIES = {"mov", "movw"}


class Live(NamedTuple):
    """Sets of registers, as the bits of numbers."""

    used: int
    addresses: int

    def union(self, other: Live) -> Live:
        """Return the registers of both."""
        return Live(self.used | other.used, self.addresses | other.addresses)


NOTHING = Live(0, 0)
KEPT = sum(1 << register for register in (1, *KEPT_BY_CALLEE, 28, 29))
AT_RETURN = Live(KEPT | 3 << 24, 0)


class Liveness:
    """What matters at each place of a program."""

    def __init__(self, program: LinkedProgram, flow_of: Callable[[int], Flow]) -> None:
        self._program, self._flow_of = program, flow_of
        self._of: dict[tuple[int, Live], dict[int, Live]] = {}

    def at(self, entry: int, after: Live) -> dict[int, Live]:
        """Return what matters in front of each instruction of a function."""
        key = entry, after
        if key not in self._of:
            self._of[key] = self._solved(self._flow_of(entry), after)
        return self._of[key]

    def forget(self) -> None:
        """Forget all, because functions turned out to be larger."""
        self._of.clear()

    def _solved(self, flow: Flow, after: Live) -> dict[int, Live]:
        live = dict.fromkeys(flow.order, NOTHING)
        behind_of: dict[int, Live] = {}  # from which the last result came
        changed = True
        while changed:
            changed = False
            for place in reversed(flow.order):
                behind = NOTHING
                for follower in flow.followers[place]:
                    behind = behind.union(live.get(follower, NOTHING))
                if behind_of.get(place) == behind:
                    continue
                behind_of[place] = behind
                now = self._before(place, behind, after)
                changed |= now != live[place]
                live[place] = now
        return live

    def _before(self, place: int, behind: Live, after: Live) -> Live:
        """Return what matters in front of an instruction, by what does behind it."""
        here = self._program.reached(place)
        if here.name == "ret":
            return after
        if here.name in instruction_set.CALLS and here.operands["k"] != here.end:
            target = here.operands["k"]
            return self.at(target, behind)[target]
        reads, writes = registers_of(here)
        used, addresses = behind.used & ~writes | reads, behind.addresses
        if here.name in _COPIES:
            width = 3 if here.name == "movw" else 1
            target, source = here.operands["d"], here.operands["r"]
            moved = addresses >> target & width
            used = behind.used & ~writes | (behind.used >> target & width) << source
            addresses = addresses & ~writes | moved << source
        elif reads & writes == writes:  # a sum stays what it is
            into = addresses & writes
            addresses |= reads if into else 0
        else:
            addresses &= ~writes
        if here.pointer is not None:
            used, addresses = used | 3 << here.pointer, addresses | 3 << here.pointer
        return Live(used, addresses)
