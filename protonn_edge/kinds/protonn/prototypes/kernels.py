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
from protonn_edge.kernels.listing import Listing
from protonn_edge.kernels.matvec.kernels import SAVED_REGISTER_CYCLES
from protonn_edge.kernels.matvec.loops import blocks_of
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.kinds.protonn.prototypes.loops import (
    Voting,
    clearing,
    compared_steps,
    saved_registers,
)
from protonn_edge.kinds.protonn.prototypes.reach import near_at_most

# Near prototypes that are listed before they vote: more need more SRAM, fewer take longer.
_NEIGHBOURS_AT_LEAST, _NEIGHBOURS_AT_MOST = 10, 40
_NEIGHBOURS_SHARE = 16
_NEIGHBOUR_BYTES = 3

# Number of prototypes up to which all pairs are examined to choose checks.
_PROTOTYPES_COMPARED = 200

# What the compiler makes around the loops (avr-gcc 5.4 at -O2), mean and maximum: registers that a
# function saves in addition to those of the loops, up to a number in total, and the rest.
_SAVED_BESIDES, _SAVED_AT_MOST = 6, 18
_AROUND_CYCLES = (10, 50)

# Time of the compiler's loops relative to assembly, on a chip without a multiplier.
_PORTABLE = 10.1

_CODE_BYTES_PER_SCORE = 16


@dataclass(frozen=True, eq=False)
class PrototypesKernel(Kernel):
    """Compares prototypes one after the other; near ones are listed, and vote when it is full."""

    template: ClassVar[str] = "prototypes/prototypes.j2"

    stage: IntegerPrototypes
    core: Core
    name: str = "listed"

    @cached_property
    def voting(self) -> Voting:
        """The comparisons, and the votes of near prototypes."""
        stage = self.stage
        overflows = [coordinate.overflows for coordinate in coordinates_of(stage)]
        return Voting(
            compared_steps(overflows, checked_coordinates(stage)),
            blocks_of(stage.n_outputs, stage.output_bits // 8),
            stride=stage.n_inputs + stage.n_outputs,
            shift=stage.distance_shift,
            limit=stage.distance_limit >> 8,
            nearest=stage.gives_nearest,
        )

    @property
    def saved_registers(self) -> tuple[int, ...]:
        """Registers of the caller that comparisons and votes use."""
        return saved_registers(self.voting)

    @cached_property
    def clearing(self) -> Listing:
        """The loop that sets all scores to 0."""
        return clearing(self.stage.output_bits // 8)

    @property
    def rows(self) -> list[list[int]]:
        """A row per prototype: its coordinates and labels."""
        rows: list[list[int]] = np.concatenate(
            [self.stage.prototypes, self.stage.labels]
        ).T.tolist()
        return rows

    @property
    def table(self) -> list[int]:
        """The RBF by distance."""
        table: list[int] = self.stage.table.tolist()
        return table

    @property
    def neighbours_at_once(self) -> int:
        """Near prototypes that vote together."""
        m = self.stage.n_prototypes
        share = m // _NEIGHBOURS_SHARE
        return min(m, max(_NEIGHBOURS_AT_LEAST, min(share, _NEIGHBOURS_AT_MOST)))

    @property
    def costs(self) -> IntArray:
        """Cycles (d + 1,) of a prototype far from coordinates 1..d on, and of a near one."""
        return np.append(self.voting.left_after, self.voting.near)

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
        stage, voting = self.stage, self.voting
        m = stage.n_prototypes
        saved = min(len(self.saved_registers) + _SAVED_BESIDES, _SAVED_AT_MOST)
        clear = int(self.clearing.worst("score", ["score"], {"score": 1})) * stage.n_outputs
        around = 3 * self.core.call_cycles + SAVED_REGISTER_CYCLES * saved + clear
        around += voting.once + voting.accident * _accidents(stage)
        at_most = near_at_most(stage)
        full, rest = divmod(int(at_most[-1]), self.neighbours_at_once)
        rounds = full * voting.round + (voting.round if rest else voting.empty_round)
        costs = np.maximum.accumulate(self.costs)
        worst = int(m * costs[0] + at_most @ np.diff(costs)) + rounds + around + _AROUND_CYCLES[1]
        mean = None
        if activity is not None:
            coordinates, prototypes = activity.stages[stage.kind]
            near = float(prototypes.sum())
            left = m * (coordinates - np.append(coordinates[1:], near / m))
            some = (prototypes.max() + 1 - np.prod(1 - prototypes)) / 2  # how often any, about
            lists = max(0.0, near / self.neighbours_at_once - 0.5)
            votes = (some + lists) * voting.round + (1 - some) * voting.empty_round
            mean = float(left @ voting.left_after + near * voting.near + votes)
            mean += around + _AROUND_CYCLES[0]
        fetched = any(step.register is None for step in voting.steps)
        where = "partly in registers" if fetched else "in registers"
        kernel = f"point {where}, {stage.output_bits}-bit scores"
        least = m * voting.least + voting.start + clear
        return Step("prototypes", kernel, flash_bytes, mean, worst, least)


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
    """The ranges of a coordinate of the point."""

    # its bounds for any input
    least: int
    most: int
    # whether the difference from a prototype's may exceed a byte, and seem small if only a byte is
    # kept
    overflows: bool
    largest_square: int  # of such a difference, or of the byte that is kept


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
