"""Layers of quantized networks: windows of all shapes, padding, both roundings, both sums."""

from __future__ import annotations

from collections.abc import Iterator
from operator import mul

import numpy as np
from convolution_factory import random_images_of, random_model
from extensions.conversion.int8_factory import random_int8_layer, whole_window
from laws.conformance.instances import Instance

from protonn_edge.extensions.conversion.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield layers of images that are held, and behind other layers."""
    yield _instance("fully connected, in place", whole_window(0, (1, 1, 60), 7))
    ends = {"offset": 0, "limits": (0, 200)}
    half = {"margins": ((0, 1), (1, 1)), "stride": (2, 2), "padding_value": 70}
    padded = random_int8_layer(1, (8, 7, 3), 13, **ends, **half)
    yield _instance("padded on three sides, every second place, rectified", padded)
    layer = random_int8_layer(2, (4, 5, 1), 6, (3, 3), offset=0, limits=(0, 255))
    each = random_int8_layer(
        3, (2, 3, 6), window=(3, 2), depthwise=True, margins=((1, 1), (0, 1)), padding_value=0
    )
    yield _instance("one channel each, behind a layer", layer, each)
    long = whole_window(4, (1, 1, 700), 5, zeros=0.0, left=2)
    yield _instance("sums of 32 bits of a long row", long, whole_window(5, (1, 1, 5), 3))
    row = random_int8_layer(6, (20, 1, 4), 6, (5, 1), stride=(3, 1), left=14, largest=2)
    largest = IntegerPooling((6, 1, 6), (2, 1), "maximum", 255)
    last = whole_window(7, (3, 1, 6), 6, offset=6, limits=(6, 6 + 31))
    yield _instance("a row in time, shifted to the left", row, largest, last)
    yield _instance("fully connected, behind pooling", row, largest, last, number=1)
    plain = random_int8_layer(8, (4, 5, 6), 6, (1, 1), offset=255)
    yield _instance("a point, below its offset", plain)


def _instance(name: str, *layers: IntegerInt8Layer | IntegerPooling, number: int = -1) -> Instance:
    stage = layered(layers)
    model = quantize(random_model(stage))
    own = [each for each in model.stages if isinstance(each, IntegerInt8Layer)][number]
    points = random_images_of(9, 20, stage)
    return Instance(name, model, own, points, _extremes(own), not any(map(any, own.margins)))


def _extremes(stage: IntegerInt8Layer) -> np.ndarray:
    """Return for each value an image with which its sum is the least, and one for the largest."""
    height, width, channels = stage.output_shape
    (above, below), (before, behind) = stage.margins
    images = []
    for y, x, o in np.ndindex(height, width, channels):
        for sign in (-1, 1):
            image = np.zeros(
                (stage.shape[0] + above + below, stage.shape[1] + before + behind, stage.shape[2]),
                np.int64,
            )
            window = image[y * stage.stride[0] :, x * stage.stride[1] :]
            window = window[: stage.window[0], : stage.window[1]]
            active = (sign * stage.weights[o].astype(int) > 0) * 255
            if stage.depthwise:
                window[:, :, o] = active[:, :, 0]
            else:
                window[:] = active
            inside = slice(above, -below or None), slice(before, -behind or None)
            images.append(image[inside].ravel())
    return np.array(images)


def reference(stage: IntegerInt8Layer, point: list[int]) -> list[int]:
    """Return the values of an image."""
    values = []
    height, width, _ = stage.output_shape
    depthwise, depth = stage.depthwise, stage.shape[2]
    kernels = stage.weights.reshape(len(stage.weights), -1).tolist()
    scales = (each.tolist() for each in (stage.bias, stage.multipliers, stage.shifts))
    channels = list(zip(kernels, *scales, strict=True))
    for y, x in np.ndindex(height, width):
        seen = list(_window(stage, point, y, x))
        for o, (kernel, bias, multiplier, shift) in enumerate(channels):
            used = seen[o::depth] if depthwise else seen
            assert len(kernel) == len(used)
            a = bias + sum(map(mul, kernel, used))
            values.append(_requantized(stage, a, multiplier, shift))
    return values


def _window(stage: IntegerInt8Layer, point: list[int], y: int, x: int) -> Iterator[int]:
    """Yield what the window has at a place: rows, in them pixels, in them channels."""
    rows, columns, channels = stage.shape
    for i, j in np.ndindex(*stage.window):
        row = y * stage.stride[0] + i - stage.margins[0][0]
        column = x * stage.stride[1] + j - stage.margins[1][0]
        if 0 <= row < rows and 0 <= column < columns:
            first = (row * columns + column) * channels
            yield from point[first : first + channels]
        else:
            yield from [stage.padding_value] * channels


def _requantized(stage: IntegerInt8Layer, a: int, multiplier: int, shift: int) -> int:
    """Return the value of a sum, as TensorFlow Lite's kernels are written."""
    a, shift = a * 2 ** max(-shift, 0), max(shift, 0)
    if stage.rounds_once:
        v = (a * multiplier + (1 << (30 + shift))) >> (31 + shift)
    else:
        # SaturatingRoundingDoublingHighMul: a division that rounds to 0
        product = a * multiplier
        nudge = 1 << 30 if product >= 0 else 1 - (1 << 30)
        high = abs(product + nudge) >> 31
        high = high if product + nudge >= 0 else -high
        # RoundingDivideByPOT
        mask = (1 << shift) - 1
        v = (high >> shift) + ((high & mask) > (mask >> 1) + (high < 0))
    return min(max(v + stage.offset, stage.limits[0]), stage.limits[1])
