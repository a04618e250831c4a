"""The kernels of gradients: pixels that are pushed as they arrive, or whole rows behind deskew."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards.cores import Core
from protonn_edge.stages.activity import Activity
from protonn_edge.stages.average_pooling.areas import shape_text
from protonn_edge.stages.gradients.cells import CellAxis
from protonn_edge.stages.gradients.integers import LEVELS, IntegerGradients
from protonn_edge.stages.gradients.loop import (
    COUNT,
    NEXT_CELL,
    SHARED,
    SUM_BYTES,
    pixel_loop,
    root_loop,
)
from protonn_edge.stages.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.stages.listing import Listing

# Around the loops, by the compiler: for an image, for each sum and pixel of a line that is set to
# 0, for a row, for a pixel of the first row, for a run that a call begins or ends in, for a call.
_IMAGE_CYCLES = 250
_SUM_CYCLES, _LINE_PIXEL_CYCLES = 5, 8
_ROW_CYCLES = 190
_COPIED_PIXEL_CYCLES = 9
_PART_CYCLES = 130
_CALL_CYCLES = 60
_ROW_CALLS = 4  # for a row or a call, at most

_CODE_BYTES = {"streamed": 760, "rows": 420}

# What the compiler's loops take of those in assembly, on a chip without a multiplier.
_PORTABLE = 5.0

# Of pixels with a gradient, how often a branch is taken: on handwritten digits.
_ODDS = {
    "along": 0.5,
    "down": 0.5,
    "steep": 0.45,
    "add": 0.6,
    "place": 0.4,
    "back": 0.7,
    "other": 0.8,
    "below": 0.8,
    "beside": 0.9,
    "beneath": 0.9,
}

# The share of pixels that have a gradient, where it is not known.
_ACTIVE = 0.4

Name = Literal["streamed", "rows"]
Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class GradientsContext:
    """What ``templates/c/gradients`` sees: sides in pixels; runs in bytes; the loops in lines."""

    kernel: Name
    image: str
    cropped: str
    cells: str
    is_cropped: bool
    directions: int
    n_outputs: int
    row_sums: int
    sum_maximum: int
    shift: int
    roots: tuple[int, ...]
    pixels: int
    row_pixels: int
    pixels_before: int
    pixels_between: int
    run_count: int
    run_next: int
    run_shared: int
    row_runs: tuple[int, ...]
    column_runs: tuple[int, ...]
    pixel_loop: tuple[str, ...]
    root_loop: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GradientsKernel(Kernel):
    """Sums of gradients: "streamed" takes pixels as they come, "rows" whole rows."""

    template: ClassVar[str] = "gradients/gradients.j2"
    chunk: ClassVar[int] = 32

    stage: IntegerGradients
    name: Name
    core: Core

    @cached_property
    def _pixels(self) -> Listing:
        cells = self.stage.cells
        return pixel_loop(cells.directions, SUM_BYTES * cells.directions * cells.cells[1])

    @cached_property
    def _roots(self) -> Listing:
        return root_loop(1 << (8 - self.stage.shift))

    def cost(self, feed: Feed | None, following: Push | None, activity: Activity | None) -> Cost:
        """Return what it takes."""
        assert following is not None
        push = self._push
        around = self._around(feed, push, following)
        worst = self._pixel_cycles(None) + around
        mean = None
        if activity is not None:
            active = activity.stages.get(self.kind, (np.full(4, _ACTIVE),))[0]
            mean = self._pixel_cycles(active) + around
        least = self._least
        code = _CODE_BYTES[self.name] + self._pixels.code_bytes + self._roots.code_bytes
        step = Step(self.kind, self.name, LEVELS + code, mean, math.ceil(worst), least)
        if not self.core.multiplies:
            step = step.in_portable_c(_PORTABLE)
        cells = self.stage.cells
        tables = LEVELS + len(cells.rows.runs) + len(cells.columns.runs) + 2
        return Cost(
            steps=(step,), tables=tables, code=code, state=self._state, push=push, begin=self._begin
        )

    @property
    def _push(self) -> Push:
        """Return bounds of pixels: any may have a gradient, and complete a run or a row.

        A call may hold the end of one row, and of one more for each further row of pixels.
        """
        columns = self.stage.cells.columns
        runs = len(columns.runs)
        row = _ROW_CYCLES + _ROW_CALLS * self.core.call_cycles + runs * _PART_CYCLES
        pixel = math.ceil(self._most + row / columns.pixels)
        call = _CALL_CYCLES + 2 * row + _ROW_CALLS * self.core.call_cycles
        return Push(pixel, pixel, call, call)

    def _around(self, feed: Feed | None, push: Push, following: Push) -> float:
        """Return the cycles that do not depend on the pixels."""
        cells = self.stage.cells
        rows = cells.rows.pixels + 1
        calls = 0
        if feed is not None:
            pushes = 1 if feed.whole else feed.calls(push, [push.value] * feed.values)
            calls = pushes * (_CALL_CYCLES + _ROW_CALLS * self.core.call_cycles)
            if not feed.whole:
                calls += pushes * 2 * _PART_CYCLES
        row = _ROW_CYCLES + _ROW_CALLS * self.core.call_cycles
        copied = _COPIED_PIXEL_CYCLES * cells.columns.pixels
        return self._begin + rows * row + copied + calls + self._root_cycles + following.whole

    @property
    def _begin(self) -> int:
        cells = self.stage.cells
        lines = _LINE_PIXEL_CYCLES * cells.columns.pixels
        return _IMAGE_CYCLES + _SUM_CYCLES * cells.n_outputs + lines

    @property
    def _root_cycles(self) -> float:
        return self.stage.n_outputs * self._roots.worst("sum", ("sum",), {"sum": 1})

    @property
    def _run_cycles(self) -> float:
        """Cycles that the runs of a row take."""
        return len(self.stage.cells.columns.runs) * (
            self._pixels.worst("run", ("pixel", "done"), {}) + 2
        )

    @property
    def _most(self) -> float:
        """The most cycles of a pixel."""
        return self._pixels.worst("pixel", ("pixel",), {"pixel": 1})

    @property
    def _least(self) -> int:
        """Return what all pixels take where none has a gradient."""
        cells = self.stage.cells
        pixel = self._pixels.least("pixel", ("pixel",), {"pixel": 1})
        roots = self._roots.least("sum", ("sum",), {"sum": 1})
        pixels = cells.rows.pixels * cells.columns.pixels
        return int(pixel * pixels + roots * cells.n_outputs)

    def _pixel_cycles(self, active: Float64 | None) -> float:
        """Return the cycles of the loop over pixels, of which shares are active; or at most."""
        cells = self.stage.cells
        numbers = np.bincount(cells.sharing().ravel(), minlength=4)
        cycles = cells.rows.pixels * self._run_cycles
        for sharing, number in enumerate(numbers.tolist()):
            odds = {"pixel": 1.0, "shared": sharing & 1, "corner": sharing & 1}
            odds["r19, 0"] = 0 if sharing & 2 else 1
            if active is None:
                cycles += number * self._pixels.worst("pixel", ("pixel",), odds)
                continue
            odds |= {**_ODDS, "gradient": float(active[sharing])}
            cycles += number * self._pixels.mean("pixel", ("pixel",), odds)
        return cycles

    @property
    def _state(self) -> int:
        """SRAM of two rows and one of 0, of the sums, and of where the next pixel goes."""
        cells = self.stage.cells
        streaming = 0
        if self.name == "streamed":
            streaming = 3 + 2 * (cells.cropped_shape != cells.image_shape)
        return streaming + 7 + 3 * (cells.columns.pixels + 2) + SUM_BYTES * cells.n_outputs

    def context(self) -> GradientsContext:
        """Lay the stage out in the order in which the generated program reads it."""
        cells = self.stage.cells
        rows, columns = cells.rows, cells.columns
        return GradientsContext(
            kernel=self.name,
            image=shape_text(cells.image_shape),
            cropped=shape_text(cells.cropped_shape),
            cells=shape_text(cells.cells),
            is_cropped=cells.cropped_shape != cells.image_shape,
            directions=cells.directions,
            n_outputs=cells.n_outputs,
            row_sums=cells.directions * cells.cells[1],
            sum_maximum=int(cells.most.max()),
            shift=self.stage.shift,
            roots=tuple(self.stage.table.tolist()),
            pixels=(rows.first + rows.pixels - 1) * columns.side + columns.first + columns.pixels,
            row_pixels=columns.pixels,
            pixels_before=rows.first * columns.side + columns.first,
            pixels_between=columns.side - columns.pixels,
            run_count=COUNT,
            run_next=NEXT_CELL,
            run_shared=SHARED,
            row_runs=_run_bytes(rows),
            column_runs=_run_bytes(columns),
            pixel_loop=self._pixels.lines,
            root_loop=self._roots.lines,
        )


def _run_bytes(axis: CellAxis) -> tuple[int, ...]:
    """Return the runs of an axis, a byte each."""
    cells = [0, *(run.cell for run in axis.runs)]
    return tuple(
        run.pixels | NEXT_CELL * (run.cell != before) | SHARED * run.shared
        for run, before in zip(axis.runs, cells, strict=False)
    )


def kernels(stage: IntegerGradients, core: Core) -> tuple[Kernel, ...]:
    """Return the one that takes rows where these come, else the one that takes pixels."""
    return (GradientsKernel(stage, "rows" if stage.by_rows else "streamed", core),)
