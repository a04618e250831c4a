"""Cells of an image, and their sums of gradients by direction.

With p the pixels of the crop, 0 outside of it, a pixel's gradient is::

    gx = p[y, x + 1] - p[y, x - 1]          gy = p[y + 1, x] - p[y - 1, x]
    magnitude = max(|gx|, |gy|)             one byte
    diagonal  = 2 min(|gx|, |gy|) > magnitude

Its direction is one of 8, with sx = gx > 0 and sy = gy > 0: ``sx`` if it is along the row,
``2 + 3 sy`` if it is along the column (|gy| > |gx|), ``3 + sx + 3 sy`` if it is diagonal. With 4
directions, which ignore the sign, these are 0, 1, and 2 or, if sx = sy, 3.

Along an axis of n pixels and c cells, a pixel is *shared* by two cells if its centre is within a
sixth of a cell's width of their border; otherwise it belongs to one cell. For each axis along which
it is shared, half of its magnitude, rounded down, is added to both cells: triangular weights in
steps of a half, which need no product. On MNIST that is as accurate as exact triangles, while hard
borders lose half a point.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.chain.integer_stage import IntArray
from protonn_edge.errors import InputError
from protonn_edge.features.deskew.deskew import SIDE_LIMIT
from protonn_edge.features.images.cropped_image import (
    CroppedAxis,
    CroppedImage,
    Shape,
    checked_shape,
    shape_text,
)

Bytes = NDArray[np.uint8]

CELL_LIMIT = 8
"""Maximum number of cells per side."""

DIRECTIONS = (4, 8)

POINTING = {
    4: ((1, 0), (0, 1), (1, -1), (1, 1)),
    8: ((-1, 0), (1, 0), (0, -1), (-1, -1), (1, -1), (0, 1), (-1, 1), (1, 1)),
}
"""The vector (x, y) of each direction; with 4 directions, or its opposite."""

SUM_MAXIMUM = 0xFFFF
"""The largest sum."""


@dataclass(frozen=True)
class PlaceRun:
    """Consecutive pixels of a line that are added to the same cells."""

    pixels: int  # their number
    cell: int  # their cell, or the first one of two
    shared: bool  # whether they are also added to the next cell


@dataclass(frozen=True)
class CellAxis(CroppedAxis):
    """Pixels and cells along one axis."""

    cells: int  # the number of cells

    @property
    def places(self) -> tuple[tuple[int, bool], ...]:
        """The cell of each cropped pixel, and whether it is shared with the next one."""
        n, c = self.pixels, self.cells
        places = []
        for pixel in range(n):
            centre = (2 * pixel + 1) * c  # in units of 2n to a cell
            border = (centre + n) // (2 * n)
            shared = 0 < border < c and 3 * abs(centre - 2 * n * border) <= n
            places.append((border - 1 if shared else centre // (2 * n), shared))
        return tuple(places)

    @property
    def runs(self) -> tuple[PlaceRun, ...]:
        """The cells of pixels as runs of pixels."""
        return tuple(PlaceRun(len(list(some)), *place) for place, some in groupby(self.places))

    def members(self) -> NDArray[np.float32]:
        """Return 1 where a pixel is added to a cell, (pixels, cells)."""
        counts = np.zeros((self.pixels, self.cells), np.float32)
        for pixel, (cell, shared) in enumerate(self.places):
            counts[pixel, cell : cell + 1 + shared] = 1
        return counts

    def halvings(self) -> Bytes:
        """Return the number of halvings of a pixel's magnitude, 0 or 1, (pixels,)."""
        return np.array([shared for _, shared in self.places], np.uint8)


