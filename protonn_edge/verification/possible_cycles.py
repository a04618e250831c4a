"""The range of possible cycles of a prediction: a device must not report others.

The plan of an integer build has proven bounds on chips with a multiplier. For float builds and
other chips only impossible values are excluded: 0 cycles, or more than the watchdog allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

from protonn_edge.boards import Board
from protonn_edge.codegen import Float32Plan, Plan, every_plan, make_float32_plan
from protonn_edge.device.results import Result
from protonn_edge.quantization import DeviceModel, Float32Model

_MOST_PLANS = 1_000  # to consider if the built plan is not known
_LONGEST_S = 3  # the watchdog ends a computation after 2 s by its own clock


@dataclass(frozen=True)
class PossibleCycles:
    """The range of the cycles of one prediction."""

    # both are possible
    least: int
    most: int
    # whether they are proven for the program; otherwise they follow from the clock only
    proven: bool

    @classmethod
    def of(cls, plan: Plan | Float32Plan, board: Board) -> Self:
        """Return the range for a plan on a board."""
        if isinstance(plan, Float32Plan) or plan.estimated:
            return cls._by_clock(board)
        return cls(plan.least_cycles, plan.worst_cycles, proven=True)

    @classmethod
    def _by_clock(cls, board: Board) -> Self:
        return cls(1, _LONGEST_S * board.clock_hz, proven=False)

    @classmethod
    def of_any_plan(cls, model: DeviceModel, board: Board) -> Self:
        """Return the range if the built plan is not known."""
        if isinstance(model, Float32Model):
            return cls.of(make_float32_plan(model), board)
        plans = list(islice(every_plan(model, board.cpu), _MOST_PLANS + 1))
        if len(plans) > _MOST_PLANS:
            return cls._by_clock(board)
        return cls.of_one_of(plans, board)

    @classmethod
    def of_one_of(cls, plans: Iterable[Plan | Float32Plan], board: Board) -> Self:
        """Return the range if one of these plans was built."""
        ranges = [cls.of(plan, board) for plan in plans]
        return cls(
            min(each.least for each in ranges),
            max(each.most for each in ranges),
            all(each.proven for each in ranges),
        )

    def outside(self, results: Sequence[Result]) -> list[Result]:
        """Return the answers whose cycles are impossible."""
        return [
            result
            for result in results
            if result.cycles is not None and not self.least <= result.cycles <= self.most
        ]

    def __str__(self) -> str:
        by = "its plan" if self.proven else f"{_LONGEST_S} s of its clock"
        return f"{self.least:,} to {self.most:,} by {by}"
