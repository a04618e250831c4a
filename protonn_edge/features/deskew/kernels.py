"""The kernel of deskew, which pushes the shifted rows of an image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import ClassVar

import numpy as np

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.features.deskew import integers as deskew
from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.model.integer_stage import IntArray


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


_MOVED_ROWS_SHARE = 0.15  # of handwritten digits

# Functions for the slant, besides two divisions: products and shifts of 32 bits; and for each row
# that is summed, and that is moved.
_SLANT_FUNCTIONS, _SUMMED_FUNCTIONS, _MOVED_FUNCTIONS = 14, 2.5, 2

# As in `templates/c/deskew/deskew.j2`.
_SUM_ROW = Listing(
    """
    pixel: ld    %[value], %a[pixel]+
        and   %[value], %[value]
        breq  next
        add   %[low], %[value]
        adc   %[high], %[zero]
        mul   %[value], %[left]
        add   %[moment_low], r0
        adc   %[moment_high], r1
        adc   %[moment_top], %[zero]
    next: dec   %[left]
        brne  pixel
    """
)


_PIXEL_CYCLES = 11  # of the sums of a row


@dataclass(frozen=True, eq=False)
class DeskewKernel(Kernel):
    """Reads the image in place."""

    reference: ClassVar[ModuleType] = deskew

    stage: deskew.IntegerDeskew
    name: str = "held"

    @property
    def most_moved(self) -> int:
        """The maximum number of pixels in rows that are shifted too far to be read in place."""
        image = self.stage.image
        return most_moved_rows(image) * image.columns.pixels

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The sums of a row."""
        return (_SUM_ROW,)

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost; the slants of images are unknown."""
        image, pixels = self.stage.image, self.stage.n_inputs
        summed = _PIXEL_CYCLES * pixels
        moved = _MOVED_ROWS_SHARE * image.rows.pixels
        functions = _SLANT_FUNCTIONS + _SUMMED_FUNCTIONS * image.rows.side
        functions += _MOVED_FUNCTIONS * moved
        around = compiled.calls(functions, self.core) + 2 * compiled.DIVISION_CYCLES
        around += compiled.TURN_CYCLES * moved * image.columns.pixels
        return self._with_code(
            summed + around,
            0,
            state=image.columns.pixels,  # a row that is shifted too far
        )


def moved_row_cycles(image: CroppedImage) -> int:
    """Return the cycles of a row that is shifted too far to be read in place."""
    around = _MOVED_FUNCTIONS * compiled.CALL_CYCLES
    return around + compiled.TURN_CYCLES * image.columns.pixels


kernels = DeskewKernel.of
