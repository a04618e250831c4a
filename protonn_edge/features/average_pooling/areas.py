"""Areas of an image whose averages make a smaller image.

A device that receives a whole image of bytes can average areas of pixels as they arrive and project
the averages. The projection, which takes most of the flash, then only has a row per average. A
signal is an image of height 1.

Along an axis with n pixels and k outputs, with g their greatest common divisor, a pixel is k/g
units wide and an output n/g. The weight of a pixel in an output is their overlap in units, so all
weights are integers, and no pixel overlaps more than two outputs of an axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.errors import InputError
from protonn_edge.features.images.cropped_image import (
    CroppedAxis,
    CroppedImage,
    Shape,
    check_within,
    checked_shape,
    shape_text,
)

_CHUNK_BYTES = 8 * 2**20
_AREA_LIMIT = 0xFFFF // BYTE_MAXIMUM  # 257: a sum of bytes then fits 16 bits
_PIXEL_LIMIT = 65_535
_SPAN_LIMIT = 255  # units of an axis must fit a byte
_SIDES_NAMED = 6


@dataclass(frozen=True)
class Axis(CroppedAxis):
    """Pixels and outputs along one axis."""

    outputs: int  # outputs for the cropped pixels, 1..pixels

    @property
    def pixel_units(self) -> int:
        """Width of a pixel in units."""
        return self.outputs // math.gcd(self.pixels, self.outputs)

    @property
    def output_units(self) -> int:
        """Width of an output in units, at least that of a pixel."""
        return self.pixels // math.gcd(self.pixels, self.outputs)

    def weights(self) -> NDArray[np.int64]:
        """Return the overlaps of outputs and pixels in units, over one of the g equal periods.

        Shape (k/g, n/g), the outputs' numbers first.
        """
        pixel = np.arange(self.output_units) * self.pixel_units
        output = np.arange(self.pixel_units)[:, None] * self.output_units
        ends = np.minimum(pixel + self.pixel_units, output + self.output_units)
        overlap: NDArray[np.int64] = np.maximum(ends - np.maximum(pixel, output), 0)
        return overlap


@dataclass(frozen=True)
class Areas(CroppedImage):
    """Areas of the cropped part of an image.

    Raises `InputError` if a shape is larger than the one before it, the image has more than 65,535
    pixels, or the sums of bytes would not fit 16 bits.
    """

    shape: Shape  # height and width of the resulting image

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "shape", checked_shape(self.shape))
        check_within(self.shape, self.cropped_shape, "an image cannot be pooled to")
        if self.n_features > _PIXEL_LIMIT:
            raise InputError(
                f"an image of {shape_text(self.image_shape)} has {self.n_features:,} pixels, "
                f"generated code counts up to {_PIXEL_LIMIT:,}; give smaller images"
            )
        self._check_area()

    @property
    def rows(self) -> Axis:
        """The vertical axis."""
        return Axis(self.image_shape[0], self.cropped_shape[0], self.shape[0])

    @property
    def columns(self) -> Axis:
        """The horizontal axis."""
        return Axis(self.image_shape[1], self.cropped_shape[1], self.shape[1])

    @property
    def area(self) -> int:
        """The sum of the weights of an output, 2..257."""
        return self.rows.output_units * self.columns.output_units

    @property
    def n_outputs(self) -> int:
        """The number of averages."""
        return self.shape[0] * self.shape[1]

    def sums(self, Q: NDArray[np.uint8]) -> NDArray[np.uint16]:
        """Return the weighted sums, (n, h w), of images of bytes, (n, H W); all fit 16 bits."""
        result = np.empty((len(Q), self.n_outputs), np.uint16)
        for rows, images in self.chunks(Q):
            result[rows] = self.sums_of(images)
        return result

    def chunks(self, X: NDArray[Any]) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield chunks of rows with their images, (n, H, W)."""
        at_once = max(1, _CHUNK_BYTES // (8 * self.n_features))
        for start in range(0, len(X), at_once):
            rows = slice(start, start + at_once)
            yield rows, X[rows].reshape(-1, *self.image_shape)

    def sums_of(self, images: NDArray[Any]) -> NDArray[np.float64]:
        """Return the weighted sums, (n, h w), of images (n, H, W), exact for bytes."""
        vertical = self.rows.weights().astype(np.float64)
        horizontal = self.columns.weights().T.astype(np.float64)
        periods = self.cropped(images).astype(np.float64)
        lines = periods.reshape(-1, len(horizontal)) @ horizontal
        columns = lines.reshape(-1, vertical.shape[1], self.shape[1])
        return (vertical @ columns).reshape(-1, self.n_outputs)

    def _check_area(self) -> None:
        spans = self.rows.output_units, self.columns.output_units
        if 2 <= self.area <= _AREA_LIMIT and max(spans) <= _SPAN_LIMIT:
            return
        reason = (
            "averages nothing" if self.area < 2 else "has averages that 16 bits cannot sum exactly"
        )
        raise InputError(
            f"average pooling of {shape_text(self.cropped_shape)} to {shape_text(self.shape)} "
            f"{reason}; {_advice(self.cropped_shape, self.shape)}"
        )


def _advice(cropped: Shape, shape: Shape) -> str:
    """Return the sizes closest to `shape` with which the sums are short enough."""
    height, width = cropped
    near: list[tuple[int, Shape]] = []
    for rows in _simple_outputs(height):
        for columns in _simple_outputs(width):
            area = (height // math.gcd(height, rows)) * (width // math.gcd(width, columns))
            if 2 <= area <= _AREA_LIMIT:
                distance = abs(rows - shape[0]) * width + abs(columns - shape[1]) * height
                near.append((distance, (rows, columns)))
    if not near:
        return "crop the image to sides that have common divisors with those it becomes"
    nearest = [shape_text(found) for _, found in sorted(near)[:_SIDES_NAMED]]
    return f"try {' or '.join(nearest)}"


def _simple_outputs(pixels: int) -> list[int]:
    """Return the numbers of outputs with few units: multiples of ``pixels / span``."""
    spans = [span for span in range(1, _SPAN_LIMIT + 1) if pixels % span == 0]
    return sorted({pixels // span * units for span in spans for units in range(1, span + 1)})
