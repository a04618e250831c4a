"""The kernel of average pooling, which takes whole rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed
from protonn_edge.codegen.kernels.matvec.loops import COUNTED_IN_A_BYTE
from protonn_edge.features.average_pooling.integers import IntegerAveragePooling
from protonn_edge.features.average_pooling.loops import WHOLE_AREA_PIXELS, AreaLoops

_CHUNK = 32  # pixels that firmware pushes at once, if they are whole rows


@dataclass(frozen=True, eq=False)
class AveragePoolingKernel(Kernel):
    """Computes averages of areas, row by row."""

    holds_inputs: ClassVar[tuple[bool, ...]] = (True, False)

    stage: IntegerAveragePooling
    name: str = "rows"

    @property
    def chunk(self) -> int:  # type: ignore[override]
        """Pixels that firmware pushes at once: whole rows, which are read in place."""
        side = self.stage.pooling.columns.side
        return side * max(1, _CHUNK // side)

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
        """How often the loops over parts of rows, or over whole rows, are passed."""
        rows, columns, outputs = (
            self.stage.pooling.rows,
            self.stage.pooling.columns,
            self.stage.n_outputs,
        )
        pixels = rows.pixels * columns.pixels
        each = Passed(pixels, pixels, name="pixels")
        area = each._replace(weight=columns.output_units)
        average = Passed(outputs, outputs, name="averages")
        last = "complete" if rows.output_units > 1 else "average"
        part: Facts = {
            "pixel": each,
            "last": Passed(rows.pixels * columns.outputs),
            last: Passed(outputs),
            "store": average,
        }
        return {"part": part, "summing": {"area": area}, "averaging": {"area": [area, average]}}

    def cost(self, feed: Feed | None, /) -> Cost:
        """Return its cost."""
        return self._in_one_step(self._cycles(feed), 0, state=self._state(feed))

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The loops for parts of rows, or for whole rows."""
        return (self.loops.part, self.loops.summing, self.loops.averaging)

    def _cycles(self, feed: Feed | None) -> float:
        """Return about the cycles of an image without an average of 0."""
        rows, columns = self.stage.pooling.rows, self.stage.pooling.columns
        begin = compiled.TURN_CYCLES * columns.outputs * (rows.output_units > 1)
        pixels = self.loops.whole_rows if self.whole_rows else self.loops.parts
        read = feed is not None and feed.held
        functions = 2 + rows.pixels * (1 + (not read))
        if feed is not None and not feed.held:
            functions += rows.side
        return begin + pixels + compiled.calls(functions, self.core)

    def _state(self, feed: Feed | None) -> int:
        """Return the SRAM of the current sums, of averages, and of a row that arrives in parts."""
        rows, columns = self.stage.pooling.rows, self.stage.pooling.columns
        sums = 1 + 2 * columns.outputs if rows.output_units > 1 else 0
        if feed is not None and not feed.held:
            sums += columns.side + 2 + 2 * self.stage.pooling.is_cropped
        return sums + self.stage.n_outputs + 2


kernels = AveragePoolingKernel.of
