"""Sums of gradients by direction over cells of an image, and their roots, as part of the model.

With p the pixels of the crop, 0 outside of it, a pixel's gradient is::

    gx = p[y, x + 1] - p[y, x - 1]          gy = p[y + 1, x] - p[y - 1, x]
    magnitude = max(|gx|, |gy|)             one byte
    diagonal  = 2 min(|gx|, |gy|) > magnitude

Its direction is one of 8. With sx = gx > 0 and sy = gy > 0, it is ``sx`` along the row, ``2 + 3
sy`` along the column (|gy| > |gx|), and ``3 + sx + 3 sy`` diagonally. 4 directions ignore the sign:
0 along the row, 1 along the column, and diagonally 3 if sx = sy, else 2.

Along an axis of n pixels and c cells, a pixel is *shared* by two cells if its centre is within a
sixth of a cell's width of their border; otherwise it belongs to one cell. For each axis along which
it is shared, its magnitude is halved, rounded down, and added to both cells: these are triangular
weights in steps of a half, which need no multiplication. On MNIST they are as accurate as exact
triangles; hard borders lose half a point of accuracy.

The image may be deskewed before; see `protonn_edge.features.deskew.integers`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.deskew import integers as deskewing
from protonn_edge.features.images import cropped_image as crop
from protonn_edge.features.images.pixel_stage import DERIVED, RowReader
from protonn_edge.model.formulas import Operand
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.model.integer_stage import IntArray, Range, check_holds
from protonn_edge.model.shapes import Shape, shape_text
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_choice, check_range

Bytes = NDArray[np.uint8]

CELL_LIMIT = 8  # maximum number of cells per side
DIRECTIONS = (4, 8)

SUM_MAXIMUM = 0xFFFF  # the largest sum


@dataclass(frozen=True)
class CellAxis(crop.CroppedAxis):
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
    def runs(self) -> tuple[tuple[int, int, bool], ...]:
        """The lengths of runs of consecutive pixels with the same place, and that place."""
        return tuple((len(list(some)), *place) for place, some in groupby(self.places))

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
class Cells(crop.CroppedImage):
    """Cells of the crop of an image.

    Raises `InputError` if a shape is larger than the one before it, an image has more than 32
    pixels a side, there are more cells than pixels along a side, or a sum would not fit 16 bits.
    """

    cells: Shape  # rows and columns of cells, up to 8 each
    directions: int = 8  # 4 or 8

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "cells", crop.checked_shape(self.cells))
        image, cropped = self.image_shape, self.cropped_shape
        check_range("side of the image", max(image), 1, deskewing.SIDE_LIMIT)
        cells = min(CELL_LIMIT, cropped[0]), min(CELL_LIMIT, cropped[1])
        fits = self.cells[0] <= cells[0] and self.cells[1] <= cells[1]
        check(fits, "cells", shape_text(self.cells), f"at most {shape_text(cells)}")
        check_choice("directions", self.directions, DIRECTIONS)
        most = int(self.most.max())
        check_range(f"sums of {shape_text(self.cells)} cells", most, 0, SUM_MAXIMUM)

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
        """Number of sums: one per cell and direction."""
        return self.cells[0] * self.cells[1] * self.directions

    @property
    def most(self) -> IntArray:
        """Upper bound of each sum, (D,): all magnitudes of the cell in one direction."""
        counted = BYTE_MAXIMUM >> self.halvings()
        cells = self.rows.members().T @ counted.astype(np.float32) @ self.columns.members()
        return np.repeat(cells.astype(np.int64), self.directions)

    def sums_of(self, x: Operand) -> Operand:
        """Return the sums (n, rows, columns, directions) of images of bytes (n, H W)."""
        (h, w), directions = self.cropped_shape, self.directions
        p = self.crop_of(x).op("Pad", [0, 1, 1] * 2)
        rows, columns = slice(1, h + 1), slice(1, w + 1)
        gx = p[rows, slice(2, w + 2)] - p[rows, slice(0, w)]
        gy = p[slice(2, h + 2), columns] - p[slice(0, h), columns]
        (along, ahead), (down, below) = ((each.op("Abs"), each > 0) for each in (gx, gy))
        largest, steep = along.op("Max", down), down > along
        if directions == 4:
            straight, slanting = steep, ahead.op("Equal", below).wide + 2
        else:
            straight, slanting = steep * (below * 3 + 2 - ahead) + ahead, ahead + below * 3 + 3
        diagonal = along.op("Min", down) * 2 > largest
        direction = straight + diagonal * (slanting - straight)
        each = np.arange(directions)[:, None, None]
        shared = (largest >> self.halvings()).op("Unsqueeze", [1])
        some = direction.op("Unsqueeze", [1]).op("Equal", each).wide * shared
        sums = x.constant(self.rows.members().T) @ (some @ self.columns.members())
        return sums.op("Transpose", perm=[0, 2, 3, 1])

    def sums(self, images: Bytes) -> NDArray[np.uint16]:
        """Return the sums (n, D) of images of bytes (n, H, W), in bytes, which is faster."""
        magnitudes, directions = gradients(self.cropped(images), self.directions)
        magnitudes >>= self.halvings()
        shape = (len(images), *self.cells, self.directions)
        sums = np.empty(shape, np.float32)  # exact: whole numbers below 2^16
        rows, columns = self.rows.members().T, self.columns.members()
        for direction in range(self.directions):
            some = (magnitudes * (directions == direction)).astype(np.float32)
            sums[..., direction] = rows @ (some @ columns)
        return sums.reshape(len(images), self.n_outputs).astype(np.uint16)

    def active(self, images: Bytes) -> NDArray[np.float64]:
        """Return the share of pixels with a gradient, summed over images (n, H, W).

        The four values, (4,), are for pixels that are in one cell, shared along the row, along the
        column, and along both; 0 without such pixels.
        """
        magnitudes, _ = gradients(self.cropped(images), self.directions)
        active = np.count_nonzero(magnitudes, axis=0)
        numbers = np.bincount(self.sharing().ravel(), minlength=4)
        counted = np.bincount(self.sharing().ravel(), active.ravel(), minlength=4)
        return counted / np.maximum(numbers, 1)

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


LEVELS = 256  # number of distinct sums after the shift
SHIFTS = range(1, 9)  # the range of the shift, in bits


ROOTS = np.sqrt(np.arange(LEVELS) + 0.5) * (np.arange(LEVELS) > 0)
"""The feature for each level: the root of the mean of its sums, and 0."""


@dataclass(frozen=True, eq=False)
class IntegerGradients(RowReader):
    """Maps pixels b to the roots of sums of gradients.

    ::

        v_i = sum of the magnitudes of gradients in cell and direction i    16 bits
        q_i = table[min(v_i >> shift, 255)]
    """

    kind: ClassVar[str] = "gradients"

    cells: Cells  # the cells of the image, which is not deskewed here
    shift: int  # shift of sums to the right, 1..8 bits
    # (256,): roots as a classifier's inputs, in ascending order; None before these are known
    table: Bytes | None = field(default=None, metadata=DERIVED)

    def __post_init__(self) -> None:
        """Refuse a table that is not in ascending order, for which `output` would be wrong."""
        if self.table is not None:
            fits = self.table.shape == (LEVELS,) and self.table.dtype == np.uint8
            fits = fits and bool((np.diff(self.table.astype(int)) >= 0).all())
            check_holds(fits, "an invalid table of roots", f"{LEVELS} bytes in ascending order")
        limits = f"{SHIFTS[0]} to {SHIFTS[-1]} bits"
        check_holds(self.shift in SHIFTS, f"sums shifted by {self.shift} bits", limits)

    @property
    def source(self) -> Cells:
        """The cells of the image."""
        return self.cells

    @property
    def n_inputs(self) -> int:
        """Pixels of the image."""
        return self.cells.n_features

    @property
    def n_outputs(self) -> int:
        """Roots."""
        return self.cells.n_outputs

    @property
    def output(self) -> Range:
        """The range of the roots."""
        assert self.table is not None
        most = self.table[levels(self.cells.most, self.shift)].astype(np.int64)
        return Range(np.full(self.n_outputs, self.table[0], np.int64), most)

    def formula(self, x: Operand) -> Operand:
        """Return the roots (n, D) of images of bytes (n, H W), as bytes of the table."""
        places = (self.cells.sums_of(x) >> self.shift).op("Min", LEVELS - 1)
        roots = x.constant(self.table).op("Gather", places)
        return roots.op("Reshape", [-1, self.n_outputs])

    def run(self, x: Array) -> Array:
        """Return the roots (n, D) of the formula, several times as fast.

        They are floats if there is no table.
        """
        images = x.reshape(-1, *self.cells.image_shape).astype(np.uint8)
        table: Array = ROOTS if self.table is None else self.table
        roots: Array = table[levels(self.cells.sums(images), self.shift)]
        return roots

    def ranged(self, statistics: InputStatistics) -> InputStatistics:
        """Return the statistics with one range, because one table converts all roots."""
        return statistics.with_one_range()

    def feeding(self, inputs: InputQuantizer) -> Self:
        """Return the stage whose table gives a classifier's inputs."""
        same = np.ptp(inputs.zero) == 0 and np.ptp(inputs.step) == 0
        check_holds(bool(same), "roots of sums on different scales", "roots on one scale")
        one = InputQuantizer(inputs.zero[:1], inputs.step[:1], inputs.maximum)
        return replace(self, table=one.quantize(ROOTS[:, None])[:, 0])

    def activity(self, x: Array) -> tuple[NDArray[np.float64], ...]:
        """Return the sum of the shares of pixels with a gradient, for each `Cells.sharing`."""
        return (self.cells.active(x.reshape(-1, *self.cells.image_shape).astype(np.uint8)),)


def levels(sums: Array, shift: int) -> Array:
    """Return the indices into the table for sums."""
    places: Array = np.minimum(sums >> shift, LEVELS - 1)
    return places
