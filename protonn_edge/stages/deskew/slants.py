"""Bound the cycles of shifted rows and non-zero inputs, which no image has all at once.

A row that is shifted by more than the cropped margin takes longer, but pixels from outside the
image are 0. All slants are tried that the device's integers can have.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from protonn_edge.stages.average_pooling.areas import Areas, Axis
from protonn_edge.stages.cropped_image import CroppedImage
from protonn_edge.stages.deskew.deskew import CENTRE_BITS, SLOPE_BITS, along_slope

Int64 = NDArray[np.int64]


def most_deskewed(image: CroppedImage, moved_row: int, inputs: Int64) -> int:
    """Return the maximum cycles of shifted rows, minus those of the inputs that are 0 then.

    Parameters
    ----------
    image : CroppedImage
        The image to deskew.
    moved_row : int
        Cycles of a row that is not read in place.
    inputs : ndarray of shape (D,), int64
        Cycles that each average of the image saves if it is 0; (0,) without averages.
    """
    return _most_deskewed(image, moved_row, tuple(inputs.tolist()))


@lru_cache(maxsize=8)
def _most_deskewed(image: CroppedImage, moved_row: int, inputs: tuple[int, ...]) -> int:
    rows, columns = image.rows, image.columns
    bands: list[slice] = []
    if inputs and isinstance(image, Areas):
        left, right = _saved(image.columns, np.array(inputs, np.int64).reshape(image.shape))
        bands = _rows_of_bands(image.rows)
    middle = rows.side // 2
    centres = np.arange(-middle << CENTRE_BITS, (rows.side - middle) << CENTRE_BITS)
    most = 0
    for slope in range(-(1 << SLOPE_BITS), (1 << SLOPE_BITS) + 1):
        first = (slope * ((-middle << CENTRE_BITS) - centres)) >> CENTRE_BITS
        shifts = along_slope(np.unique(first), slope, rows.side)
        begin, moved = moved_rows(image, shifts)
        longer = moved * moved_row > most
        if not longer.any():
            continue
        begin, moved = begin[longer], moved[longer]
        before = np.clip(-begin, 0, columns.pixels)
        after = np.clip(begin + columns.pixels - columns.side, 0, columns.pixels)
        saved = np.zeros(len(begin), np.int64)
        for number, band in enumerate(bands):
            saved += left[number][before[:, band].min(axis=1)]
            saved += right[number][after[:, band].min(axis=1)]
        most = max(most, int((moved * moved_row - saved).max()))
    return most


def moved_rows(image: CroppedImage, shifts: Int64) -> tuple[Int64, Int64]:
    """Return the beginnings of the cropped rows, (n, h), and how many are shifted too far, (n,).

    `shifts` (n, H) says by how many pixels to the left each row of an image moves. A row that does
    not move too far is read in place.
    """
    rows, columns = image.rows, image.columns
    begin: Int64 = columns.first + shifts[:, rows.first : rows.first + rows.pixels]
    far = (begin < 0) | (begin > columns.side - columns.pixels)
    return begin, far.sum(axis=1)


def _rows_of_bands(rows: Axis) -> list[slice]:
    """Return the cropped rows that each row of areas overlaps."""
    height, pixel = rows.output_units, rows.pixel_units
    return [
        slice(band * height // pixel, -(-(band + 1) * height // pixel))
        for band in range(rows.outputs)
    ]


def _saved(columns: Axis, inputs: Int64) -> tuple[Int64, Int64]:
    """Return the cycles (h, 0..w pixels) of each row's areas that 0s from the left cover whole.

    And those of 0s from the right.
    """
    pixels = np.arange(columns.pixels + 1)
    covered = pixels * columns.pixel_units // columns.output_units
    from_left = np.pad(np.cumsum(inputs, axis=1), ((0, 0), (1, 0)))
    from_right = np.pad(np.cumsum(inputs[:, ::-1], axis=1), ((0, 0), (1, 0)))
    return from_left[:, covered], from_right[:, covered]
