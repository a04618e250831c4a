"""The kernels of average pooling: averages are pushed all together, or as they are completed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.chain.input_quantizer.saturation import BYTE_MAXIMUM
from protonn_edge.features.average_pooling.areas import Areas
from protonn_edge.features.average_pooling.integers import IntegerAveragePooling
from protonn_edge.features.images.cropped_image import shape_text
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.kernels.matvec.cycles import COUNTED_IN_A_BYTE, PUSH_CALL_BY_COMPILER

_CODE_BYTES = 800
_STREAMING_CODE_BYTES = 120

# What pooling adds to the bounds of the next stage: for a pixel, for an area that a pixel
# completes, for the end of an image's row, and for a call. The first two follow from the assembly,
# the others were measured on the emulator.
_PIXEL_CYCLES, _PIXEL_LEAST = 12, 9
_AREA_CYCLES = 62
_ROW_CYCLES = 130
_CALL_CYCLES = 60
_ROW_CALLS = 3  # for a row or a call, at most

# Before the first pixel, and to clear each sum of a row of areas.
_BEGIN_IMAGE_CYCLES = 40
_BEGIN_SUM_CYCLES = 9

# The same where a push brings all pixels: a row that has whole areas, its last one with averages.
_WHOLE_ROW_CYCLES = 106
_AVERAGE_CYCLES = 17

# Maximum number of averages that are kept until all are complete, and then projected in one pass.
KEPT_AVERAGES = 512

# The same of images most of whose areas are 0, about; for the mean.
_MEAN_PIXEL_CYCLES = 9
_MEAN_AREA_CYCLES = 15
_MEAN_ROW_CYCLES = 30

# For whole rows, one after the other, and for areas without whole rows of pixels.
_FED_ROW_CYCLES = 70
_FED_CUT_ROW_CYCLES = 130

# Pixels whose averages are projected in one pass, a chunk of the firmware.
PIXELS_AT_ONCE = 32

# Pixels of an area's row that are kept in registers.
_WHOLE_AREA_PIXELS = 4

# If averages are kept until all are complete, a call pushes none of them.
_KEEPING_CALL = PUSH_CALL_BY_COMPILER

# Time of the compiler's loops relative to assembly, on a chip without a multiplier.
_PORTABLE = 8.2

Name = Literal["kept", "streamed", "rows"]


@dataclass(frozen=True)
class PoolingContext:
    """The context of ``templates/c/average_pooling``, with sizes in pixels or units."""

    kernel: Name
    image: str
    cropped: str
    pooled: str
    is_cropped: bool
    n_outputs: int
    pixels: int
    row_pixels: int
    pixels_before: int
    pixels_between: int
    pixel_width: int
    area_width: int
    pixel_height: int
    area_height: int
    areas_in_row: int
    multiplier: int
    half: int
    sum_maximum: int
    pixels_at_once: int
    averages_at_once: int
    whole_rows: bool


@dataclass(frozen=True, eq=False)
class PoolingKernel(Kernel):
    """Computes averages of areas.

    "kept" keeps all of them until the last one is complete, "streamed" pushes each part's, "rows"
    is fed whole rows by the stage before, and keeps them too.
    """

    template: ClassVar[str] = "average_pooling/average_pooling.j2"
    chunk: ClassVar[int] = PIXELS_AT_ONCE

    stage: IntegerAveragePooling
    name: Name
    core: Core

    @property
    def _keeps(self) -> bool:
        return self.name != "streamed"

    def cost(self, feed: Feed | None, following: Push | None, activity: Activity | None) -> Cost:
        """Return its cost."""
        assert following is not None
        push = self._push(following)
        parts = self._parts(feed, push)
        worst = math.ceil(self._cycles(feed, following, parts, None))
        mean = None
        if activity is not None:
            mean = self._cycles(feed, following, parts, activity.inputs)
        code = _CODE_BYTES + _STREAMING_CODE_BYTES * (feed is not None and not feed.whole)
        least = self._least(feed)
        step = Step(self.kind, self.name, code, mean, worst, least)
        spared = following.skips_zeros and not self._keeps
        return Cost(
            steps=(step.on(self.core, _PORTABLE),),
            tables=0,
            code=code,
            state=self._state,
            push=push,
            begin=_begin_cycles(self.stage.pooling),
            spares=following.least if spared else 0,
        )

    def _push(self, following: Push) -> Push:
        """Return bounds for pixels from those for the averages that they complete.

        Of N pixels in a row of n that becomes k areas, at most N k/n + 1 complete one, whatever
        they are: a pixel that is 0 may be the last of an area that is not.
        """
        value, pushing = following.value, following.call
        if self._keeps:
            value, pushing = 0, _KEEPING_CALL
        n, k = self.stage.pooling.columns.pixels, self.stage.pooling.columns.outputs
        area = _AREA_CYCLES + value
        row = _ROW_CYCLES + _ROW_CALLS * self.core.call_cycles
        around = _CALL_CYCLES + _ROW_CALLS * self.core.call_cycles
        pixel = _PIXEL_CYCLES - (-(area * k + row) // n)
        call = pushing + around + area + 2 * row
        return Push(pixel, pixel, call, call, following.more)

    def _parts(self, feed: Feed | None, push: Push) -> int:
        """Return the number of calls, whose parts may end within a row."""
        n = self.stage.n_inputs
        if feed is None:
            return 1
        if feed.whole:
            return 1 if self._keeps else -(-n // PIXELS_AT_ONCE)
        return feed.calls(push, [push.value] * n)

    def _cycles(
        self,
        feed: Feed | None,
        following: Push,
        parts: int,
        share: NDArray[np.float64] | None,
    ) -> float:
        """Return the cycles of an image: maximum, or estimate for a share of non-zero averages."""
        pooling, begin = self.stage.pooling, _begin_cycles(self.stage.pooling)
        around = 0
        if feed is not None:
            # A call, and one more of a row that it cuts.
            around = _CALL_CYCLES + _ROW_CYCLES + 2 * _ROW_CALLS * self.core.call_cycles
        if self._keeps and (feed is None or feed.whole) and has_whole_rows(pooling):
            return begin + self._whole_rows_cycles(share, fed=feed is None) + following.whole
        pixels = begin + self._pixel_cycles(at_most=share is None, fed=feed is None)
        if self._keeps:
            return pixels + following.whole + parts * (_KEEPING_CALL + around)
        return pixels + parts * (following.call + around)

    def _least(self, feed: Feed | None) -> int:
        """Return the cycles of all cropped pixels if they are 0."""
        pooling = self.stage.pooling
        rows, columns = pooling.rows, pooling.columns
        if self._keeps and (feed is None or feed.whole) and has_whole_rows(pooling):
            return _whole_rows_least(pooling)
        pixel = _PIXEL_LEAST if columns.pixel_units == 1 else _PIXEL_CYCLES
        return pixel * rows.pixels * columns.pixels

    def _pixel_cycles(self, *, at_most: bool, fed: bool) -> int:
        """Return the cycles of all pixels of an image, without those of the calls."""
        rows, columns = self.stage.pooling.rows, self.stage.pooling.columns
        pixel, area, row = _PIXEL_CYCLES, _AREA_CYCLES, _ROW_CYCLES
        if fed:
            row = _FED_CUT_ROW_CYCLES
        if not at_most:
            pixel, area, row = _MEAN_PIXEL_CYCLES, _MEAN_AREA_CYCLES, _MEAN_ROW_CYCLES
        row += _ROW_CALLS * self.core.call_cycles
        row *= -(-columns.pixels // COUNTED_IN_A_BYTE)  # a call each
        return rows.pixels * (pixel * columns.pixels + area * columns.outputs + row)

    def _whole_rows_cycles(self, share: NDArray[np.float64] | None, *, fed: bool) -> float:
        """Return the cycles of an image whose rows come whole, if averages are so often not 0."""
        pooling = self.stage.pooling
        rows, width = pooling.rows.pixels, pooling.columns.output_units
        last, areas = pooling.rows.outputs, pooling.columns.outputs
        nonzero = self.stage.n_outputs if share is None else float(share.sum())
        complete = float(last * areas * (3 * width + 15))
        complete += nonzero * (2 * width + 3 + _AVERAGE_CYCLES)
        row = _FED_ROW_CYCLES if fed else _WHOLE_ROW_CYCLES
        row += _ROW_CALLS * self.core.call_cycles
        return _summed_rows_cycles(pooling) + complete + rows * row + _CALL_CYCLES

    @property
    def _state(self) -> int:
        """SRAM of the current sums, and of averages."""
        pooling = self.stage.pooling
        columns = pooling.columns
        sums = 3 + 2 * columns.outputs if pooling.rows.output_units > 1 else 0
        if self.name == "rows":
            under_way = -2 if has_whole_rows(pooling) else 3
            return under_way + sums + self.stage.n_outputs + 2
        cropped = pooling.cropped_shape != pooling.image_shape
        counted = 1 if columns.pixels < 256 else 2
        kept = self.stage.n_outputs + 2 if self._keeps else averages_at_once(pooling)
        return 3 + counted + 2 * cropped + sums + kept

    def context(self) -> PoolingContext:
        """Return the template context, with data in the order of the generated program."""
        pooling = self.stage.pooling
        rows, columns = pooling.rows, pooling.columns
        return PoolingContext(
            kernel=self.name,
            image=shape_text(pooling.image_shape),
            cropped=shape_text(pooling.cropped_shape),
            pooled=shape_text(pooling.shape),
            is_cropped=pooling.cropped_shape != pooling.image_shape,
            n_outputs=pooling.n_outputs,
            pixels=(rows.first + rows.pixels - 1) * columns.side + columns.first + columns.pixels,
            row_pixels=columns.pixels,
            pixels_before=rows.first * columns.side + columns.first,
            pixels_between=columns.side - columns.pixels,
            pixel_width=columns.pixel_units,
            area_width=columns.output_units,
            pixel_height=rows.pixel_units,
            area_height=rows.output_units,
            areas_in_row=columns.outputs,
            multiplier=self.stage.multiplier,
            half=self.stage.half,
            sum_maximum=BYTE_MAXIMUM * pooling.area,
            pixels_at_once=PIXELS_AT_ONCE,
            averages_at_once=averages_at_once(pooling),
            whole_rows=has_whole_rows(pooling),
        )


def _begin_cycles(pooling: Areas) -> int:
    sums = pooling.columns.outputs if pooling.rows.output_units > 1 else 0
    return _BEGIN_IMAGE_CYCLES + _BEGIN_SUM_CYCLES * sums


def _whole_rows_least(pooling: Areas) -> int:
    """Return the cycles of the loops over an image that comes at once, if all of it is 0."""
    columns, last = pooling.columns, pooling.rows.outputs
    completed = last * columns.outputs * (3 * columns.output_units + 13)
    return _summed_rows_cycles(pooling) + completed


def _summed_rows_cycles(pooling: Areas) -> int:
    """Return the cycles of the loops over rows that complete no area.

    Where areas have one such row, it is stored; of several, each is added to what is there.
    """
    rows, columns = pooling.rows, pooling.columns
    adding = 6 if rows.output_units > 2 else 0
    area = 4 * columns.output_units + 6 + adding
    return (rows.pixels - rows.outputs) * columns.outputs * area


def has_whole_rows(pooling: Areas) -> bool:
    """Whether a row whose pixels come at once has a loop of its own."""
    rows, columns = pooling.rows, pooling.columns
    return (
        rows.pixel_units == columns.pixel_units == 1
        and rows.output_units > 1
        and columns.output_units <= _WHOLE_AREA_PIXELS
        and columns.pixels <= COUNTED_IN_A_BYTE
    )


def averages_at_once(pooling: Areas) -> int:
    """Return how many averages `PIXELS_AT_ONCE` pixels can complete."""
    columns = pooling.columns
    return -(-PIXELS_AT_ONCE * columns.outputs // columns.pixels)


def kernels(stage: IntegerAveragePooling, core: Core) -> tuple[Kernel, ...]:
    """Return those that keep all averages until the last one, and those that do not."""
    if stage.by_rows:
        return (PoolingKernel(stage, "rows", core),)
    streamed = PoolingKernel(stage, "streamed", core)
    if stage.n_outputs > KEPT_AVERAGES:
        return (streamed,)
    return (PoolingKernel(stage, "kept", core), streamed)
