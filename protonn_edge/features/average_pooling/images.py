"""Construct images for given averages, to feed a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.features.average_pooling.areas import Areas
from protonn_edge.features.average_pooling.integers import IntegerAveragePooling

Int64 = NDArray[np.int64]
Mask = NDArray[np.bool_]


def plain_images(stage: IntegerAveragePooling, image: Areas, x: NDArray[Any]) -> NDArray[np.uint8]:
    """Return images (n, H W) of uniform areas with the averages x, (n, D), and 0 around them.

    Parameters
    ----------
    stage : IntegerAveragePooling
        The stage that averages the cropped part.
    image : Areas
        The same areas in the whole image.
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
