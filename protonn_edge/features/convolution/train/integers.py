"""From a trained network's rounded layers to a device's stages, which compute the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.convolution.train.layers import Layer, Pooling
from protonn_edge.features.convolution.train.rounding import RoundedConvolution
from protonn_edge.features.pooling.integers import How, IntegerPooling


def integer_stages(
    layers: Sequence[Layer], shape: tuple[int, int], maximum: int
) -> tuple[IntegerConvolution | IntegerPooling, ...]:
    """Return the stages of rounded layers.

    Parameters
    ----------
    layers : sequence of RoundedConvolution and Pooling
    shape : tuple of two int
        Height and width of the image that comes in, which has one channel.
    maximum : int
        Its largest value.
    """
    stages: list[IntegerConvolution | IntegerPooling] = []
    within = (*shape, 1)
    for layer in layers:
        made: IntegerConvolution | IntegerPooling
        if isinstance(layer, RoundedConvolution):
            made = _convolution(layer, within)
            maximum = made.maximum
        else:
            assert isinstance(layer, Pooling)
            how: How = "average" if layer.layout.average else "maximum"
            made = IntegerPooling(within, layer.window(*within[:2]), how, maximum)
        stages.append(made)
        within = made.output_shape
    return tuple(stages)


def _convolution(layer: RoundedConvolution, shape: tuple[int, int, int]) -> IntegerConvolution:
    rounded = layer.rounded
    return IntegerConvolution(
        shape,
        rounded.weights.astype(np.int8),
        rounded.biases.astype(np.int64),
        layer.multiplier,
        layer.shift,
        layer.maximum,
        layer.largest_input,
        stride=layer.layout.stride,
        padded=layer.layout.padded,
        weight_bits=layer.bits.weights,
    )
