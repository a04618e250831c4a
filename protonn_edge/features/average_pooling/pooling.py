"""Average pooling as part of the model: a smaller image instead of the original one.

The image may be deskewed before; see `protonn_edge.features.deskew.deskew`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import Arrays, check_type
from protonn_edge.chain.feature_stage import Facts, FeatureStage, Shape
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.chain.integer_stage import IntegerStage
from protonn_edge.errors import InputError
from protonn_edge.features.average_pooling.areas import Areas
from protonn_edge.features.average_pooling.integers import IntegerAveragePooling
from protonn_edge.features.deskew.deskew import (
    SIDE_LIMIT,
    PixelScale,
    deskewed,
    scale_from_arrays,
    scale_to_arrays,
)
from protonn_edge.features.deskew.integers import IntegerDeskew
from protonn_edge.features.images.cropped_image import shape_text

Int64 = NDArray[np.int64]
Mask = NDArray[np.bool_]


def plain_images(stage: IntegerAveragePooling, image: Areas, x: NDArray[Any]) -> NDArray[np.uint8]:
    """Return images (n, H W) of uniform areas with the averages x, (n, D), and 0 around them.

    - `stage`: the stage that averages the cropped part.
    - `image`: the same areas in the whole image.
    """
    rows, columns = image.rows, image.columns
    last, right = rows.first + rows.pixels, columns.first + columns.pixels
    images = np.zeros((len(x), rows.side, columns.side), np.uint8)
    inside = np.ones((rows.pixels, columns.pixels), np.bool_)
    images[:, rows.first : last, columns.first : right] = pixels_averaging(stage, x, inside)
    return images.reshape(len(x), -1)


def pixels_averaging(stage: IntegerAveragePooling, x: NDArray[Any], inside: Mask) -> Int64:
    """Return pixels (n, h, w) with approximately the averages x, and 0 where `inside` is false.

    Areas of whole pixels have them exactly, if a byte suffices.
    """
    areas = stage.pooling
    area, shares = _area_of(areas), shares_of(areas, inside)
    sums = np.rint(x * ((1 << 16) / stage.multiplier))
    wanted = (sums / np.maximum(shares * areas.area, 1))[:, area]
    ordered = np.argsort(np.where(inside, area, areas.n_outputs), axis=None, kind="stable")
    sorted_areas = area.ravel()[ordered]
    place = np.empty(area.size)
    place[ordered] = np.arange(area.size) - np.searchsorted(
        sorted_areas[: inside.sum()], sorted_areas
    )
    count = np.bincount(area[inside], minlength=areas.n_outputs)[area]
    more = place.reshape(area.shape) < np.rint((wanted - np.floor(wanted)) * count)
    pixels: Int64 = np.clip(np.floor(wanted) + more, 0, BYTE_MAXIMUM).astype(np.int64)
    return np.where(inside, pixels, 0)


def shares_of(areas: Areas, inside: Mask) -> NDArray[np.float64]:
    """Return the share of each area, (D,), covered by the pixels (h, w) inside the image."""
    area = _area_of(areas)
    every = np.bincount(area.ravel(), minlength=areas.n_outputs)
    counted = np.bincount(area[inside], minlength=areas.n_outputs)
    shares: NDArray[np.float64] = counted / every
    return shares


def _area_of(areas: Areas) -> Int64:
    """Return the number of the area, (h, w), in which each cropped pixel begins."""
    rows, columns = areas.rows, areas.columns
    y = np.arange(rows.pixels) * rows.pixel_units // rows.output_units
    x = np.arange(columns.pixels) * columns.pixel_units // columns.output_units
    numbers: Int64 = y[:, None] * columns.outputs + x
    return numbers


_SIDE_LIMIT = 65_535  # of a file


@dataclass(frozen=True)
class AveragePooling(Areas, FeatureStage):
    """Averages over areas of an image whose pixels are a point's features, row by row.

    It has the fields of `Areas`, too.

    Raises `InputError` as `Areas`, or if an image to be deskewed has a side of more than 32 pixels.
    """

    kind: ClassVar[str] = "average_pooling"
    ARRAYS: ClassVar[tuple[str, ...]] = ("reduction_shapes", "deskewed")
    ABSENT: ClassVar[Arrays] = {
        "reduction_shapes": np.empty((0, 2), dtype=np.int64),
        **scale_to_arrays(None),
    }

    # the conversion of pixels to bytes, if images are deskewed first; see
    # `protonn_edge.features.deskew.deskew`
    deskewed: PixelScale | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.deskewed is not None and max(self.image_shape) > SIDE_LIMIT:
            raise InputError(
                f"an image of {shape_text(self.image_shape)} is to be deskewed, which is done "
                f"up to {SIDE_LIMIT} pixels a side; leave deskew out, or give smaller images"
            )

    @property
    def does(self) -> str:
        """What it does, in words."""
        return "pools images" if self.deskewed is None else "deskews and pools images"

    @property
    def scale(self) -> None:
        """None: averages have the unit and the range of pixels."""

    @property
    def drawn_shape(self) -> Shape:
        """The shape of the image."""
        return self.image_shape

    @property
    def matrix(self) -> NDArray[np.float64] | None:
        """The matrix of averages, (D, pixels); None for deskewed images."""
        return None if self.deskewed else self.apply(np.eye(self.n_features)).T

    def apply(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the averages, (n, h w), of images X, (n, H W): float32 for float32, else float64.

        Sums are computed in float64, exactly for bytes, in chunks of bounded memory.
        """
        averages = np.empty(
            (len(X), self.n_outputs), np.float32 if X.dtype == np.float32 else np.float64
        )
        for rows, images in self.chunks(X):
            straight = images if self.deskewed is None else deskewed(images, self.deskewed)
            averages[rows] = self.sums_of(straight) / self.area
        return averages

    def integer_stages(self, inputs: InputQuantizer) -> tuple[IntegerStage, ...]:
        """Return the stage that averages, after the one that deskews, if any."""
        if self.deskewed is None:
            return (IntegerAveragePooling(self, inputs.maximum),)
        return IntegerDeskew(self), self.averaging(inputs)

    def averaging(self, inputs: InputQuantizer) -> IntegerAveragePooling:
        """Return the stage that averages the cropped part, which it receives in whole rows."""
        cropped = replace(self, image_shape=self.cropped_shape, deskewed=None)
        return IntegerAveragePooling(cropped, inputs.maximum, by_rows=True)

    def invert(self, x: NDArray[Any], inputs: InputQuantizer) -> NDArray[np.uint8]:
        """Return images of uniform areas with the averages x."""
        return plain_images(self.averaging(inputs), self, x)

    def to_arrays(self) -> Arrays:
        """Return the shapes, (3, 2), and the arrays of `deskew`."""
        shapes = np.array((self.image_shape, self.cropped_shape, self.shape), np.int64)
        return {"reduction_shapes": shapes, **scale_to_arrays(self.deskewed)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self | None:
        """Return the pooling of a model file's arrays, or None."""
        array = arrays["reduction_shapes"]
        check_type(array, "reduction_shapes", "i8")
        scale = scale_from_arrays(arrays)
        if array.shape == (0, 2):
            return None
        if array.shape != (3, 2) or array.min() < 1 or array.max() > _SIDE_LIMIT:
            raise InputError(
                f"array 'reduction_shapes' has the shape {array.shape}; it must be three rows of a "
                f"height and a width, each 1 to {_SIDE_LIMIT:,}; train the model again"
            )
        image, cropped, pooled = ((int(height), int(width)) for height, width in array)
        return cls(image, cropped, pooled, scale)

    def describe(self, names: Sequence[str]) -> dict[str, Any]:  # noqa: ARG002  (pixels have none)
        """Return the shapes, and whether images are deskewed."""
        return {
            "image_shape": list(self.image_shape),
            "cropped_shape": list(self.cropped_shape),
            "reduced_shape": list(self.shape),
            "deskewed": self.deskewed is not None,
        }

    def facts(self, names: Sequence[str]) -> Facts:  # noqa: ARG002  (pixels have none)
        """Return the sizes of the images before and after it."""
        image, cropped = shape_text(self.image_shape), shape_text(self.cropped_shape)
        middle = "" if self.deskewed is None else ", deskewed"
        middle += f", of which {cropped} in the middle" if cropped != image else ""
        return (
            ("features", f"{self.n_features:,}: {image} pixels{middle}"),
            ("averages D", f"{self.n_outputs:,}: {shape_text(self.shape)}"),
        )
