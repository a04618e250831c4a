"""Sums of gradients by direction as part of the model; `cells` has their definition.

The image may be deskewed before; see `protonn_edge.features.deskew.deskew`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.activity import Sizes
from protonn_edge.chain.checks import Arrays, check_finite, check_type
from protonn_edge.chain.feature_stage import Facts, FeatureStage, Seen
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.chain.integer_stage import IntegerStage, Range, check_holds
from protonn_edge.errors import InputError
from protonn_edge.features.deskew.deskew import (
    BYTES,
    LARGEST_PIXEL,
    IntegerDeskew,
    PixelScale,
    deskewed,
)
from protonn_edge.features.gradients.cells import DIRECTIONS, POINTING, Bytes, Cells
from protonn_edge.features.images.cropped_image import shape_text

LEVELS = 256
"""Number of distinct sums after the shift."""

SHIFTS = range(1, 9)
"""The range of the shift, in bits."""


@dataclass(frozen=True, eq=False)
class IntegerGradients(IntegerStage):
    """Maps pixels b to the roots of sums of gradients.

    ::

        v_i = sum of the magnitudes of gradients in cell and direction i    16 bits
        q_i = table[min(v_i >> shift, 255)]

    See `cells` for cells, magnitudes and directions.
    """

    kind: ClassVar[str] = "gradients"

    cells: Cells  # the cells of the image, which is not deskewed here
    shift: int  # shift of sums to the right, 1..8 bits
    table: Bytes  # (256,): roots, in ascending order
    by_rows: bool = False  # whether the previous stage passes whole rows of pixels

    def __post_init__(self) -> None:
        """Refuse a table for which `output` would be wrong."""
        fits = self.table.shape == (LEVELS,) and self.table.dtype == np.uint8
        check_holds(fits and bool((np.diff(self.table.astype(int)) >= 0).all()), "roots that fall")
        check_holds(self.shift in SHIFTS, f"sums that are shifted by {self.shift} bits")

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
        most = self.table[levels(self.cells.most, self.shift)].astype(np.int64)
        return Range(np.full(self.n_outputs, self.table[0], np.int64), most)

    def run(self, x: NDArray[Any]) -> Bytes:
        """Return the roots (n, D) of images of bytes (n, H W)."""
        images = x.reshape(-1, *self.cells.image_shape).astype(np.uint8)
        roots: Bytes = self.table[levels(self.cells.sums(images), self.shift)]
        return roots

    def activity(self, x: NDArray[Any]) -> tuple[NDArray[np.float64], ...]:
        """Return the sum of the shares of pixels with a gradient, for each `Cells.sharing`."""
        return (self.cells.active(x.reshape(-1, *self.cells.image_shape).astype(np.uint8)),)


def levels(sums: NDArray[Any], shift: int) -> NDArray[Any]:
    """Return the indices into the table for sums."""
    places: NDArray[Any] = np.minimum(sums >> shift, LEVELS - 1)
    return places


_LARGE_SUMS = 1e-4  # the share that may exceed the table
_FITTED_IMAGES = 2_000

ROOTS = np.sqrt(np.arange(LEVELS) + 0.5) * (np.arange(LEVELS) > 0)
"""The feature for each level: the root of the mean of its sums, and 0."""


@dataclass(frozen=True)
class Gradients(Cells, FeatureStage):
    """Roots of sums of gradients of an image whose pixels are a point's features, row by row.

    It has the fields of `Cells`, too.

    Raises
    ------
    InputError
        See `Cells`; also if the shift is out of its range.
    """

    kind: ClassVar[str] = "gradients"
    ARRAYS: ClassVar[tuple[str, ...]] = ("gradients", "gradients_pixels")

    pixels: PixelScale = BYTES  # the conversion of pixels to bytes
    deskew: bool = False  # whether images are deskewed first
    shift: int = 1  # shift of sums to the right, 1..8 bits

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shift not in SHIFTS:
            raise InputError(
                f"sums of gradients are shifted by {self.shift} bits, {SHIFTS[0]} to {SHIFTS[-1]} "
                "are possible; train the model again"
            )

    def fitted(self, X: NDArray[Any]) -> Self:
        """Return the stage whose shifted sums cover those of images X (n, H W), n >= 1."""
        sums = self.sums(self._bytes_of(X[:_FITTED_IMAGES]))
        largest = int(np.quantile(sums, 1 - _LARGE_SUMS))
        beyond = largest.bit_length() - (LEVELS - 1).bit_length()
        return replace(self, shift=max(SHIFTS[0], beyond))

    @property
    def does(self) -> str:
        """What it does, in words."""
        return f"{'deskews images and ' if self.deskew else ''}sums their gradients"

    @property
    def scale(self) -> InputQuantizer:
        """The conversion of pixels to bytes, equal for all."""
        return self.pixels.quantizer()

    @property
    def activity_sizes(self) -> Sizes:
        """Shares of pixels with a gradient, by the way in which they are shared."""
        return {self.kind: (4,)}

    def features_of(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the roots (n, D) of images X (n, H W)."""
        features: NDArray[np.float64] = ROOTS[levels(self.sums(self._bytes_of(X)), self.shift)]
        return features

    def _bytes_of(self, X: NDArray[Any]) -> Bytes:
        """Return raw images (n, H W) as those that gradients are taken of, (n, H, W)."""
        images = self.pixels.to_bytes(X).reshape(-1, *self.image_shape)
        return deskewed(images, BYTES) if self.deskew else images

    def integer_stages(self, inputs: InputQuantizer) -> tuple[IntegerStage, ...]:
        """Return the stage of gradients, after the one that deskews, if any."""
        same = np.ptp(inputs.zero) == 0 and np.ptp(inputs.step) == 0
        check_holds(bool(same), "roots that become bytes in several ways")
        one = InputQuantizer(inputs.zero[:1], inputs.step[:1], inputs.maximum)
        table = one.quantize(ROOTS[:, None])[:, 0]
        if not self.deskew:
            return (IntegerGradients(self, self.shift, table),)
        cropped = replace(self, image_shape=self.cropped_shape, deskew=False)
        gradients = IntegerGradients(cropped, self.shift, table, by_rows=True)
        return IntegerDeskew(self), gradients

    def seen(self, x: NDArray[Any]) -> Seen:
        """Return the image with its cells, and the features of each as strokes by direction."""
        rows, columns = self.rows, self.columns
        image = self.cropped(self._bytes_of(x[None]))[0] / BYTE_MAXIMUM
        cell = np.array([columns.pixels / columns.cells, rows.pixels / rows.cells])
        places = np.indices(self.cells)[::-1].reshape(2, -1).T + 0.5
        features = self.apply(x[None]).reshape(len(places), self.directions, 1)
        towards = np.array(POINTING[self.directions], np.float64)
        towards /= np.hypot(*towards.T)[:, None]
        length = 0.48 * cell.min() / max(float(features.max()), 1.0)
        by = length * features * towards
        middles = np.broadcast_to((places * cell)[:, None], by.shape)
        both = self.directions == min(DIRECTIONS)  # these ignore the sign
        strokes = np.concatenate([middles - by if both else middles, by + by * both], axis=2)
        return Seen(
            image,
            tuple((cell[1] * np.arange(1, rows.cells)).tolist()),
            tuple((cell[0] * np.arange(1, columns.cells)).tolist()),
            strokes[features[..., 0] > 0].reshape(-1, 4),
            f"The {self.n_outputs:,} inputs of the classifier, {self.directions} in each of "
            f"{shape_text(self.cells)} cells: how much the image changes along each direction"
            f"{'' if both else ', where a line points to more ink'}; the longest line is the "
            "largest one.",
        )

    def to_arrays(self) -> Arrays:
        """Return the whole numbers, (9,), and the zero and the step of pixels, (2,)."""
        shapes = (*self.image_shape, *self.cropped_shape, *self.cells)
        whole = np.array([*shapes, self.directions, self.shift, self.deskew], np.int64)
        scale = np.array([self.pixels.zero, self.pixels.step], np.float64)
        return dict(zip(self.ARRAYS, (whole, scale), strict=True))

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self | None:
        """Return the stage of a model file's arrays, or None."""
        if not any(name in arrays for name in cls.ARRAYS):
            return None
        numbers, scale = (_checked_array(arrays, name) for name in cls.ARRAYS)
        height, width, *others = (int(number) for number in numbers)
        cropped, cells = (others[0], others[1]), (others[2], others[3])
        directions, shift, deskew = others[4:]
        if deskew not in (0, 1):
            raise InputError(
                f"array 'gradients' ends with {deskew}; it must be 0 or 1, whether images are "
                "deskewed; train the model again"
            )
        pixels = PixelScale(float(scale[0]), float(scale[1]))
        return cls((height, width), cropped, cells, directions, pixels, bool(deskew), shift)

    def describe(self, names: Sequence[str]) -> dict[str, Any]:  # noqa: ARG002  (pixels have none)
        """Return the shapes, the directions, and whether images are deskewed."""
        return {
            "image_shape": list(self.image_shape),
            "cropped_shape": list(self.cropped_shape),
            "cells": list(self.cells),
            "directions": self.directions,
            "deskewed": self.deskew,
        }

    def facts(self, names: Sequence[str]) -> Facts:  # noqa: ARG002  (pixels have none)
        """Return the size of the images, and their features."""
        cells = f"{self.directions} directions in {shape_text(self.cells)} cells"
        return (
            ("features", self.text(deskewed=self.deskew)),
            ("gradients D", f"{self.n_outputs:,}: {cells}"),
        )


_WANTED = {"gradients": ("i8", (9,)), "gradients_pixels": ("f8", (2,))}


def _checked_array(arrays: Arrays, name: str) -> NDArray[Any]:
    wanted, shape = _WANTED[name]
    if name not in arrays:
        raise InputError(f"array {name!r} is missing; train the model again")
    array = arrays[name]
    check_type(array, name, wanted)
    if array.shape != shape:
        raise InputError(
            f"array {name!r} has the shape {array.shape}; it must be a vector of {shape[0]} "
            "numbers; train the model again"
        )
    if wanted == "f8":
        check_finite(array, name)
        if array[1] == 0 or abs(array[0]) > LARGEST_PIXEL:
            raise InputError(
                f"array {name!r} says that pixels begin with {array[0]:g} and have steps of "
                f"{array[1]:g}, which is no scale; train the model again"
            )
    return array
