"""Averages over areas of an image, which may be deskewed first, as features."""

from __future__ import annotations

from dataclasses import replace

from protonn_edge.features.deskew.integers import IntegerDeskew
from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.features.images.pixel_scale import UNSCALED, PixelScale
from protonn_edge.features.pooling.areas import Areas
from protonn_edge.features.pooling.integers import IntegerAveragePooling
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.model.features import Features
from protonn_edge.model.point_format import PointFormat
from protonn_edge.model.shapes import Shape
from protonn_edge.system.arrays import Array


def average_pooling(
    image_shape: Shape,
    cropped_shape: Shape,
    shape: Shape,
    pixels: PixelScale = UNSCALED,
    *,
    deskew: bool = False,
) -> Features:
    """Return averages over areas of an image's crop; see `Areas`.

    - `pixels`: the conversion of raw pixels to bytes.
    - `deskew`: whether images, of up to 32 pixels a side, are deskewed first.
    """
    areas = Areas(image_shape, cropped_shape, shape)
    points = PointFormat(pixels.quantizer(), areas.image_shape)
    if not deskew:
        return Features(points, (IntegerAveragePooling(areas),))
    cropped = replace(areas, image_shape=areas.cropped_shape)
    image = CroppedImage(areas.image_shape, areas.cropped_shape)
    stages = IntegerDeskew(image), IntegerAveragePooling(cropped)
    return Features(points, stages)


def averages_of_windows(
    X: Array, window: Shape, cropped: Shape, shape: Shape, rate: float | None = None
) -> Features:
    """Return averages of the crop of windows, samples by channels, with bytes for each channel.

    X (n, samples * channels) has raw windows, by which the bytes of a channel are chosen.
    """
    scale = ChannelScale.of_windows(X, window).quantizer()
    points = PointFormat(scale, window, is_signal=True, rate=rate)
    return Features(points, (IntegerAveragePooling(Areas(window, cropped, shape)),))