@dataclass(frozen=True)
class Cells(CroppedImage):
    """Cells of the crop of an image.

    Raises `InputError` if a shape is larger than the one before it, an image has more than 32
    pixels a side, there are more cells than pixels along a side, or a sum would not fit 16 bits.
    """

    cells: Shape  # rows and columns of cells, up to 8 each
    directions: int = 8  # 4 or 8

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "cells", checked_shape(self.cells))
        image, cropped = self.image_shape, self.cropped_shape
        if max(image) > SIDE_LIMIT:
            raise InputError(
                f"gradients are taken of images up to {SIDE_LIMIT} pixels a side, these have "
                f"{shape_text(image)}; give smaller images"
            )
        height, width = (min(CELL_LIMIT, side) for side in cropped)
        if self.cells[0] > height or self.cells[1] > width:
            raise InputError(
                f"{shape_text(cropped)} pixels have up to {shape_text((height, width))} cells, "
                f"{shape_text(self.cells)} are asked for; give fewer"
            )
        if self.directions not in DIRECTIONS:
            raise InputError(
                f"gradients have 4 or 8 directions, {self.directions!r} are asked for; give one "
                "of the two"
            )
        most = int(self.most.max())
        if most > SUM_MAXIMUM:
            raise InputError(
                f"a cell of {shape_text(cropped)} pixels in {shape_text(self.cells)} cells has a "
                f"sum of up to {most:,}, 16 bits hold {SUM_MAXIMUM:,}; give more cells"
            )

    @property
    def rows(self) -> CellAxis:
        """The vertical axis."""
        return CellAxis(self.image_shape[0], self.cropped_shape[0], self.cells[0])

    @property
    def columns(self) -> CellAxis:
        """The horizontal axis."""
        return CellAxis(self.image_shape[1], self.cropped_shape[1], self.cells[1])

    @property
    def n_outputs(self) -> int:
        """Sums: of each cell, row by row, all directions."""
        return self.cells[0] * self.cells[1] * self.directions

    @property
    def most(self) -> IntArray:
        """Upper bound of each sum, (D,): all magnitudes of a cell in one direction."""
        counted = BYTE_MAXIMUM >> self.halvings()
        cells = self.rows.members().T @ counted.astype(np.float32) @ self.columns.members()
        return np.repeat(cells.astype(np.int64), self.directions)

    def sums(self, images: Bytes) -> NDArray[np.uint16]:
        """Return the sums (n, D) of images of bytes (n, H, W); all fit 16 bits."""
        magnitudes, directions = gradients(self.cropped(images), self.directions)
        magnitudes >>= self.halvings()
        shape = (len(images), *self.cells, self.directions)
        sums = np.empty(shape, np.float32)  # exact: whole numbers below 2^16
        rows, columns = self.rows.members().T, self.columns.members()
        for direction in range(self.directions):
            some = (magnitudes * (directions == direction)).astype(np.float32)
            sums[..., direction] = rows @ (some @ columns)
        return sums.reshape(len(images), -1).astype(np.uint16)

    def active(self, images: Bytes) -> NDArray[np.float64]:
        """Return the share of pixels with a gradient, summed over images (n, H, W).

        One value each, (4,), for pixels of one cell, shared along the row, along the column, and
        along both; 0 without such pixels.
        """
        magnitudes, _ = gradients(self.cropped(images), self.directions)
        active = np.count_nonzero(magnitudes, axis=0)
        numbers = np.bincount(self.sharing().ravel(), minlength=4)
        counted = np.bincount(self.sharing().ravel(), active.ravel(), minlength=4)
        shares: NDArray[np.float64] = counted / np.maximum(numbers, 1)
        return shares

    def sharing(self) -> Bytes:
        """Return 1 for each pixel shared along the row, + 2 along the column, (h, w)."""
        return 2 * self.rows.halvings()[:, None] + self.columns.halvings()

    def halvings(self) -> Bytes:
        """Return the number of halvings of the magnitude of each cropped pixel, (h, w)."""
        return self.rows.halvings()[:, None] + self.columns.halvings()


def gradients(images: Bytes, directions: int) -> tuple[Bytes, Bytes]:
    """Return magnitudes and directions, each (n, h, w) uint8, of images of bytes (n, h, w)."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    along, ahead = _difference(padded[:, 1:-1, 2:], padded[:, 1:-1, :-2])
    down, below = _difference(padded[:, 2:, 1:-1], padded[:, :-2, 1:-1])
    largest, least = np.maximum(along, down), np.minimum(along, down)
    diagonal = largest - least < least
    if directions == 4:
        straight, slanting = (down > along).view(np.uint8), 2 + (ahead == below)
    else:
        straight = np.where(down > along, 2 + 3 * below, ahead)
        slanting = 3 + ahead + 3 * below
    return largest, np.where(diagonal, slanting, straight).astype(np.uint8)


def _difference(one: Bytes, other: Bytes) -> tuple[Bytes, Bytes]:
    """Return the magnitude of a difference of bytes, and 1 if it is positive, else 0."""
    above = one > other
    return np.where(above, one - other, other - one), above.view(np.uint8)
