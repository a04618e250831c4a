"""The kernels of the projection: those of its product, and the loop that requantizes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from protonn_edge.boards.cores import Core
from protonn_edge.stages.activity import Activity
from protonn_edge.stages.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.stages.matvec.cycles import KERNELS, KernelName
from protonn_edge.stages.matvec.kernels import Matvec, MatvecContext
from protonn_edge.stages.projection.cycles import (
    CLAMPING_SPREAD,
    REQUANTIZE_SPREAD,
    requantize_cycles,
)
from protonn_edge.stages.projection.integers import IntegerProjection

# What the compiler's loops take, without a multiplier, of what those in assembly take with one:
# seven models of 4 to 12 projections and 4 to 100 prototypes on the emulated ATtiny85 were within
# 15 % of it.
_PORTABLE_PRODUCT, _PORTABLE_REQUANTIZE = 8.2, 17.0

_CODE_BYTES_PER_COORDINATE = 18

# What pnn_begin takes besides where inputs wait for the others of their group.
_BEGIN_WAITING_CYCLES = 2


@dataclass(frozen=True)
class CoordinateContext:
    """One coordinate of a point, from `least` on; its offset is less that."""

    offset_low: int
    offset_high: int
    span: int
    least: int


@dataclass(frozen=True)
class ProjectionContext:
    """What ``templates/c/projection`` sees."""

    matvec: MatvecContext
    multiplier: int
    clamps: bool
    projection_range: tuple[int, int]
    coordinates: tuple[CoordinateContext, ...]


@dataclass(frozen=True, eq=False)
class ProjectionKernel(Kernel):
    """The projection with weights in columns, behind masks, or as instructions."""

    template: ClassVar[str] = "projection/projection.j2"

    stage: IntegerProjection
    name: KernelName
    core: Core

    @cached_property
    def matvec(self) -> Matvec:
        """The product."""
        stage = self.stage
        width = stage.accumulator_bits // 8
        return Matvec(stage.weights, width, stage.input_maximum, self.name, self.core)

    def cost(
        self,
        feed: Feed | None,
        following: Push | None,  # noqa: ARG002  (the next stage reads coordinates in place)
        activity: Activity | None,
    ) -> Cost:
        """Return what it takes."""
        stage, matvec = self.stage, self.matvec
        weights, code = matvec.bytes
        d, width = stage.n_outputs, stage.accumulator_bits // 8
        steps: tuple[Step, ...]
        steps = (self._product(feed, activity, weights + code), self._requantize())
        if not self.core.multiplies:
            factors = (_PORTABLE_PRODUCT, _PORTABLE_REQUANTIZE)
            steps = tuple(
                step.in_portable_c(factor) for step, factor in zip(steps, factors, strict=True)
            )
        return Cost(
            steps=steps,
            tables=weights + d * (width + 3 + 2 * stage.clamps),
            code=code + _CODE_BYTES_PER_COORDINATE * d,
            state=matvec.state,
            push=matvec.push,
            begin=matvec.begin + _BEGIN_WAITING_CYCLES,
        )

    def _product(self, feed: Feed | None, activity: Activity | None, flash_bytes: int) -> Step:
        """Return the step from ``pnn_begin`` to the last input."""
        matvec = self.matvec
        worst, mean = matvec.worst, None
        every = np.ones(self.stage.n_inputs)
        if feed is not None:
            worst += math.ceil(matvec.calls(feed, every))
        if activity is not None:
            mean = matvec.mean(activity.inputs)
            mean += 0.0 if feed is None else matvec.calls(feed, activity.inputs)
        return Step("projection", self.name, flash_bytes, mean, worst, matvec.push.least)

    def _requantize(self) -> Step:
        stage = self.stage
        dropped, d = stage.accumulator_bits // 8 - 2, stage.n_outputs
        cycles = requantize_cycles(d, dropped, stage.multiplier, stage.clamps)
        least = cycles - REQUANTIZE_SPREAD - CLAMPING_SPREAD * stage.clamps * d
        return Step("requantize", "loop", d * (3 + 2 * stage.clamps), cycles, cycles, least)

    def context(self) -> ProjectionContext:
        """Lay the stage out in the order in which the generated program reads it."""
        stage = self.stage
        limits = zip(stage.output.low.tolist(), stage.output.high.tolist(), strict=True)
        coordinates = []
        for offset, (low, high) in zip(stage.offset.tolist(), limits, strict=True):
            least = low if stage.clamps else 0
            place = CoordinateContext(offset >> 8 & 0xFF, (offset >> 16) - least, high - low, least)
            coordinates.append(place)
        return ProjectionContext(
            matvec=self.matvec.context(stage.bias, stage.accumulators.ends),
            multiplier=stage.multiplier,
            clamps=stage.clamps,
            projection_range=stage.projection_range,
            coordinates=tuple(coordinates),
        )


def kernels(stage: IntegerProjection, core: Core) -> tuple[Kernel, ...]:
    """Return a kernel for each way to read W: as instructions if the chip multiplies."""
    able = [name for name in KERNELS if core.multiplies or name != "unrolled"]
    return tuple(ProjectionKernel(stage, name, core) for name in able)
