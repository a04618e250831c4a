"""The kernels of gradients: for pixels as they arrive, or for whole rows after deskew."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.features.gradients.cells import CellAxis
from protonn_edge.features.gradients.gradients import LEVELS, IntegerGradients
from protonn_edge.features.gradients.loop import (
    COUNT,
    NEXT_CELL,
    SHARED,
    SUM_BYTES,
    pixel_loop,
    root_loop,
)
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.kernels.listing import Listing

# Compiled code around the loops: the setup, clearing of sums and lines, and per image, row, row of
# a cropped image, beginning of a run of rows, and pixel of the first row.
_BEGIN_CYCLES = 80
_CELL_CYCLES, _DIRECTION_CYCLES, _LINE_PIXEL_CYCLES = 7, 4, 7
_IMAGE_CYCLES = 80
_ROW_CYCLES = {"streamed": 149, "rows": 100}
_CROPPED_ROW_CYCLES = 38
_RUN_OF_ROWS_CYCLES = 36
_COPIED_PIXEL_CYCLES = 9
_LAST_PIXEL_CYCLES = 2  # of a run, which continues with the next one
_ROW_CALLS = 4  # maximum per row or call

# For a row in parts, mean and maximum: per call and part, and per run of pixels in it; and the
# cycles of a row that are saved then.
_PART_CYCLES, _PART_RUN_CYCLES = (120, 210), (72, 108)
_WHOLE_ROW_CYCLES = 100

_CODE_BYTES = {"streamed": 760, "rows": 420}

# Time of the compiler's loops relative to assembly, on a chip without a multiplier.
_PORTABLE = 5.0

# For pixels with a gradient, the shares of taken branches, and of overflows of the low byte of a
# sum, by the number of halvings of a magnitude: on handwritten digits.
_ODDS = {"along": 0.58, "down": 0.59, "steep": 0.45, "add": 0.7, "place": 0.3}
_CARRIES = (0.61, 0.31, 0.15)
_SUMS = ("back", "other", "below", "beside", "beneath")  # if no byte has overflowed

# The share of pixels with a gradient, if it is not known.
_ACTIVE = 0.4

Name = Literal["streamed", "rows"]
Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GradientsKernel(Kernel):
    """Sums of gradients: "streamed" processes pixels as they arrive, "rows" whole rows."""

    template: ClassVar[str] = "gradients/gradients.j2"
    chunk: ClassVar[int] = 32
    run_count: ClassVar[int] = COUNT
    run_next: ClassVar[int] = NEXT_CELL
    run_shared: ClassVar[int] = SHARED

    stage: IntegerGradients
    name: Name
    core: Core

    @cached_property
    def pixel_loop(self) -> Listing:
        """What adds the gradients of pixels."""
        cells = self.stage.cells
        return pixel_loop(cells.directions, SUM_BYTES * cells.directions * cells.cells[1])

    @cached_property
    def root_loop(self) -> Listing:
        """What makes features of sums."""
        return root_loop(1 << (8 - self.stage.shift))

    def cost(self, feed: Feed | None, following: Push | None, activity: Activity | None) -> Cost:
        """Return its cost."""
        assert following is not None
        push = self._push
        worst = self.pixel_cycles(None) + self._around(feed, push, following, at_most=True)
        mean = None
        if activity is not None:
            active = activity.stages.get(self.kind, (np.full(4, _ACTIVE),))[0]
            mean = self.pixel_cycles(active)
            mean += self._around(feed, push, following, at_most=False)
        least = self._least
        code = _CODE_BYTES[self.name] + self.pixel_loop.code_bytes + self.root_loop.code_bytes
        step = Step(self.kind, self.name, LEVELS + code, mean, math.ceil(worst), least)
        cells = self.stage.cells
        tables = LEVELS + len(cells.rows.runs) + len(cells.columns.runs) + 2
        return Cost(
            steps=(step.on(self.core, _PORTABLE),),
            tables=tables,
            code=code,
            state=self._state,
            push=push,
            begin=self._begin,
        )

    @property
    def _push(self) -> Push:
        """Return bounds for pixels: any may have a gradient, and complete a run or a row.

        A call involves one more part of a row than its pixels fill, and two more runs.
        """
        columns = self.stage.cells.columns
        part = _PART_CYCLES[True] + self._row_calls
        row = self._row_cycles + _RUN_OF_ROWS_CYCLES + part
        run = _PART_RUN_CYCLES[True] + self._row_calls
        pixel = math.ceil(self._most + row / columns.pixels + run * _runs_a_pixel(columns))
        call = row + part + 2 * run
        return Push(pixel, pixel, call, call)

    def _around(self, feed: Feed | None, push: Push, following: Push, *, at_most: bool) -> float:
        """Return the cycles that do not depend on the pixels.

        A call that ends within a row, or a run, makes two parts of it.
        """
        cells = self.stage.cells
        rows = (cells.rows.pixels + 1) * self._row_cycles
        rows += _RUN_OF_ROWS_CYCLES * len(cells.rows.runs)
        rows += _COPIED_PIXEL_CYCLES * cells.columns.pixels
        if feed is not None and not feed.whole:
            calls = math.ceil(feed.calls(push, [push.value] * feed.values))
            parts = cells.rows.pixels + calls
            rows += (
                parts * (_PART_CYCLES[at_most] + self._row_calls)
                - cells.rows.pixels * _WHOLE_ROW_CYCLES
            )
            runs = cells.rows.pixels * len(cells.columns.runs) + calls
            rows += runs * (_PART_RUN_CYCLES[at_most] + self._row_calls)
        return _IMAGE_CYCLES + self._begin + rows + self._root_cycles + following.whole

    @property
    def _row_calls(self) -> int:
        return _ROW_CALLS * self.core.call_cycles

    @property
    def _row_cycles(self) -> int:
        """Cycles of a row, without its pixels and runs."""
        cropped = self.name == "streamed" and self.is_cropped
        return _ROW_CYCLES[self.name] + _CROPPED_ROW_CYCLES * cropped + self._row_calls

    @property
    def is_cropped(self) -> bool:
        """Whether some pixels of the image do not count."""
        return self.stage.cells.cropped_shape != self.stage.cells.image_shape

    @property
    def _begin(self) -> int:
        cells = self.stage.cells
        cell = _CELL_CYCLES + _DIRECTION_CYCLES * cells.directions
        sums = cell * cells.cells[0] * cells.cells[1]
        return _BEGIN_CYCLES + sums + _LINE_PIXEL_CYCLES * cells.columns.pixels

    @property
    def _root_cycles(self) -> float:
        return self.stage.n_outputs * self.root_loop.worst("sum", ("sum",), {"sum": 1})

    @property
    def _run_cycles(self) -> float:
        """Maximum cycles of a row's runs, without their pixels."""
        cycles = self.pixel_loop.worst("row", ("pixel",), {"r16, 6": 1})
        runs = _run_bytes(self.stage.cells.columns)
        for run in runs[1:]:
            odds = {"begin": 1, "r16, 6": 0 if run & NEXT_CELL else 1}
            cycles += self.pixel_loop.worst("run", ("pixel",), odds)
        cycles += self.pixel_loop.worst("run", ("done",), {"begin": 0})
        return cycles + _LAST_PIXEL_CYCLES * len(runs)

    @property
    def _most(self) -> float:
        """The maximum cycles of a pixel."""
        return self.pixel_loop.worst("pixel", ("pixel",), {"pixel": 1})

    @property
    def _least(self) -> int:
        """Return the cycles of all pixels if none has a gradient."""
        cells = self.stage.cells
        pixel = self.pixel_loop.least("pixel", ("pixel",), {"pixel": 1})
        roots = self.root_loop.least("sum", ("sum",), {"sum": 1})
        pixels = cells.rows.pixels * cells.columns.pixels
        return int(pixel * pixels + roots * cells.n_outputs)

    def pixel_cycles(self, active: Float64 | None) -> float:
        """Return the cycles of the loop over pixels, for shares of active ones, or the maximum."""
        cells = self.stage.cells
        numbers = np.bincount(cells.sharing().ravel(), minlength=4)
        cycles = cells.rows.pixels * self._run_cycles
        for sharing, number in enumerate(numbers.tolist()):
            odds = {"pixel": 1.0, "shared": sharing & 1, "corner": sharing & 1}
            odds["r19, 0"] = 0 if sharing & 2 else 1
            if active is None:
                cycles += number * self.pixel_loop.worst("pixel", ("pixel",), odds)
                continue
            carry = _CARRIES[sharing.bit_count()]
            odds |= {**_ODDS, **dict.fromkeys(_SUMS, 1 - carry), "gradient": float(active[sharing])}
            cycles += number * self.pixel_loop.mean("pixel", ("pixel",), odds)
        return cycles

    @property
    def _state(self) -> int:
        """SRAM of two rows and one of zeros, of the sums, and of the position in the image."""
        cells = self.stage.cells
        streaming = 0
        if self.name == "streamed":
            streaming = 1 + 2 * self.is_cropped
        return streaming + 7 + 3 * (cells.columns.pixels + 2) + SUM_BYTES * cells.n_outputs

    @property
    def row_sums(self) -> int:
        """Sums of a row of cells."""
        return self.stage.cells.directions * self.stage.cells.cells[1]

    @property
    def pixels_before(self) -> int:
        """Pixels before the first that counts."""
        cells = self.stage.cells
        return cells.rows.first * cells.columns.side + cells.columns.first

    @property
    def pixels_between(self) -> int:
        """Pixels between those of consecutive rows that count."""
        return self.stage.cells.columns.side - self.stage.cells.columns.pixels

    @property
    def pixels_to_last(self) -> int:
        """Pixels of the image up to the last that counts."""
        rows, columns = self.stage.cells.rows, self.stage.cells.columns
        return (rows.first + rows.pixels - 1) * columns.side + columns.first + columns.pixels

    @property
    def runs(self) -> dict[str, tuple[int, ...]]:
        """The runs of rows and columns as bytes."""
        cells = self.stage.cells
        return {"rows": _run_bytes(cells.rows), "columns": _run_bytes(cells.columns)}


def _run_bytes(axis: CellAxis) -> tuple[int, ...]:
    """Return the runs of an axis as bytes."""
    cells = [0, *(run.cell for run in axis.runs)]
    return tuple(
        run.pixels | NEXT_CELL * (run.cell != before) | SHARED * run.shared
        for run, before in zip(axis.runs, cells, strict=False)
    )


def _runs_a_pixel(axis: CellAxis) -> float:
    """Return the maximum runs per pixel; consecutive pixels may involve two more."""
    places = [*axis.places, None] * 2
    most = 0.0
    for first in range(len(places)):
        touched = 0
        for number, place in enumerate(places[first:], 1):
            touched += number == 1 or place != places[first + number - 2]
            most = max(most, (touched - 2) / number)
    return most


def kernels(stage: IntegerGradients, core: Core) -> tuple[Kernel, ...]:
    """Return the kernel for rows if the previous stage passes these, else the one for pixels."""
    return (GradientsKernel(stage, "rows" if stage.by_rows else "streamed", core),)
