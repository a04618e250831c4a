"""The kernels of gradients: for pixels as they arrive, or for whole rows after deskew."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.features.gradients import loop
from protonn_edge.features.gradients.integers import LEVELS, IntegerGradients
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Step
from protonn_edge.kernels.listing import Facts, Passed

# Cycles of compiled code around the loops: of the setup, of clearing sums and lines, and per image,
# row, row of a cropped image, first row of a run, and pixel of the first row.
_BEGIN_CYCLES = 80
_CELL_CYCLES, _DIRECTION_CYCLES, _LINE_PIXEL_CYCLES = 7, 4, 7
_IMAGE_CYCLES = 80
_ROW_CYCLES = {"streamed": 149, "rows": 100}
_CROPPED_ROW_CYCLES = 38
_RUN_OF_ROWS_CYCLES = 36
_COPIED_PIXEL_CYCLES = 9
_ROW_CALLS = 4  # per row or part

# For a row in parts, additional cycles: per part, and per run of pixels in it.
_PART_CYCLES, _PART_RUN_CYCLES = 80, 99
_CODE_BYTES = {"streamed": 760, "rows": 420}

# The assumed share of pixels with a gradient if it is unknown.
_ACTIVE = 0.4

Name = Literal["streamed", "rows"]


@dataclass(frozen=True, eq=False)
class GradientsKernel(Kernel):
    """Sums of gradients: "streamed" processes pixels as they arrive, "rows" whole rows."""

    portable = 5.0
    pushes_whole = True
    chunk: ClassVar[int] = 32
    run: ClassVar[Any] = loop

    stage: IntegerGradients
    name: Name

    @classmethod
    def of(cls, stage: IntegerGradients, core: Core) -> tuple[Kernel, ...]:
        """Return the kernel for rows if the previous stage passes these, else for pixels."""
        return (cls(stage, core, "rows" if stage.by_rows else "streamed"),)

    @cached_property
    def loops(self) -> loop.GradientLoops:
        """The loops over pixels and sums."""
        return loop.GradientLoops(self.stage.cells, self.stage.shift)

    @property
    def facts(self) -> Facts:
        """How often the labels of the loop over pixels are passed; a push cuts a run in two."""
        rows, columns = self.stage.cells.rows, self.stage.cells.columns
        pixels, runs = rows.pixels * columns.pixels, rows.pixels * len(columns.runs)
        _, across, down, both = np.bincount(
            self.stage.cells.sharing().ravel(), minlength=4
        ).tolist()
        whole = self.name == "rows"
        return {
            "run": Passed(runs) if whole else Passed(1, of="pushes", base=runs),
            "pixel": Passed(pixels, pixels),
            "shared": Passed(across),
            "shared_row": Passed(down + both),
            "corner": Passed(both),
        }

    @property
    def root_facts(self) -> Facts:
        """How often the loop over sums is passed."""
        return {"sum": Passed(self.stage.n_outputs, self.stage.n_outputs)}

    def cost(self, feed: Feed | None, following: float, activity: Activity) -> Cost:
        """Return its cost."""
        loops, cells = self.loops, self.stage.cells
        active = activity.stages.get(self.kind, (np.full(4, _ACTIVE),))[0]
        mean = loops.all_pixels(active) + self._around(feed) + following
        code = _CODE_BYTES[self.name] + loops.pixels.code_bytes + loops.roots.code_bytes
        step = Step(self.kind, self.name, LEVELS + code, mean)
        tables = LEVELS + len(cells.rows.runs) + len(cells.columns.runs) + 2
        steps = (step.on(self.core, self.portable),)
        return Cost(steps, tables=tables, code=code, state=self._state)

    def _around(self, feed: Feed | None) -> float:
        """Return the cycles that do not depend on the pixels.

        A call that ends within a row or a run cuts it in two.
        """
        cells = self.stage.cells
        rows = (cells.rows.pixels + 1) * self._row_cycles
        rows += _RUN_OF_ROWS_CYCLES * len(cells.rows.runs)
        rows += _COPIED_PIXEL_CYCLES * cells.columns.pixels
        if feed is not None and not feed.whole:
            cuts, cut_rows = self._cuts(feed.chunk)
            runs = cut_rows * len(cells.columns.runs) + cuts
            rows += (cut_rows + cuts) * (_PART_CYCLES + self._row_calls)
            rows += runs * (_PART_RUN_CYCLES + self._row_calls)
        return _IMAGE_CYCLES + self._begin + rows + self.loops.all_roots

    def _cuts(self, chunk: int) -> tuple[int, int]:
        """Return how many calls with this number of pixels end within a row, and in how many."""
        rows, columns = self.stage.cells.rows, self.stage.cells.columns
        row, column = np.divmod(np.arange(chunk, self.stage.n_inputs, chunk), columns.side)
        inside = (row >= rows.first) & (row < rows.first + rows.pixels)
        within = (column > columns.first) & (column < columns.first + columns.pixels)
        cut = row[inside & within]
        return len(cut), len(np.unique(cut))

    @property
    def _row_calls(self) -> int:
        return _ROW_CALLS * self.core.call_cycles

    @property
    def _row_cycles(self) -> int:
        """Cycles of a row, without its pixels and runs."""
        cropped = self.name == "streamed" and self.stage.cells.is_cropped
        return _ROW_CYCLES[self.name] + _CROPPED_ROW_CYCLES * cropped + self._row_calls

    @property
    def _begin(self) -> int:
        cells = self.stage.cells
        cell = _CELL_CYCLES + _DIRECTION_CYCLES * cells.directions
        sums = cell * cells.cells[0] * cells.cells[1]
        return _BEGIN_CYCLES + sums + _LINE_PIXEL_CYCLES * cells.columns.pixels

    @property
    def _state(self) -> int:
        """SRAM of two rows, a row of zeros, the sums, and the position in the image."""
        cells = self.stage.cells
        streaming = 0
        if self.name == "streamed":
            streaming = 1 + 2 * cells.is_cropped
        return streaming + 7 + 3 * (cells.columns.pixels + 2) + loop.SUM_BYTES * cells.n_outputs

    @property
    def runs(self) -> dict[str, tuple[int, ...]]:
        """The runs of rows and columns as bytes."""
        cells = self.stage.cells
        return {"rows": loop.run_bytes(cells.rows), "columns": loop.run_bytes(cells.columns)}


kernels = GradientsKernel.of
