"""An image, with a point's features as pixels, row by row, and its central crop.

A signal is an image of height 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protonn_edge.model.formulas import Operand
from protonn_edge.model.shapes import Shape, shape_text
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check


@dataclass(frozen=True)
class CroppedAxis:
    """The crop of one axis."""

    side: int  # pixels of the image along the axis
    pixels: int  # pixels of the crop, in the middle

    @property
    def first(self) -> int:
        """The first pixel of the crop."""
        return (self.side - self.pixels) // 2

    @property
    def counted(self) -> slice:
        """The slice of the crop."""
        return slice(self.first, self.first + self.pixels)


@dataclass(frozen=True)
class CroppedImage:
    """The shapes of an image and of its crop.

    Raises `InputError` if a shape is not two whole numbers above 0, or the crop is larger than the
    image.
    """

    image_shape: Shape  # height and width of the image
    cropped_shape: Shape  # height and width of the crop

    def __post_init__(self) -> None:
        for name in ("image_shape", "cropped_shape"):
            object.__setattr__(self, name, checked_shape(getattr(self, name)))
        check_within(self.cropped_shape, self.image_shape, "cropped")

    @property
    def rows(self) -> CroppedAxis:
        """The vertical axis."""
        return CroppedAxis(self.image_shape[0], self.cropped_shape[0])

    @property
    def columns(self) -> CroppedAxis:
        """The horizontal axis."""
        return CroppedAxis(self.image_shape[1], self.cropped_shape[1])

    @property
    def n_features(self) -> int:
        """Pixels of the whole image."""
        return self.image_shape[0] * self.image_shape[1]

    @property
    def is_cropped(self) -> bool:
        """Whether the crop leaves out pixels of the image."""
        return self.cropped_shape != self.image_shape

    def cropped(self, images: Array) -> Array:
        """Return the crop (n, h, w) of images (n, H, W), a view."""
        return images[:, self.rows.counted, self.columns.counted]

    def crop_of(self, x: Operand) -> Operand:
        """Return the crop (n, h, w) of images (n, H W), in a formula."""
        return x.op("Reshape", [-1, *self.image_shape])[self.rows.counted, self.columns.counted]


def checked_shape(shape: object) -> Shape:
    """Return a height and a width as two int, each at least 1; refuse anything else."""
    sides = shape if isinstance(shape, tuple) and len(shape) == 2 else (0, 0)
    whole = all(isinstance(side, int | np.integer) and side > 0 for side in sides)
    check(whole, "shape", repr(shape), "two whole numbers above 0, such as (16, 16)")
    return int(sides[0]), int(sides[1])


def check_within(smaller: Shape, larger: Shape, verb: str) -> None:
    """Refuse a shape with a side longer than the other's; `verb` is, for example, "cropped"."""
    fits = smaller[0] <= larger[0] and smaller[1] <= larger[1]
    check(fits, f"{verb} shape", shape_text(smaller), f"at most {shape_text(larger)}")
