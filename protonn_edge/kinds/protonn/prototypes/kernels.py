"""The kernel of the prototypes: comparison of a point with each, and votes of near ones."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel, code_bytes
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed
from protonn_edge.codegen.kernels.matvec.loops import blocks_of
from protonn_edge.kinds.protonn.additions import voters_kernel
from protonn_edge.kinds.protonn.prototypes import loops
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes

# Near prototypes listed before they vote: more need more SRAM, fewer take longer.
_NEIGHBOURS_AT_LEAST, _NEIGHBOURS_AT_MOST = 10, 40
_NEIGHBOURS_SHARE = 16
_NEIGHBOUR_BYTES = compiled.bytes_of("uint8_t", "uint16_t")

# Cycles of a near prototype: of each coordinate and score, and around them.
_COORDINATE_CYCLES, _VOTE_CYCLES, _NEAR_CYCLES, _AROUND_CYCLES = 9, 8, 40, 130
_UNROLLED_CYCLES, _NEAR_UNROLLED_CYCLES = 8, 32

_LISTED_BYTES = 255  # of a list, whose end is known by its lower byte

# Up to this number of prototypes, all pairs are examined to choose checks.
_PROTOTYPES_COMPARED = 200


@dataclass(frozen=True, eq=False)
class PrototypesKernel(Kernel):
    """Compares prototypes one by one; near ones are listed, and vote when the list is full."""

    stage: IntegerPrototypes
    name: str = "listed"

    cycles: ClassVar[tuple[int, int]] = _COORDINATE_CYCLES, _NEAR_CYCLES

    @classmethod
    def of(cls, stage: IntegerPrototypes, core: Core) -> tuple[Kernel, ...]:
        """Return the kernels; voters, and long lists, have only the one with rows in flash."""
        kernels: tuple[Kernel, ...] = (PrototypesKernel(stage, core),)
        fits = stage.n_prototypes * _NEIGHBOUR_BYTES <= _LISTED_BYTES
        if fits and stage.voters is None and core.multiplies:
            kernels += (UnrolledKernel(stage, core, "unrolled"),)
        return kernels

    @cached_property
    def voting(self) -> loops.Voting:
        """The comparisons, and the votes of near prototypes."""
        stage = self.stage
        overflows = [coordinate.overflows for coordinate in coordinates_of(stage)]
        return loops.Voting(
            loops.compared_steps(overflows, checked_coordinates(stage)),
            blocks_of(stage.n_outputs, stage.output.bits // 8),
            stride=stage.n_inputs + stage.n_outputs,
            shift=stage.distance_shift,
            limit=stage.distance_limit >> 8,
            nearest=stage.gives_nearest,
            prototypes=stage.prototypes.T.tolist() if self.is_instructions else [],
        )

    @cached_property
    def clearing(self) -> Listing:
        """The loop that sets all scores to 0."""
        return loops.clearing(self.stage.output.bits // 8)

    @property
    def listings(self) -> tuple[Listing, ...]:
        """Its loops."""
        return (self.voting.listing, self.clearing)

    @property
    def clearing_facts(self) -> Facts:
        """How often the loop that clears scores is passed."""
        return {"score": Passed(self.stage.n_outputs, self.stage.n_outputs)}

    @property
    def facts(self) -> Facts:
        """How often the labels of comparisons and votes can be passed: all may be near."""
        voting, m, at_once = self.voting, self.stage.n_prototypes, self.neighbours_at_once
        return {
            "step0": Passed(m, m),
            "accident": Passed(_accidents(self.stage) + 1),
            "listed": Passed(m),
            "again": Passed(m // at_once + 1, 1),
            "some": Passed(-(-m // at_once)),
            **{f"voter{block.number}": Passed(1, 1, of="listed") for block in voting.blocks},
        }

    @cached_property
    def voters(self) -> VotersKernel | None:
        """The code of what votes beside the prototypes."""
        voters = self.stage.voters
        if voters is None:
            return None
        kernel: VotersKernel = voters_kernel(voters.extension, self.stage)
        return kernel

    @property
    def rows(self) -> list[list[int]]:
        """A row per prototype: its coordinates and labels."""
        rows: list[list[int]] = np.concatenate(
            [self.stage.prototypes, self.stage.labels]
        ).T.tolist()
        return rows

    @property
    def neighbours_at_once(self) -> int:
        """Number of near prototypes that vote together."""
        m = self.stage.n_prototypes
        share = m // _NEIGHBOURS_SHARE
        return min(m, max(_NEIGHBOURS_AT_LEAST, min(share, _NEIGHBOURS_AT_MOST)))

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost."""
        stage = self.stage
        flash = int(stage.prototypes.nbytes + stage.labels.nbytes + stage.table.nbytes)
        of_coordinate, near = self.cycles
        each = of_coordinate * stage.n_inputs + _VOTE_CYCLES * stage.n_outputs
        cycles: float = _AROUND_CYCLES + (each + near) * stage.n_prototypes
        code = code_bytes(self)
        state = stage.n_outputs * stage.output.bits // 8
        state += _NEIGHBOUR_BYTES * self.neighbours_at_once
        if self.voters is not None:
            added = self.voters.cost
            cycles += added.cycles
            code += added.code
            state += added.state
        return Cost(cycles, flash, code, state)


