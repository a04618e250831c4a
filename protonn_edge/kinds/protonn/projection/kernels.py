"""The kernels of the projection: those of its product, and the loop that requantizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.kernels.matvec.kernels import MatvecContext, MatvecKernel, kernel_names
from protonn_edge.kinds.protonn.projection.cycles import (
    CLAMPING_SPREAD,
    REQUANTIZE_SPREAD,
    requantize_cycles,
)
from protonn_edge.kinds.protonn.projection.integers import IntegerProjection

# What the compiler's loop takes, without a multiplier, of that in assembly with one; see
# `stages.matvec.kernels`.
_PORTABLE_REQUANTIZE = 17.0

_CODE_BYTES_PER_COORDINATE = 18


@dataclass(frozen=True)
class CoordinateContext:
    """One coordinate of a point, relative to `least`, which its offset includes."""

    offset_low: int
    offset_high: int
    span: int
    least: int


@dataclass(frozen=True)
class ProjectionContext:
    """The context of ``templates/c/projection``."""

    matvec: MatvecContext
    multiplier: int
    clamps: bool
    projection_range: tuple[int, int]
    coordinates: tuple[CoordinateContext, ...]


@dataclass(frozen=True, eq=False)
class ProjectionKernel(MatvecKernel):
    """The projection with weights in columns, behind masks, as instructions, or two to a byte."""

    template: ClassVar[str] = "projection/projection.j2"

    stage: IntegerProjection

    def cost(
        self,
        feed: Feed | None,
        following: Push | None,  # noqa: ARG002  (the next stage reads coordinates in place)
        activity: Activity | None,
    ) -> Cost:
        """Return its cost."""
        stage, matvec = self.stage, self.matvec
        weights, code = matvec.bytes
        d = stage.n_outputs
        requantize = self._requantize().on(self.core, _PORTABLE_REQUANTIZE)
        return Cost(
            steps=(matvec.step("projection", feed, activity), requantize),
            tables=weights + matvec.sum_bytes + d * (3 + 2 * stage.clamps),
            code=code + _CODE_BYTES_PER_COORDINATE * d,
            state=matvec.state,
            push=matvec.push,
            begin=matvec.begin_at_most,
        )

    def _requantize(self) -> Step:
        stage = self.stage
        dropped, d = stage.accumulator_bits // 8 - 2, stage.n_outputs
        cycles = requantize_cycles(d, dropped, stage.multiplier, stage.clamps)
        least = cycles - REQUANTIZE_SPREAD - CLAMPING_SPREAD * stage.clamps * d
        return Step("requantize", "loop", d * (3 + 2 * stage.clamps), cycles, cycles, least)

    def context(self) -> ProjectionContext:
        """Return the template context, with data in the order of the generated program."""
        stage = self.stage
        limits = zip(stage.output.low.tolist(), stage.output.high.tolist(), strict=True)
        coordinates = []
        for offset, (low, high) in zip(stage.offset.tolist(), limits, strict=True):
            least = low if stage.clamps else 0
            place = CoordinateContext(offset >> 8 & 0xFF, (offset >> 16) - least, high - low, least)
            coordinates.append(place)
        return ProjectionContext(
            matvec=self.matvec_context,
            multiplier=stage.multiplier,
            clamps=stage.clamps,
            projection_range=stage.projection_range,
            coordinates=tuple(coordinates),
        )


def kernels(stage: IntegerProjection, core: Core) -> tuple[Kernel, ...]:
    """Return a kernel for each way of storing W."""
    return tuple(ProjectionKernel(stage, name, core) for name in kernel_names(stage, core))
