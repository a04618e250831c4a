"""Students: networks whose last layer gives the weights of basis images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from protonn_edge.chain.feature_stage import Shape
from protonn_edge.errors import InputError
from protonn_edge.features.convolution.integers import SIDES
from protonn_edge.features.convolution.train.layers import Layer, Limit, Normalization
from protonn_edge.features.convolution.train.network import layers_of
from protonn_edge.features.convolution.train.notation import (
    MOST_CHANNELS,
    ConvolutionLayout,
    Layout,
    PoolingLayout,
    read_network,
    shapes_of,
)
from protonn_edge.kinds.basis_images.train.head import LARGEST_VALUE

_FIRST_DEVIATION = LARGEST_VALUE / 4  # of a weight, which is 0 on average
_TEACHERS = 4  # times as many channels


def student_layouts(layouts: tuple[Layout, ...], shape: Shape, weights: int) -> tuple[Layout, ...]:
    """Return layers with one behind that gives so many weights.

    Its kernels see all that is left of the image; where none is of that size, averages of each
    channel come first.

    Raises `InputError` if there are more weights than channels that a layer can have, or nothing is
    left of the image.
    """
    if weights > MOST_CHANNELS:
        raise InputError(
            f"basis images have {weights} weights, but a layer has at most {MOST_CHANNELS} "
            "channels; use fewer images or parts"
        )
    height, width, _ = list(shapes_of(layouts, shape))[-1]
    if height == width and height in SIDES:
        return (*layouts, ConvolutionLayout(weights, height))
    return (*layouts, PoolingLayout(average=True, everywhere=True), ConvolutionLayout(weights, 1))


def wider(text: str) -> str:
    """Return layers as text with four times as many channels, as far as a layer can have them."""
    side, layouts = read_network(text)
    found = [
        replace(each, channels=min(MOST_CHANNELS, _TEACHERS * each.channels))
        if isinstance(each, ConvolutionLayout) and each.channels
        else each
        for each in layouts
    ]
    return ",".join([f"average{side}"] * (side > 1) + [str(each) for each in found])


def student_layers(
    layouts: tuple[Layout, ...], generator: np.random.Generator
) -> tuple[Layer, ...]:
    """Return layers to begin with; the last one's values are limited, not rectified."""
    *layers, last, _ = layers_of(layouts, generator)
    assert isinstance(last, Normalization)
    ones = np.ones_like(last.gain)
    centred = replace(
        last,
        gain=ones * np.float32(_FIRST_DEVIATION),
        offset=ones * np.float32(LARGEST_VALUE / 2),
    )
    return (*layers, centred, Limit(LARGEST_VALUE))
