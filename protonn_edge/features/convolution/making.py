"""Convolution and pooling layers as features: a network without its last layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from protonn_edge.features.images.image_rows import ImageStage, largest
from protonn_edge.features.images.pixel_scale import UNSCALED, PixelScale
from protonn_edge.features.pooling.integers import IntegerAveragePooling
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.model.features import Features
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.point_format import PointFormat
from protonn_edge.system.errors import InvalidValue


def layered(
    layers: Sequence[ImageStage],
    averages: IntegerAveragePooling | None = None,
    pixels: PixelScale | ChannelScale = UNSCALED,
    rate: float | None = None,
) -> Features:
    """Return layers of an image, which average pooling may first make smaller, as features.

    - `pixels`: the conversion of raw pixels or samples to bytes.
    - `rate`: samples per second of a channel of a window.

    An image one pixel wide is a window: its rows are samples of all channels. Raises `InputError`
    if the layers do not fit together.
    """
    if not layers:
        raise InvalidValue("convolution layers", "none", "give at least one")
    first = layers[0]
    scale = pixels.quantizer(BYTE_MAXIMUM if averages else largest(first, "input_maximum"))
    height, width, channels = first.shape
    if averages is not None:
        height, width = averages.pooling.image_shape
        height, width, channels = (height, width, 1) if channels == 1 else (height, 1, width)
    is_signal = width == 1 < height
    shape = (height, channels) if is_signal else (height, width, *([channels] * (channels > 1)))
    if is_signal and len(scale.zero) == 1:
        zero, step = (np.resize(each, channels) for each in (scale.zero, scale.step))
        scale = replace(scale, zero=zero, step=step)
    points = PointFormat(scale, shape, is_signal, rate)
    return Features(points, (*(() if averages is None else (averages,)), *layers))


def layers_of(features: Features) -> tuple[ImageStage, ...]:
    """Return the layers of an image's features, after average pooling."""
    return tuple(each for each in features.stages if isinstance(each, ImageStage))
