"""The kernel of average pooling, which keeps averages until the last one is complete."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Calls, Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed
from protonn_edge.codegen.kernels.matvec.loops import COUNTED_IN_A_BYTE
from protonn_edge.features.average_pooling.integers import IntegerAveragePooling
from protonn_edge.features.average_pooling.loops import WHOLE_AREA_PIXELS, AreaLoops
from protonn_edge.model.activity import Activity

Name = Literal["kept", "rows"]


@dataclass(frozen=True, eq=False)
class AveragePoolingKernel(Kernel):
    """Computes averages of areas; the previous stage feeds "rows" with whole rows."""

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

    def cost(self, feed: Feed | None, following: Calls, activity: Activity) -> Cost:
        """Return its cost."""
        mean = self._cycles(feed, float(activity.inputs.mean()))
        mean += following(Feed.at_once(self.stage.n_outputs))
        return self._in_one_step(mean, 0, state=self._state)

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The loops for parts of rows, or for whole rows."""
        return (self.loops.part, self.loops.summing, self.loops.averaging)

    def _cycles(self, feed: Feed | None, share: float) -> float:
        """Return the mean cycles of an image if `share` of the averages are not 0.

        In an area that is not 0, most rows are not 0 either.
        """
        rows, columns = self.stage.pooling.rows, self.stage.pooling.columns
        several = rows.output_units > 1
        begin = compiled.TURN_CYCLES * columns.outputs * several
        if feed is not None and not feed.whole:
            return begin + self._in_chunks(feed, share)
        if self.whole_rows:
            parts, pixels = rows.pixels, self.loops.whole_rows(share)
        else:
            parts = rows.pixels * -(-columns.pixels // COUNTED_IN_A_BYTE)
            pixels = self.loops.parts(share)
        return begin + pixels + compiled.calls(2 + parts * self._functions, self.core)

    @property
    def _functions(self) -> float:
        """Functions for a part of a row: its loop, the next row, and skipped pixels."""
        pooling = self.stage.pooling
        return 2 + (pooling.rows.output_units > 1 and not self.whole_rows) + pooling.is_cropped / 2

    def _in_chunks(self, feed: Feed, share: float) -> float:
        """Return the mean cycles of an image whose pixels come in chunks, which cut rows."""
        areas = self.stage.pooling
        below = areas.rows.first + np.arange(areas.rows.pixels)
        first = below * areas.columns.side + areas.columns.first
        ends = [first, first + areas.columns.pixels - 1]
        parts = np.ptp(np.floor_divide(ends, feed.chunk), axis=0) + 1
        whole_share = float(((parts == 1) & self.whole_rows).mean())
        loops = (1 - whole_share) * self.loops.parts(share)
        if whole_share:
            loops += whole_share * self.loops.whole_rows(share)
        functions = float(parts.sum()) * self._functions + 2 * feed.calls
        return loops + compiled.calls(functions, self.core)

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
