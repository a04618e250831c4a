"""The kernel of the prototypes: the comparison of a point with each, and the votes of near ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.chain.integer_stage import IntArray
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.kernels.matvec.kernels import SAVED_REGISTER_CYCLES
from protonn_edge.kernels.matvec.loops import Block, blocks_of
from protonn_edge.kinds.protonn.prototypes.comparison import (
    ACCIDENT_CYCLES,
    CLEAR_CYCLES,
    FINISH_BY_COMPILER,
    NEAREST_CYCLES,
    ROUND_CYCLES,
    VOTES_CYCLES,
    Comparison,
    comparison,
    saved_registers,
    vote_cycles,
)
from protonn_edge.kinds.protonn.prototypes.comparison import Step as Compared
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.kinds.protonn.prototypes.reach import near_at_most

# Near prototypes that are listed before they vote: more need more SRAM, fewer take longer.
_NEIGHBOURS_AT_LEAST, _NEIGHBOURS_AT_MOST = 10, 40
_NEIGHBOURS_SHARE = 16
_NEIGHBOUR_BYTES = 3

# Number of prototypes up to which all pairs are examined to choose checks.
_PROTOTYPES_COMPARED = 200

# Registers that a function saves in addition to those of its loops, and the maximum in total.
_SAVED_BESIDES, _SAVED_AT_MOST = 6, 18


# Time of the compiler's loops relative to assembly, on a chip without a multiplier.
_PORTABLE = 10.1

_CODE_BYTES_PER_SCORE = 16


@dataclass(frozen=True)
class ComparisonContext:
    """The loop over the prototypes, and its constants; `distant` if its beginning is out of reach.

    `saved_registers` are those of the caller that it and the votes use.
    """

    steps: tuple[Compared, ...]
    saved_registers: tuple[int, ...]
    distant: bool
    stride: int
    distance_shift: int
    limit_high: int


@dataclass(frozen=True)
class PrototypesContext:
    """The context of ``templates/c/prototypes``."""

    n_coordinates: int
    n_prototypes: int
    n_classes: int
    distance_shift: int
    distance_limit: int
    neighbours_at_once: int
    score_bits: int
    score_range: tuple[int, int]
    nearest: bool
    comparison: ComparisonContext
    votes: tuple[Block, ...]
    rows: tuple[tuple[int, ...], ...]
    table: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class PrototypesKernel(Kernel):
    """Compares prototypes one after the other; near ones are listed, and vote when it is full."""

    template: ClassVar[str] = "prototypes/prototypes.j2"

    stage: IntegerPrototypes
    core: Core
    name: str = "listed"

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison of a point with a prototype."""
        stage = self.stage
        overflows = [coordinate.overflows for coordinate in coordinates_of(stage)]
        return comparison(overflows, checked_coordinates(stage), stage.distance_shift)

    @cached_property
    def votes(self) -> tuple[Block, ...]:
        """The passes of the scores over the near prototypes."""
        return blocks_of(self.stage.n_outputs, self.stage.output_bits // 8)

    @property
    def neighbours_at_once(self) -> int:
        """Near prototypes that vote together."""
        m = self.stage.n_prototypes
        share = m // _NEIGHBOURS_SHARE
        return min(m, max(_NEIGHBOURS_AT_LEAST, min(share, _NEIGHBOURS_AT_MOST)))

    @property
    def saved_registers(self) -> tuple[int, ...]:
        """Registers of the caller that the loops use."""
        return saved_registers(self.comparison, self.votes)

    @property
    def costs(self) -> IntArray:
        """Cycles (d + 1,) of a prototype far from coordinates 1..d on, and of a near one."""
        vote = self._vote_cycles[1]
        return np.append(self.comparison.left_after, self.comparison.near + vote)

    @property
    def _vote_cycles(self) -> tuple[int, int]:
        """Cycles of a vote, and those for each near prototype in it."""
        call, each = vote_cycles(self.votes)
        return call, each + NEAREST_CYCLES * self.stage.gives_nearest

    def cost(
        self,
        feed: Feed | None,  # noqa: ARG002  (coordinates are in place)
        following: Push | None,  # noqa: ARG002
        activity: Activity | None,
    ) -> Cost:
        """Return its cost."""
        stage = self.stage
        flash = int(stage.prototypes.nbytes + stage.labels.nbytes + stage.table.nbytes)
        step = self._step(activity, flash)
        scores = stage.n_outputs * stage.output_bits // 8
        return Cost(
            steps=(step.on(self.core, _PORTABLE),),
            tables=flash,
            code=_CODE_BYTES_PER_SCORE * stage.n_outputs,
            state=scores + _NEIGHBOUR_BYTES * self.neighbours_at_once,
        )

    def _step(self, activity: Activity | None, flash_bytes: int) -> Step:
        stage, loop = self.stage, self.comparison
        call, each = self._vote_cycles
        call += loop.start
        m = stage.n_prototypes
        saved = min(len(self.saved_registers) + _SAVED_BESIDES, _SAVED_AT_MOST)
        around = FINISH_BY_COMPILER + 3 * self.core.call_cycles + SAVED_REGISTER_CYCLES * saved
        around += VOTES_CYCLES + ACCIDENT_CYCLES * _accidents(stage)
        clear = CLEAR_CYCLES[stage.output_bits // 8] * stage.n_outputs
        around += clear
        at_most = near_at_most(stage)
        full, rest = divmod(int(at_most[-1]), self.neighbours_at_once)
        votes = (full + 1) * call if rest else full * call + loop.start + ROUND_CYCLES
        costs = np.maximum.accumulate(self.costs)
        worst = around + int(m * costs[0] + at_most @ np.diff(costs)) + votes
        mean = None
        if activity is not None:
            coordinates, prototypes = activity.stages[stage.kind]
            near = float(prototypes.sum())
            left = m * (coordinates - np.append(coordinates[1:], near / m))
            mean = around + float(left @ loop.left_after) + near * (loop.near + each)
            mean += (near / self.neighbours_at_once + 0.5) * call
        fetched = any(step.register is None for step in loop.steps)
        where = "partly in registers" if fetched else "in registers"
        kernel = f"point {where}, {stage.output_bits}-bit scores"
        least = m * loop.least + loop.start + clear
        return Step("prototypes", kernel, flash_bytes, mean, worst, least)

    def context(self) -> PrototypesContext:
        """Return the template context, with data in the order of the generated program."""
        stage = self.stage
        table = stage.table.tolist()
        rows = np.concatenate([stage.prototypes, stage.labels]).T.tolist()
        return PrototypesContext(
            n_coordinates=stage.n_inputs,
            n_prototypes=stage.n_prototypes,
            n_classes=stage.n_outputs,
            distance_shift=stage.distance_shift,
            distance_limit=stage.distance_limit,
            neighbours_at_once=self.neighbours_at_once,
            score_bits=stage.output_bits,
            score_range=stage.output.ends,
            nearest=stage.gives_nearest,
            comparison=ComparisonContext(
                steps=self.comparison.steps,
                saved_registers=self.saved_registers,
                distant=self.comparison.steps[-1].far != "1b",
                stride=stage.n_inputs + stage.n_outputs,
                distance_shift=stage.distance_shift,
                limit_high=stage.distance_limit >> 8,
            ),
            votes=self.votes,
            rows=tuple(map(tuple, rows)),
            table=tuple(tuple(table[i : i + 16]) for i in range(0, len(table), 16)),
        )


def _accidents(stage: IntegerPrototypes) -> int:
    """Return the number of prototypes whose end has the same lower address byte as the last one."""
    m, stride = stage.n_prototypes, stage.n_inputs + stage.n_outputs
    return int(np.count_nonzero(np.arange(1, m) * stride % 256 == 0))


def checked_coordinates(stage: IntegerPrototypes) -> tuple[bool, ...]:
    """Return the coordinates after which it pays to check whether a prototype is far.

    A check costs one cycle, leaving one more, and continuing in vain a coordinate. The share of far
    prototypes is estimated from their distances from each other. Between two checks, squares must
    not exceed 16 bits.
    """
    d, limit = stage.n_inputs, stage.distance_limit
    left = _share_within_reach(stage)
    squares = [coordinate.largest_square for coordinate in coordinates_of(stage)]
    cost, following = [math.inf] * d + [0.0], [d] * d
    for k in reversed(range(d)):
        room = (1 << 15) if k else (1 << 15) + limit - 1
        for end in range(k + 1, d + 1):
            room -= squares[end - 1]
            if room < 0:
                break
            spent = left[k] * (8 * (end - k) + 1) + (left[k] - left[end]) + cost[end]
            if spent < cost[k]:
                cost[k], following[k] = spent, end
    checks, k = set(), 0
    while k < d:
        k = following[k]
        checks.add(k - 1)
    return tuple(k in checks for k in range(d))


def _share_within_reach(stage: IntegerPrototypes) -> list[float]:
    """Return the share of pairs of prototypes that are near after 0..d coordinates."""
    m = stage.n_prototypes
    some = stage.prototypes[:, :: -(-m // _PROTOTYPES_COMPARED)].T.astype(np.int64)
    squares = np.square(some[:, None] - some).cumsum(axis=2)
    near = np.count_nonzero(squares < stage.distance_limit, axis=(0, 1)) - len(some)
    return [1.0, *(near / max(1, len(some) * (len(some) - 1))).tolist()]


@dataclass(frozen=True)
class Coordinate:
    """The ranges of a coordinate of the point.

    Attributes
    ----------
    least, most : int
        Its bounds for any input.
    overflows : bool
        Whether the difference from a prototype's may exceed a byte, and seem small if only a byte
        is kept.
    largest_square : int
        Of such a difference, or of the byte that is kept.
    """

    least: int
    most: int
    overflows: bool
    largest_square: int


def coordinates_of(stage: IntegerPrototypes) -> tuple[Coordinate, ...]:
    """Return the ranges of each coordinate for the range of the stage's inputs."""
    fed = stage.feed or stage.wanted
    coordinates = []
    limits = zip(stage.prototypes.tolist(), fed.low.tolist(), fed.high.tolist(), strict=True)
    for residuals, least, most in limits:
        below, above = most - min(residuals), max(residuals) - least
        wraps = [256 - size for size, largest in ((below, 128), (above, 127)) if size > largest]
        overflows = any(size**2 < stage.distance_limit for size in wraps)
        square = min(128, max(below, above)) ** 2
        coordinates.append(Coordinate(least, most, overflows, square))
    return tuple(coordinates)


def kernels(stage: IntegerPrototypes, core: Core) -> tuple[Kernel, ...]:
    """Return its only kernel."""
    return (PrototypesKernel(stage, core),)
