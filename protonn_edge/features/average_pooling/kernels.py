"""The kernel of average pooling, which keeps averages until the last one is complete."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.features.average_pooling.integers import IntegerAveragePooling
from protonn_edge.features.average_pooling.loops import WHOLE_AREA_PIXELS, AreaLoops
from protonn_edge.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.kernels.listing import Facts, Passed
from protonn_edge.kernels.matvec.kernels import PUSH_CALL_BY_COMPILER
from protonn_edge.kernels.matvec.loops import COUNTED_IN_A_BYTE

_CODE_BYTES = 800
_STREAMING_CODE_BYTES = 120

# Mean cycles of the compiler's code around the loops, without calls: of a push with the part of a
# row that it cuts, and without it; of a row in parts, also with areas over several rows; of a whole
# row, also from the previous stage; of the pixels skipped in a row of a cropped image; of beginning
# an image, and of clearing a sum.
_PUSH_CYCLES = 105
_CHUNK_CYCLES = 44
_ROW_CYCLES = 65
_ROW_OF_SEVERAL_CYCLES = 108
_WHOLE_ROW_CYCLES = 66
_FED_ROW_CYCLES = 60
_SKIPPING_CYCLES = 22
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

    def cost(self, feed: Feed | None, following: float, activity: Activity) -> Cost:
        """Return its cost."""
        mean = self._cycles(feed, float(activity.inputs.mean())) + following
        code = _CODE_BYTES + _STREAMING_CODE_BYTES * (feed is not None and not feed.whole)
        return self._in_one_step(mean, (0, code), state=self._state)

    def _cycles(self, feed: Feed | None, share: float) -> float:
        """Return the mean cycles of an image if `share` of the averages are not 0.

        In an area that is not 0, most rows are not 0 either.
        """
        around = self._around_row
        if self.whole_rows and (feed is None or feed.whole):
            row = around + (_FED_ROW_CYCLES if feed is None else _WHOLE_ROW_CYCLES)
            rows = self.stage.pooling.rows.pixels * row
            return self._begin + self.loops.whole_rows(share) + rows + _IMAGE_CYCLES
        if feed is not None and not feed.whole:
            return self._begin + self._in_chunks(feed, share)
        push = PUSH_CALL_BY_COMPILER
        if feed is not None:
            push += _PUSH_CYCLES + 2 * around
        row = around + self._row_cycles
        row *= -(-self.stage.pooling.columns.pixels // COUNTED_IN_A_BYTE)  # one call each
        return self._begin + self.loops.parts(share) + self.stage.pooling.rows.pixels * row + push

    def _in_chunks(self, feed: Feed, share: float) -> float:
        """Return the mean cycles of an image whose pixels come in chunks, which cut rows."""
        areas = self.stage.pooling
        below = areas.rows.first + np.arange(areas.rows.pixels)
        first = below * areas.columns.side + areas.columns.first
        ends = [first, first + areas.columns.pixels - 1]
        parts = np.ptp(np.floor_divide(ends, feed.chunk), axis=0) + 1
        whole = (parts == 1) & self.whole_rows
        whole_share = float(whole.mean())
        loops = (1 - whole_share) * self.loops.parts(share)
        if whole_share:
            loops += whole_share * self.loops.whole_rows(share)
        calls = whole.sum() * _WHOLE_ROW_CYCLES + parts[~whole].sum() * self._row_cycles
        around = self._around_row * len(parts)
        around += (parts.sum() - len(parts)) * self._calls_of_row
        return loops + float(calls + around) + feed.calls * (PUSH_CALL_BY_COMPILER + _CHUNK_CYCLES)

    @property
    def _row_cycles(self) -> int:
        several = self.stage.pooling.rows.output_units > 1
        return _ROW_OF_SEVERAL_CYCLES if several else _ROW_CYCLES

    @property
    def _calls_of_row(self) -> int:
        return _ROW_CALLS * self.core.call_cycles

    @property
    def _around_row(self) -> int:
        """Cycles of a row's calls and of skipping its pixels outside the crop."""
        return self._calls_of_row + _SKIPPING_CYCLES * self.stage.pooling.is_cropped

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


kernels = AveragePoolingKernel.of
