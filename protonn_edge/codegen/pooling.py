"""The stages that pool areas of an image, and deskew it before: what they take."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards.cores import Core
from protonn_edge.codegen.deskew import most_deskewed, moved_rows
from protonn_edge.codegen.first_stage import COUNTED_IN_A_BYTE, FirstStage, PushCycles
from protonn_edge.codegen.kernels import PUSH_CALL_BY_COMPILER
from protonn_edge.codegen.stage import Stage
from protonn_edge.stages.average_pooling.pooling import AveragePooling

_CODE_BYTES = 800

# What the pooling adds to the projection's bounds: for a pixel, for an area that a pixel
# completes, for the end of an image's row, and for a call. The first two follow from the assembly,
# the others were read off the emulator.
_PIXEL_CYCLES, _PIXEL_LEAST = 12, 9
_AREA_CYCLES = 62
_ROW_CYCLES = 130
_CALL_CYCLES = 60
_ROW_CALLS = 3  # for a row or a call, at most

# Before the first pixel, and for each sum of a row of areas, which is set to 0.
_BEGIN_IMAGE_CYCLES = 40
_BEGIN_SUM_CYCLES = 9

# The same where a push brings all pixels: a row that has whole areas, its last one with averages.
_WHOLE_ROW_CYCLES = 106
_AVERAGE_CYCLES = 17

# Averages that are kept until all are complete, at most, and are then projected in one pass.
_KEPT_AVERAGES = 512

# The same of images most of whose areas are 0, about; for the mean.
_MEAN_PIXEL_CYCLES = 9
_MEAN_AREA_CYCLES = 15
_MEAN_ROW_CYCLES = 30

# What deskewing an image takes: once, for a row's moments, for a row and a pixel that move.
# Of an image that was deskewed, rows come whole, with less around them.
_DESKEW_CODE_BYTES = 900
_MOMENT_CYCLES = 1_820
_MOMENT_ROW_CYCLES = 94
_MOMENT_PIXEL_CYCLES = 14
_MOMENT_ZERO_CYCLES = 9
_MOMENT_PIXEL_LEAST = 8
_MOVED_ROW_CYCLES = 80
_MOVED_PIXEL_CYCLES = 7
_MOVED_ROWS_SHARE = 0.15  # of digits; for the mean
_DESKEW_ROW_CYCLES = 70
_DESKEW_CUT_ROW_CYCLES = 130  # where areas have no whole rows of pixels
_DESKEW_CALLS = 6  # for a row, at most

# Pixels whose averages are projected in one pass, as many as the firmware has in a chunk.
PIXELS_AT_ONCE = 32

# Pixels of an area's row that are in registers at once.
_WHOLE_AREA_PIXELS = 4

# Where averages are kept until all are complete, a push projects none of them.
_NOT_PROJECTING = PushCycles(0, 0, PUSH_CALL_BY_COMPILER, PUSH_CALL_BY_COMPILER)

# Where an image is deskewed once it is complete, a push copies pixels.
_COPYING = PushCycles(12, 12, 40, 40)


@dataclass(frozen=True)
class AveragePoolingStage(FirstStage):
    """Average pooling of an image; `keeps` says whether it is to keep them, where it can."""

    pooling: AveragePooling
    keeps: bool

    @property
    def push(self) -> PushCycles:
        """Bounds for pixels, given those for the averages that they complete.

        Of N pixels in a row of n that becomes k areas, at most N k/n + 1 complete one, whatever
        they are: a pixel that is 0 may be the last of an area that is not.
        """
        projecting = _NOT_PROJECTING if self.keeps_averages else self.projecting
        n, k = self.pooling.columns.pixels, self.pooling.columns.outputs
        area = _AREA_CYCLES + projecting.feature
        row = _ROW_CYCLES + _ROW_CALLS * self.core.call_cycles
        around = _CALL_CYCLES + _ROW_CALLS * self.core.call_cycles
        pixel = _PIXEL_CYCLES - (-(area * k + row) // n)
        call = projecting.call + around + area + 2 * row
        return PushCycles(pixel, pixel, call, projecting.whole + around)

    @property
    def chunk_features(self) -> int:
        """Pixels that the firmware collects before it pushes them."""
        return self.model.n_features if self.buffered else PIXELS_AT_ONCE

    @property
    def keeps_averages(self) -> bool:
        """Whether all averages wait for the last one before they are projected."""
        return self.keeps and self.pooling.n_outputs <= _KEPT_AVERAGES

    @property
    def skips_zeros(self) -> bool:
        """Averages that are 0 in front of others are not projected by columns."""
        return self.kernel == "columns" and not self.keeps_averages

    @property
    def least_cycles(self) -> int:
        """What all pixels that count take if they are 0."""
        rows, columns = self.pooling.rows, self.pooling.columns
        if self.keeps_averages and self.comes_whole and has_whole_rows(self.pooling):
            return _whole_rows_least(self.pooling)
        pixel = _PIXEL_LEAST if columns.pixel_units == 1 else _PIXEL_CYCLES
        return pixel * rows.pixels * columns.pixels

    @property
    def code_bytes(self) -> int:
        """Flash of its code, about."""
        return super().code_bytes + _CODE_BYTES

    @property
    def state_bytes(self) -> int:
        """SRAM of the sums under way, and of averages."""
        columns = self.pooling.columns
        cropped = self.pooling.cropped_shape != self.pooling.image_shape
        counted = 1 if columns.pixels < 256 else 2
        kept = averages_at_once(self.pooling)
        if self.keeps_averages:
            kept = self.model.n_inputs + 2
        return 5 + counted + 2 * cropped + self.sums_bytes + kept

    @property
    def sums_bytes(self) -> int:
        """SRAM of the sums of a row of areas."""
        return 3 + 2 * self.pooling.columns.outputs if self.pooling.rows.output_units > 1 else 0

    def calls_cycles(self, share: NDArray[np.float64]) -> float:
        """Return the cycles of all calls, but for the projection's loops."""
        at_most = bool(share.min() == 1)
        begin = _begin_cycles(self.pooling)
        pixels = begin + _pooling_cycles(self.pooling, self.core, at_most=at_most)
        if not self.keeps_averages:
            return pixels + self._poolings * (self.projecting.call + self._around)
        projecting = self.projecting.whole * self.parts(self.model.n_inputs)
        if self.comes_whole and has_whole_rows(self.pooling):
            return begin + _whole_rows_cycles(self.pooling, share, self.core) + projecting
        return pixels + projecting + self._poolings * (_NOT_PROJECTING.whole + self._around)

    @property
    def _poolings(self) -> int:
        """How often pixels are pooled, in parts that may end within a row."""
        if self.holds_all:
            return 1 if self.keeps_averages else -(-self.model.n_features // PIXELS_AT_ONCE)
        return math.ceil(self.calls([self.push.feature] * self.model.n_features))

    @property
    def _around(self) -> int:
        """What such a part takes besides its pixels: a call, and one more of a row that it cuts."""
        return _CALL_CYCLES + _ROW_CYCLES + 2 * _ROW_CALLS * self.core.call_cycles

    @property
    def comes_whole(self) -> bool:
        """Whether all pixels of a row are there at once."""
        return self.holds_all


@dataclass(frozen=True)
class DeskewStage(AveragePoolingStage):
    """Average pooling of an image that is deskewed first, for which it must be there as a whole."""

    @property
    def push(self) -> PushCycles:
        """Bounds of copying pixels."""
        return _COPYING

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stage that finds the slant of an image and moves the rows that count."""
        rows, pixels = self.pooling.rows, self.pooling.n_features
        calls = self.core.call_cycles * _DESKEW_CALLS
        moments = _MOMENT_CYCLES + 2 * calls + (_MOMENT_ROW_CYCLES + calls) * rows.side
        moved = rows.pixels * (_moved_row_cycles(self.pooling) + calls)
        pushes = -(-pixels // PIXELS_AT_ONCE)
        copies = 0 if self.buffered else _COPYING.feature * pixels + _COPYING.call * pushes
        mean = moments + _MOMENT_ZERO_CYCLES * pixels + _MOVED_ROWS_SHARE * moved + copies
        worst = moments + _MOMENT_PIXEL_CYCLES * pixels + moved + copies
        least = _MOMENT_PIXEL_LEAST * pixels
        return (Stage("deskew", "loop", _DESKEW_CODE_BYTES, mean, worst, least),)

    @property
    def held_bytes(self) -> int:
        """SRAM of features; a firmware that holds an image leaves out the library's own."""
        return 0 if self.buffered else self.chunk_features

    @property
    def keeps_averages(self) -> bool:
        """It does: an image comes to an end before any of it is averaged."""
        return True

    @property
    def comes_whole(self) -> bool:
        """All pixels of a row are there at once."""
        return True

    @property
    def _poolings(self) -> int:
        """An image is pooled at once."""
        return 1

    @property
    def _around(self) -> int:
        """No part cuts a row."""
        return 0

    @property
    def code_bytes(self) -> int:
        """Flash of its code, about."""
        return super().code_bytes + _DESKEW_CODE_BYTES

    @property
    def state_bytes(self) -> int:
        """SRAM of the image, a row that moved, sums and averages."""
        under_way = 0 if has_whole_rows(self.pooling) else 5
        image = self.model.n_inputs + self.model.n_features + self.pooling.columns.pixels
        return under_way + self.sums_bytes + image

    def apart_cycles(self, inputs: NDArray[np.int64]) -> int:
        """Return what rows that move and inputs that are not 0 do not take together."""
        row = _moved_row_cycles(self.pooling)
        return self.pooling.rows.pixels * row - most_deskewed(self.pooling, row, inputs)


def _moved_row_cycles(pooling: AveragePooling) -> int:
    return _MOVED_ROW_CYCLES + _MOVED_PIXEL_CYCLES * pooling.columns.pixels


def moved_cycles(pooling: AveragePooling, shifts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cycles (n,) of the rows that move too far to be read in place, at most.

    `shifts` (n, H) says by how many pixels to the left each row of an image moves.
    """
    _, moved = moved_rows(pooling, shifts)
    cycles: NDArray[np.int64] = moved * _moved_row_cycles(pooling)
    return cycles


def _begin_cycles(pooling: AveragePooling) -> int:
    sums = pooling.columns.outputs if pooling.rows.output_units > 1 else 0
    return _BEGIN_IMAGE_CYCLES + _BEGIN_SUM_CYCLES * sums


def _pooling_cycles(pooling: AveragePooling, core: Core, *, at_most: bool) -> int:
    """Return the cycles that all pixels of an image take, but for those of the calls."""
    rows, columns = pooling.rows, pooling.columns
    pixel, area, row = _PIXEL_CYCLES, _AREA_CYCLES, _ROW_CYCLES
    if pooling.deskewed is not None:
        row = _DESKEW_CUT_ROW_CYCLES
    if not at_most:
        pixel, area, row = _MEAN_PIXEL_CYCLES, _MEAN_AREA_CYCLES, _MEAN_ROW_CYCLES
    row += _ROW_CALLS * core.call_cycles
    row *= -(-columns.pixels // COUNTED_IN_A_BYTE)  # a call each
    return rows.pixels * (pixel * columns.pixels + area * columns.outputs + row)


def _whole_rows_cycles(pooling: AveragePooling, share: NDArray[np.float64], core: Core) -> float:
    """Return the cycles of an image that comes at once, if averages are not 0 with this share."""
    rows, width = pooling.rows.pixels, pooling.columns.output_units
    last, areas = pooling.rows.outputs, pooling.columns.outputs
    summed = _summed_rows_cycles(pooling)
    complete = float(
        last * areas * (3 * width + 15) + share.sum() * (2 * width + 3 + _AVERAGE_CYCLES)
    )
    row = _WHOLE_ROW_CYCLES if pooling.deskewed is None else _DESKEW_ROW_CYCLES
    row += _ROW_CALLS * core.call_cycles
    return summed + complete + rows * row + _CALL_CYCLES


def _whole_rows_least(pooling: AveragePooling) -> int:
    """Return the cycles of the loops over an image that comes at once, if all of it is 0."""
    columns, last = pooling.columns, pooling.rows.outputs
    completed = last * columns.outputs * (3 * columns.output_units + 13)
    return _summed_rows_cycles(pooling) + completed


def _summed_rows_cycles(pooling: AveragePooling) -> int:
    """Return the cycles of the loops over rows that complete no area.

    Where areas have one such row, it is stored; of several, each is added to what is there.
    """
    rows, columns = pooling.rows, pooling.columns
    adding = 6 if rows.output_units > 2 else 0
    area = 4 * columns.output_units + 6 + adding
    return (rows.pixels - rows.outputs) * columns.outputs * area


def has_whole_rows(pooling: AveragePooling) -> bool:
    """Whether a row whose pixels come at once has a loop of its own."""
    rows, columns = pooling.rows, pooling.columns
    return (
        rows.pixel_units == columns.pixel_units == 1
        and rows.output_units > 1
        and columns.output_units <= _WHOLE_AREA_PIXELS
        and columns.pixels <= COUNTED_IN_A_BYTE
    )


def averages_at_once(pooling: AveragePooling) -> int:
    """Return how many averages `PIXELS_AT_ONCE` pixels can complete."""
    columns = pooling.columns
    return -(-PIXELS_AT_ONCE * columns.outputs // columns.pixels)
