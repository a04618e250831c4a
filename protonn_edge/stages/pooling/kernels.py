"""The kernel of pooling: rows that are taken into windows under way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from protonn_edge.boards.cores import Core
from protonn_edge.stages.activity import Activity
from protonn_edge.stages.cropped_image import shape_text
from protonn_edge.stages.image_rows import HELD_AT_ONCE, ImageRows
from protonn_edge.stages.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.stages.pooling.integers import IntegerPooling
from protonn_edge.stages.pooling.loop import RowLoop, average_loop

# By the compiler (avr-gcc 5.4 at -O2): a row that is taken; a row of windows that begins, and a
# value of it that is set to 0; and one that is complete.
_TAKEN_CYCLES, _BEGUN_CYCLES, _CLEARED_CYCLES, _OUTPUT_CYCLES = 48, 12, 7, 24
_CALLS = 4  # for a row, at most

_CODE_BYTES = 240

# What the compiler's loops take of those in assembly, on a chip without a multiplier.
_PORTABLE = 3.0


@dataclass(frozen=True)
class PoolingContext:
    """What ``templates/c/pooling`` sees; loops have the lines of the assembly."""

    image: str
    output: str
    channels: int
    window: str
    averages: bool
    rows: int
    row_values: int
    output_values: int
    by_rows: bool
    to_rows: bool
    height: int
    width: int
    windows: int
    multiplier: int
    loop: tuple[str, ...]
    average_loop: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PoolingKernel(Kernel):
    """The largest values, or sums, of windows under way."""

    template: ClassVar[str] = "pooling/pooling.j2"
    chunk: ClassVar[int] = HELD_AT_ONCE

    stage: IntegerPooling
    core: Core
    name: str = "rows"

    @property
    def _averages(self) -> bool:
        return self.stage.how == "average"

    @cached_property
    def _loop(self) -> RowLoop:
        _, windows, channels = self.stage.output_shape
        return RowLoop(windows, self.stage.window[1], channels, self._averages)

    @cached_property
    def _rows(self) -> ImageRows:
        stage = self.stage
        height, width, channels = stage.shape
        outputs, windows, _ = stage.output_shape
        own, given = (height, width * channels), (outputs, windows * channels)
        return ImageRows(*own, *given, stage.by_rows, stage.to_rows)

    def cost(
        self,
        feed: Feed | None,
        following: Push | None,
        activity: Activity | None,  # noqa: ARG002  (all values take the same)
    ) -> Cost:
        """Return what it takes."""
        rows, (height, *_) = self._rows, self.stage.output_shape
        count, loop = rows.rows, self._loop
        output = _OUTPUT_CYCLES
        begun = _BEGUN_CYCLES
        least = count * loop.least
        if self._averages:
            average = average_loop().worst("average", ("average",), {"average": 1})
            averages = rows.output_values * int(average)
            output, least = output + averages, least + height * averages
        else:
            begun += _CLEARED_CYCLES * rows.output_values
        begins = -(-count // self.stage.window[0])
        cycles = count * (loop.cycles + _TAKEN_CYCLES) + begins * begun + height * output
        calls = count * _CALLS * self.core.call_cycles
        worst = cycles + calls + rows.worst(feed, following, self.core)
        code = _CODE_BYTES + loop.listing.code_bytes + average_loop().code_bytes * self._averages
        step = Step(self.kind, self.name, code, cycles + rows.mean(feed, following), worst, least)
        return Cost(
            steps=(step if self.core.multiplies else step.in_portable_c(_PORTABLE),),
            tables=0,
            code=code,
            state=1 + rows.row_values + 2 * rows.output_values * self._averages + rows.state,
            buffer=rows.buffer(feed),
            push=rows.push,
            begin=_BEGUN_CYCLES,
        )

    def context(self) -> PoolingContext:
        """Lay the stage out in the order in which the generated program reads it."""
        stage, rows = self.stage, self._rows
        height, width = stage.window
        return PoolingContext(
            image=shape_text(stage.shape[:2]),
            output=shape_text(stage.output_shape[:2]),
            channels=stage.shape[2],
            window=shape_text(stage.window),
            averages=self._averages,
            rows=rows.rows,
            row_values=rows.row_values,
            output_values=rows.output_values,
            by_rows=stage.by_rows,
            to_rows=stage.to_rows,
            height=height,
            width=width,
            windows=stage.output_shape[1],
            multiplier=stage.multiplier,
            loop=self._loop.listing.lines,
            average_loop=average_loop().lines,
        )


def kernels(stage: IntegerPooling, core: Core) -> tuple[Kernel, ...]:
    """Return its one kernel."""
    return (PoolingKernel(stage, core),)
