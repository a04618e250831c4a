"""The kernel of deskew, which pushes the shifted rows of a buffered image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from protonn_edge.chain.activity import Activity
from protonn_edge.chain.integer_stage import IntArray
from protonn_edge.features.deskew import integers as deskew
from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.kernels.kernel import INPUTS_AT_ONCE, Cost, Feed, Kernel


@lru_cache(maxsize=8)
def most_moved_rows(image: CroppedImage) -> int:
    """Return the most rows that any slant shifts too far to be read in place.

    All slants are tried that the device's integers can represent.
    """
    rows, most = image.rows, 0
    middle = rows.side // 2
    centres = np.arange(-middle << deskew.CENTRE_BITS, (rows.side - middle) << deskew.CENTRE_BITS)
    for slope in range(-(1 << deskew.SLOPE_BITS), (1 << deskew.SLOPE_BITS) + 1):
        first = (slope * ((-middle << deskew.CENTRE_BITS) - centres)) >> deskew.CENTRE_BITS
        distinct = first[np.append(True, first[1:] != first[:-1])]  # they are monotonic
        _, moved = moved_rows(image, deskew.along_slope(distinct, slope, rows.side))
        most = max(most, int(moved.max()))
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


# Cycles: once, per row for the moments, per shifted row, and per pixel in one.
_CODE_BYTES = 900
_MOMENT_CYCLES = 1_820
_MOMENT_ROW_CYCLES = 94
_MOMENT_ZERO_CYCLES = 9
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
        return most_moved_rows(image) * image.columns.pixels

    def cost(self, feed: Feed | None, _: float, __: Activity) -> Cost:
        """Return its cost; the slants of images are unknown."""
        assert feed is not None
        rows, pixels, held = self.stage.image.rows, self.stage.n_inputs, self.held
        assert held is not None
        calls = self.core.call_cycles * _CALLS
        moments = _MOMENT_CYCLES + 2 * calls + (_MOMENT_ROW_CYCLES + calls) * rows.side
        moved = rows.pixels * (moved_row_cycles(self.stage.image) + calls)
        mean = (
            moments + _MOMENT_ZERO_CYCLES * pixels + _MOVED_ROWS_SHARE * moved + held.copied(feed)
        )
        return self._in_one_step(
            mean,
            (0, _CODE_BYTES),
            state=held.state(feed) + self.stage.image.columns.pixels,
            buffer=held.buffer(feed),
            called=held.called,
        )


def moved_row_cycles(image: CroppedImage) -> int:
    """Return the cycles of a row that is shifted too far to be read in place."""
    return _MOVED_ROW_CYCLES + _MOVED_PIXEL_CYCLES * image.columns.pixels


kernels = DeskewKernel.of
