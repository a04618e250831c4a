"""The kernel of gradients, which takes whole rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import ClassVar

import numpy as np

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed
from protonn_edge.features.gradients import loop
from protonn_edge.features.gradients.integers import LEVELS, IntegerGradients

_ROW_FUNCTIONS = 3  # for a row, without its pixels and runs
_PIXEL_CYCLES, _ROOT_CYCLES = 48, 35


@dataclass(frozen=True, eq=False)
class GradientsKernel(Kernel):
    """Sums of gradients, row by row."""

    run: ClassVar[ModuleType] = loop

    stage: IntegerGradients
    name: str = "rows"

    @cached_property
    def loops(self) -> loop.GradientLoops:
        """The loops over pixels and sums."""
        return loop.GradientLoops(self.stage.cells, self.stage.shift)

    @property
    def facts(self) -> Facts:
        """How often the labels of the loop over pixels are passed."""
        rows, columns = self.stage.cells.rows, self.stage.cells.columns
        pixels, runs = rows.pixels * columns.pixels, rows.pixels * len(columns.runs)
        _, across, down, both = np.bincount(
            self.stage.cells.sharing().ravel(), minlength=4
        ).tolist()
        return {
            "run": Passed(runs),
            "pixel": Passed(pixels, pixels),
            "shared": Passed(across),
            "shared_row": Passed(down + both),
            "corner": Passed(both),
        }

    @property
    def root_facts(self) -> Facts:
        """How often the loop over sums is passed."""
        return {"sum": Passed(self.stage.n_outputs, self.stage.n_outputs)}

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost."""
        cells = self.stage.cells
        pixels = cells.rows.pixels * cells.columns.pixels
        cycles = _PIXEL_CYCLES * pixels + _ROOT_CYCLES * cells.n_outputs + self._around
        tables = LEVELS + len(cells.rows.runs) + len(cells.columns.runs) + 2
        return self._with_code(cycles, tables, state=self._state)

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The loops over pixels and sums."""
        return (self.loops.pixels, self.loops.roots)

    @property
    def _around(self) -> float:
        """Return the cycles that do not depend on the pixels.

        Sums are cleared two bytes at once, and lines and the first row are copied.
        """
        cells = self.stage.cells
        functions = 4.0 + (cells.rows.pixels + 1) * _ROW_FUNCTIONS + len(cells.rows.runs)
        turns = cells.n_outputs / 2 + cells.cells[0] * cells.cells[1] + 2 * cells.columns.pixels
        return compiled.TURN_CYCLES * turns + compiled.calls(functions, self.core)

    @property
    def _state(self) -> int:
        """SRAM of two rows, a row of zeros, the sums, and the position in the image."""
        cells = self.stage.cells
        return 7 + self._line_bytes + loop.SUM_BYTES * cells.n_outputs

    @property
    def _line_bytes(self) -> int:
        """SRAM of three rows with a pixel more at either end."""
        return 3 * (self.stage.cells.columns.pixels + 2)

    @property
    def zeros(self) -> dict[str, int]:
        """Nothing is written to the ends of rows, and to the row of zeros."""
        return {"lines": self._line_bytes}

    @property
    def runs(self) -> dict[str, tuple[int, ...]]:
        """The runs of rows and columns as bytes."""
        cells = self.stage.cells
        return {"rows": loop.run_bytes(cells.rows), "columns": loop.run_bytes(cells.columns)}


kernels = GradientsKernel.of
