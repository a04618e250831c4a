"""The kernel of deskew, which pushes the shifted rows of a buffered image.

A simple bound of its cycles would combine shifted rows and non-zero inputs as no image can: a row
that is shifted by more than the cropped margin takes longer, but its pixels from outside the image
are 0. So the bound is found by trying all slants that the device's integers can represent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from protonn_edge.chain.activity import Activity
from protonn_edge.chain.integer_stage import IntArray
from protonn_edge.features.average_pooling.integers import Areas, Axis
from protonn_edge.features.deskew import integers as deskew
from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.kernels.kernel import INPUTS_AT_ONCE, Cost, Feed, Kernel, Push


def most_deskewed(image: CroppedImage, moved_row: int, inputs: IntArray) -> int:
    """Return the maximum cycles of shifted rows, minus the cycles that inputs of 0 save.

    A row that is not read in place takes `moved_row` cycles; `inputs` (D,) are the cycles that each
    average saves if it is 0, (0,) without averages.
    """
    return _most_deskewed(image, moved_row, tuple(inputs.tolist()))


@lru_cache(maxsize=8)
def _most_deskewed(image: CroppedImage, moved_row: int, inputs: tuple[int, ...]) -> int:
    rows, empty = image.rows, None
    if inputs and isinstance(image, Areas):
        empty = _EmptyAreas(image, np.array(inputs, np.int64).reshape(image.shape))
    middle = rows.side // 2
    centres = np.arange(-middle << deskew.CENTRE_BITS, (rows.side - middle) << deskew.CENTRE_BITS)
    most = 0
    for slope in range(-(1 << deskew.SLOPE_BITS), (1 << deskew.SLOPE_BITS) + 1):
        first = (slope * ((-middle << deskew.CENTRE_BITS) - centres)) >> deskew.CENTRE_BITS
        distinct = first[np.append(True, first[1:] != first[:-1])]  # they are monotonic
        shifts = deskew.along_slope(distinct, slope, rows.side)
        begin, moved = moved_rows(image, shifts)
        longer = moved * moved_row > most
        if not longer.any():
            continue
        cycles = moved[longer] * moved_row
        if empty is not None:
            cycles -= empty.saved_by(begin[longer])
        most = max(most, int(cycles.max()))
    return most


def moved_rows(image: CroppedImage, shifts: IntArray) -> tuple[IntArray, IntArray]:
    """Return where cropped rows begin, (n, h), and how many are shifted too far, (n,).

    `shifts` (n, H) are the pixels by which each row moves to the left. A row that is not shifted
    too far is read in place.
    """
    rows, columns = image.rows, image.columns
    begin: IntArray = columns.first + shifts[:, rows.first : rows.first + rows.pixels]
    far = (begin < 0) | (begin > columns.side - columns.pixels)
    return begin, far.sum(axis=1)


class _EmptyAreas:
    """The cycles saved by areas that become 0 because rows have moved away from them.

    - `image`: the image; each of its rows of areas overlaps several rows of pixels.
    - `inputs` (h, w): cycles that each area saves if it is 0.
    """

    def __init__(self, image: Areas, inputs: IntArray) -> None:
        self._columns = image.columns
        self._bands = _rows_of_bands(image.rows)
        self._left, self._right = _saved(image.columns, inputs)

    def saved_by(self, begin: IntArray) -> IntArray:
        """Return the saved cycles (n,) if rows (n, H) begin at these pixels."""
        pixels = self._columns.pixels
        places = begin.T.astype(np.int16, order="C")  # few enough pixels per side for 16 bits
        before = np.clip(-places, 0, pixels)
        after = np.clip(places + (pixels - self._columns.side), 0, pixels)
        areas = np.arange(len(self._left))[:, None]
        from_left = self._left[areas, before[self._bands].min(axis=0)]
        from_right = self._right[areas, after[self._bands].min(axis=0)]
        saved: IntArray = (from_left + from_right).sum(axis=0)
        return saved


def _rows_of_bands(rows: Axis) -> IntArray:
    """Return the cropped rows (r, h) that each row of areas overlaps, padded with the last one."""
    height, pixel = rows.output_units, rows.pixel_units
    band = np.arange(rows.outputs)
    first, last = band * height // pixel, -(-(band + 1) * height // pixel) - 1
    return np.minimum(first + np.arange((last - first).max() + 1)[:, None], last)


def _saved(columns: Axis, inputs: IntArray) -> tuple[IntArray, IntArray]:
    """Return the cycles that 0 to w zeros at the left, or right, save in each row of areas."""
    pixels = np.arange(columns.pixels + 1)
    covered = pixels * columns.pixel_units // columns.output_units
    from_left = np.pad(np.cumsum(inputs, axis=1), ((0, 0), (1, 0)))
    from_right = np.pad(np.cumsum(inputs[:, ::-1], axis=1), ((0, 0), (1, 0)))
    return from_left[:, covered], from_right[:, covered]


# Cycles: once, per row for the moments, per shifted row, and per pixel in one.
_CODE_BYTES = 900
_MOMENT_CYCLES = 1_820
_MOMENT_ROW_CYCLES = 94
_MOMENT_PIXEL_CYCLES = 14
_MOMENT_ZERO_CYCLES = 9
_MOMENT_PIXEL_LEAST = 8
_MOVED_ROW_CYCLES = 80
_MOVED_PIXEL_CYCLES = 7
_MOVED_ROWS_SHARE = 0.15  # on handwritten digits, for the mean
_CALLS = 6  # per row, at most


@dataclass(frozen=True, eq=False)
class DeskewKernel(Kernel):
    """Reads the image in place, from a buffer of the firmware or the library."""

    portable = 8.2
    chunk: ClassVar[int] = INPUTS_AT_ONCE
    reference: ClassVar[Any] = deskew

    stage: deskew.IntegerDeskew
    name: str = "held"

    @property
    def most_moved(self) -> int:
        """The maximum number of pixels in rows that are shifted too far to be read in place."""
        image = self.stage.image
        return most_deskewed(image, 1, np.zeros(0, np.int64)) * image.columns.pixels

    def cost(self, feed: Feed | None, following: Push | None, _: Activity | None) -> Cost:
        """Return its cost; the slants of images are unknown."""
        assert feed is not None
        assert following is not None
        rows, pixels, held = self.stage.image.rows, self.stage.n_inputs, self.held
        assert held is not None
        calls = self.core.call_cycles * _CALLS
        moments = _MOMENT_CYCLES + 2 * calls + (_MOMENT_ROW_CYCLES + calls) * rows.side
        row = moved_row_cycles(self.stage.image)
        moved = rows.pixels * (row + calls)
        mean = (
            moments
            + _MOMENT_ZERO_CYCLES * pixels
            + _MOVED_ROWS_SHARE * moved
            + held.copied(feed, at_most=False)
        )
        worst = moments + _MOMENT_PIXEL_CYCLES * pixels + moved + held.copied(feed, at_most=True)
        least = _MOMENT_PIXEL_LEAST * pixels
        exclusive = rows.pixels * row - most_deskewed(self.stage.image, row, following.more)
        return self._in_one_step(
            (mean, worst, least),
            (0, _CODE_BYTES),
            state=held.state(feed) + self.stage.image.columns.pixels,
            buffer=held.buffer(feed),
            push=replace(held.push, more=following.more),
            exclusive=exclusive,
        )


def moved_row_cycles(image: CroppedImage) -> int:
    """Return the cycles of a row that is shifted too far to be read in place."""
    return _MOVED_ROW_CYCLES + _MOVED_PIXEL_CYCLES * image.columns.pixels


kernels = DeskewKernel.of
