"""The kernel of average pooling, which keeps averages until the last one is complete."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.features.average_pooling.integers import IntegerAveragePooling
from protonn_edge.features.average_pooling.loops import WHOLE_AREA_PIXELS, AreaLoops
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push
from protonn_edge.kernels.listing import Facts, Fold, Listing, Passed
from protonn_edge.kernels.matvec.kernels import PUSH_CALL_BY_COMPILER
from protonn_edge.kernels.matvec.loops import COUNTED_IN_A_BYTE

_CODE_BYTES = 800
_STREAMING_CODE_BYTES = 120

# Mean and maximum cycles of the compiler's code around the loops (avr-gcc 5.4 at -O2), without
# calls: of a push with the part of a row that it cuts, and without it (a mean); of a row in parts,
# also with areas over several rows; of a whole row, also from the previous stage; of the pixels
# skipped in a row of a cropped image; of beginning an image, and of clearing a sum.
_PUSH_CYCLES = (105, 190)
_CHUNK_CYCLES = 44
_ROW_CYCLES = (65, 130)
_ROW_OF_SEVERAL_CYCLES = (108, 130)
_WHOLE_ROW_CYCLES = (66, 106)
_FED_ROW_CYCLES = (60, 70)
_SKIPPING_CYCLES = (22, 48)
_ROW_CALLS = 3
_IMAGE_CYCLES = 60
_BEGIN_IMAGE_CYCLES, _BEGIN_SUM_CYCLES = 40, 9

Name = Literal["kept", "rows"]


@dataclass(frozen=True, eq=False)
class AveragePoolingKernel(Kernel):
    """Computes averages of areas; the previous stage feeds "rows" with whole rows."""

    portable = 8.2
    pushes_whole = True
    chunk: ClassVar[int] = 32

    stage: IntegerAveragePooling
    name: Name

    @classmethod
    def of(cls, stage: IntegerAveragePooling, core: Core) -> tuple[Kernel, ...]:
        """Return the kernel for rows if the previous stage passes these, else for pixels."""
        return (cls(stage, core, "rows" if stage.by_rows else "kept"),)

    @property
    def whole_rows(self) -> bool:
        """Whether whole rows have their own loop."""
        rows, columns = self.stage.pooling.rows, self.stage.pooling.columns
        return (
            rows.pixel_units == columns.pixel_units == 1
            and rows.output_units > 1
            and columns.output_units <= WHOLE_AREA_PIXELS
            and columns.pixels <= COUNTED_IN_A_BYTE
        )

    @cached_property
    def loops(self) -> AreaLoops:
        """The loops over pixels."""
        return AreaLoops(self.stage.pooling, self.stage.half)

    @cached_property
    def facts(self) -> dict[str, Facts]:
        """How often the loops over parts of rows, or over whole rows, are passed.

        All pixels come either in parts of rows or in whole rows; either way completes each average.
        """
        rows, columns, outputs = (
            self.stage.pooling.rows,
            self.stage.pooling.columns,
            self.stage.n_outputs,
        )
        pixels = rows.pixels * columns.pixels
        each = Passed(pixels, pixels, name="pixels")
        area = each._replace(weight=columns.output_units)
        average = Passed(outputs, outputs, name="averages")
        none = [Passed(0, whole=True)] if self.whole_rows and self.name == "kept" else []
        last = "complete" if rows.output_units > 1 else "average"
        part: Facts = {
            "pixel": [each, *none],
            "last": Passed(rows.pixels * columns.outputs),
            last: Passed(outputs),
            "store": average,
        }
        return {"part": part, "summing": {"area": area}, "averaging": {"area": [area, average]}}

    def cost(self, feed: Feed | None, following: Push | None, activity: Activity | None) -> Cost:
        """Return its cost."""
        assert following is not None
        mean = None
        if activity is not None:
            mean = self._cycles(feed, following, float(activity.inputs.mean()))
        worst = self._cycles(feed, following, None)
        code = _CODE_BYTES + _STREAMING_CODE_BYTES * (feed is not None and not feed.whole)
        fold = self.loops.whole_rows if self.whole_rows else self.loops.parts
        return self._in_one_step(
            (mean, worst, int(fold(Listing.least))),
            (0, code),
            state=self._state,
            push=self._push(following),
            begin=self._begin,
        )

    def _push(self, following: Push) -> Push:
        """Return bounds for pushing pixels, given the bounds for the averages that they complete.

        Of N pixels in a row of n pixels and k areas, at most N k/n + 1 complete an area. A pixel
        that is 0 may be the last of an area that is not.
        """
        n, k = self.stage.pooling.columns.pixels, self.stage.pooling.columns.outputs
        pixel, last = self.loops.pixel(Listing.worst), self.loops.last_pixel(Listing.worst)
        area = last - pixel
        around = self._around_row(at_most=True)
        row = self._row_cycles[True] + around
        each = math.ceil(pixel + (area * k + row) / n)
        call = PUSH_CALL_BY_COMPILER + _PUSH_CYCLES[True] + 2 * self._calls_of_row + area + row
        return Push(each, each, math.ceil(call), math.ceil(call), following.more)

    def _calls(self, feed: Feed | None, following: Push) -> int:
        """Return the number of calls; a call may end within a row."""
        if feed is None or feed.whole:
            return 1
        push = self._push(following)
        return feed.calls(push, [push.value] * self.stage.n_inputs)

    def _cycles(self, feed: Feed | None, following: Push, share: float | None) -> float:
        """Return the maximum cycles of an image, or the mean if `share` of the averages are not 0.

        In an area that is not 0, most rows are not 0 either.
        """
        at_most = share is None
        fold = Listing.worst if share is None else _mean_of(share)
        around = self._around_row(at_most=at_most)
        passing: float = following.whole
        if not at_most and following.whole_mean:
            passing = following.whole_mean
        if self.whole_rows and (feed is None or feed.whole):
            row = around + (_FED_ROW_CYCLES if feed is None else _WHOLE_ROW_CYCLES)[at_most]
            rows = self.stage.pooling.rows.pixels * row
            return self._begin + self.loops.whole_rows(fold) + rows + _IMAGE_CYCLES + passing
        if feed is not None and not feed.whole and not at_most:
            return self._begin + self._in_chunks(feed, following, fold) + passing
        push = PUSH_CALL_BY_COMPILER
        if feed is not None:
            push += _PUSH_CYCLES[at_most] + 2 * around
        pushes = self._calls(feed, following) * push + passing
        row = around + self._row_cycles[at_most]
        row *= -(-self.stage.pooling.columns.pixels // COUNTED_IN_A_BYTE)  # one call each
        return self._begin + self.loops.parts(fold) + self.stage.pooling.rows.pixels * row + pushes

    def _in_chunks(self, feed: Feed, following: Push, fold: Fold) -> float:
        """Return the mean cycles of an image whose pixels come in chunks, which cut rows."""
        areas, push = self.stage.pooling, self._push(following)
        chunks = feed.chunks(push, [push.value] * self.stage.n_inputs)
        below = areas.rows.first + np.arange(areas.rows.pixels)
        first = below * areas.columns.side + areas.columns.first
        ends = [first, first + areas.columns.pixels - 1]
        parts = np.ptp(np.searchsorted(np.cumsum(chunks), ends, side="right"), axis=0) + 1
        whole = (parts == 1) & self.whole_rows
        share = float(whole.mean())
        loops = (1 - share) * self.loops.parts(fold)
        if share:
            loops += share * self.loops.whole_rows(fold)
        calls = whole.sum() * _WHOLE_ROW_CYCLES[0] + parts[~whole].sum() * self._row_cycles[0]
        around = self._around_row(at_most=False) * len(parts)
        around += (parts.sum() - len(parts)) * self._calls_of_row
        pushes = len(chunks) * (PUSH_CALL_BY_COMPILER + _CHUNK_CYCLES)
        return loops + float(calls + around) + pushes

    @property
    def _row_cycles(self) -> tuple[int, int]:
        several = self.stage.pooling.rows.output_units > 1
        return _ROW_OF_SEVERAL_CYCLES if several else _ROW_CYCLES

    @property
    def _calls_of_row(self) -> int:
        return _ROW_CALLS * self.core.call_cycles

    def _around_row(self, *, at_most: bool) -> int:
        """Return the cycles of a row's calls and of skipping its pixels outside the crop."""
        return self._calls_of_row + _SKIPPING_CYCLES[at_most] * self.stage.pooling.is_cropped

    @property
    def _begin(self) -> int:
        """Cycles before the first pixel."""
        sums = self.stage.pooling.columns.outputs if self.stage.pooling.rows.output_units > 1 else 0
        return _BEGIN_IMAGE_CYCLES + _BEGIN_SUM_CYCLES * sums

    @property
    def _state(self) -> int:
        """SRAM of the current sums, and of averages."""
        columns = self.stage.pooling.columns
        sums = 3 + 2 * columns.outputs if self.stage.pooling.rows.output_units > 1 else 0
        if self.name == "rows":
            under_way = -2 if self.whole_rows else 3
            return under_way + sums + self.stage.n_outputs + 2
        counted = 1 if columns.pixels < 256 else 2
        return 3 + counted + 2 * self.stage.pooling.is_cropped + sums + self.stage.n_outputs + 2


def _mean_of(share: float) -> Fold:
    """Return the function that takes means, given the share of averages that are not 0."""
    return lambda loop, start, ends, odds: loop.mean(
        start, ends, {"empty": 1 - share, "summed": 0, **odds}
    )


kernels = AveragePoolingKernel.of
