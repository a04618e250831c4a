"""Import a convolutional network of small integers, bit for bit.

The arithmetic follows Gural and Murmann, "Memory-Optimal Direct Convolutions for Maximizing
Classification Accuracy in Embedded Applications", ICML 2019. The input x is the upper bits of sums
of 2x2 pixels. Each layer computes
``v = min(round(max((sum W x << s1) + bias, 0) / 2^(s2 + 1)), 15)``, halves to even; 2x2 maximum
pooling and a layer of scores without rounding follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.convolution.integers import SHIFTS, IntegerConvolution
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.pooling.areas import Areas
from protonn_edge.features.pooling.integers import IntegerAveragePooling, IntegerPooling
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.model.model import Model
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.errors import InputError

_MAXIMUM = 15  # largest value between layers, which have 4 bits
_POOLED = (2, 2)

Parameters = Mapping[str, NDArray[Any]]


def convolutional_network(
    parameters: Parameters, images: NDArray[Any], side: int, classes: tuple[str, ...]
) -> Model:
    """Return the model of a network: layers of convolutions, then scores.

    - `parameters`: ``convN_weights`` (out, k, k, in), ``convN_bias`` (out,) and ``convN_shifts``,
      s1 and s2, for N = 1, 2, ..., and the same for ``dense`` with weights (D, L), where D runs
      over rows and then channels; all are whole numbers.
    - `images` (n, side * side): bytes, such as training points, whose features have the ranges.

    Raises `InputError` if numbers do not fit the device.
    """
    areas = Areas((side, side), (side, side), (side // 2, side // 2))
    averages = IntegerAveragePooling(areas, _MAXIMUM, cuts=True)
    layers: list[IntegerConvolution | IntegerPooling] = []
    shape = (*areas.shape, 1)
    for name in takewhile(lambda name: f"{name}_weights" in parameters, _names()):
        layers.append(_convolution(name, shape, parameters))
        shape = layers[-1].output_shape
    layers.append(IntegerPooling(shape, _POOLED, "maximum", _MAXIMUM))
    stage = layered(tuple(layers), averages)
    weights, bias, _ = _layer("dense", parameters)
    features = stage.apply(images)
    return Model(
        head=LinearHead(weights.T.astype(np.float32), bias.astype(np.float64)),
        normalizer=Normalizer("none", np.zeros(len(weights)), np.ones(len(weights))),
        inputs=InputStatistics.of(features).with_one_range(),
        classes=classes,
        features=stage,
    )


def _names() -> Any:
    return (f"conv{number}" for number in count(1))


def _layer(name: str, parameters: Parameters) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Return the weights with s1 applied, the bias, and the right shift."""
    left, right = parameters[f"{name}_shifts"].tolist()
    weights = parameters[f"{name}_weights"].astype(np.int64) << left
    if not -128 <= weights.min() <= weights.max() <= 127:
        raise InputError(
            f"array '{name}_weights' reaches {int(np.abs(weights).max())} in magnitude after a "
            f"left shift of {left} bits, but a signed byte holds -128 to 127; use smaller weights"
        )
    return weights, parameters[f"{name}_bias"].astype(np.int64), right + 1


def _convolution(
    name: str, shape: tuple[int, int, int], parameters: Parameters
) -> IntegerConvolution:
    weights, bias, right = _layer(name, parameters)
    if not 0 < right <= SHIFTS[0]:
        raise InputError(
            f"the right shift in array '{name}_shifts' is {right - 1}, but must be 0 to "
            f"{SHIFTS[0] - 1}; correct the array"
        )
    return IntegerConvolution(
        shape,
        weights.astype(np.int8),
        bias,
        1 << SHIFTS[0] - right,
        SHIFTS[0],
        _MAXIMUM,
        _MAXIMUM,
        to_even=True,
    )