@dataclass(frozen=True, eq=False)
class UnrolledKernel(PrototypesKernel):
    """Compares prototypes by instructions that have their coordinates; all may be listed."""

    is_instructions: ClassVar[bool] = True
    cycles: ClassVar[tuple[int, int]] = _UNROLLED_CYCLES, _NEAR_UNROLLED_CYCLES

    @property
    def facts(self) -> Facts:
        """How often votes can be passed: all may be near."""
        m = self.stage.n_prototypes
        voters = {f"voter{block.number}": Passed(m) for block in self.voting.blocks}
        return {"step0": Passed(1, 1), "some": Passed(1), **voters}

    @property
    def neighbours_at_once(self) -> int:
        """Number of near prototypes that vote together: all."""
        return self.stage.n_prototypes


def _accidents(stage: IntegerPrototypes) -> int:
    """Return how many prototypes end at the same lower address byte as the last one."""
    m, stride = stage.n_prototypes, stage.n_inputs + stage.n_outputs
    return int(np.count_nonzero(np.arange(1, m) * stride % 256 == 0))


def checked_coordinates(stage: IntegerPrototypes) -> tuple[bool, ...]:
    """Return after which coordinates it pays to check whether a prototype is far.

    A check costs one cycle, leaving one more, and continuing in vain the cycles of a coordinate.
    The share of far prototypes is estimated from the prototypes' distances to each other. Between
    two checks, squares must not exceed 16 bits.
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
    """Return the share of pairs of prototypes that are still near after 0..d coordinates."""
    m = stage.n_prototypes
    some = stage.prototypes[:, :: -(-m // _PROTOTYPES_COMPARED)].T.astype(np.int64)
    squares = np.square(some[:, None] - some).cumsum(axis=2)
    near = np.count_nonzero(squares < stage.distance_limit, axis=(0, 1)) - len(some)
    return [1.0, *(near / max(1, len(some) * (len(some) - 1))).tolist()]


class Coordinate(NamedTuple):
    """A coordinate of the point, compared with the prototypes'."""

    overflows: bool  # whether the difference may exceed a byte and look small if truncated
    largest_square: int  # of the difference, or of its byte


def coordinates_of(stage: IntegerPrototypes) -> tuple[Coordinate, ...]:
    """Return the ranges of each coordinate for the range of the stage's inputs."""
    coordinates, feed = [], stage.feed
    limits = zip(stage.prototypes.tolist(), feed.low.tolist(), feed.high.tolist(), strict=True)
    for residuals, least, most in limits:
        below, above = most - min(residuals), max(residuals) - least
        wraps = [256 - size for size, largest in ((below, 128), (above, 127)) if size > largest]
        overflows = any(size**2 < stage.distance_limit for size in wraps)
        square = min(128, max(below, above)) ** 2
        coordinates.append(Coordinate(overflows, square))
    return tuple(coordinates)


@dataclass(frozen=True)
class VotersKernel(ABC):
    """The code that adds the votes of voters to a stage's scores; see its `template`."""

    template: ClassVar[str]  # in ``templates/``, with macros as in ``prototypes/prototypes.j2``
    stage: Any  # an `IntegerPrototypes`

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """Its cost; mean cycles are those of a device without voters."""


kernels = PrototypesKernel.of
