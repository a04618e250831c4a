"""Features: windows of every side, stride and padding, full and of one channel each."""

from __future__ import annotations

from collections.abc import Iterator
from operator import mul

import numpy as np
from chains import replace
from convolution_factory import (
    random_convolution,
    random_images_of,
    random_model,
    random_window_layers,
)
from laws.conformance.instances import Instance

from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.pooling.areas import Areas
from protonn_edge.features.pooling.integers import IntegerAveragePooling, IntegerPooling
from protonn_edge.model.features import Features
from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield convolutions of images that are held, behind averages, and behind other layers."""
    plain = random_convolution(1, (7, 8, 2), 3, to_even=True, weight_bits=4)
    yield _instance("3x3, halves to even", layered((plain,)))
    large = {"input_maximum": 255, "maximum": 255, "shift": 13}
    wide = random_convolution(2, (8, 7, 3), 13, 5, largest=2, padded=True, stride=2, **large)
    yield _instance("two groups, padded, 5x5, every second place", layered((wide,)))
    even = random_convolution(5, (6, 6, 1), 11)
    even = replace(even, weights=2 * even.weights)
    largest = IntegerPooling((4, 4, 11), (2, 2), "maximum", 15)
    averages = IntegerAveragePooling(Areas((12, 14), (12, 12), (6, 6)), 15, cuts=True)
    layers = layered((even, largest), averages)
    yield _instance("even weights, behind averages", layers)
    first = random_convolution(3, (8, 9, 1), 5, padded=True)
    each = random_convolution(4, (8, 9, 5), depthwise=True, padded=True, maximum=255, shift=15)
    yield _instance("one channel each, behind a layer", layered((first, each)), 1)
    channels = random_convolution(6, (5, 5, 12), depthwise=True, stride=2, largest=100, maximum=100)
    point = random_convolution(7, (2, 2, 12), 16, 1, input_maximum=100, largest=1, weight_bits=2)
    layers = layered((channels, point))
    yield _instance("one channel each in two groups", layers)
    yield _instance("a point, of ternary weights", layers, 1)
    window = random_convolution(8, (20, 1, 6), 13, 5, padded=True, stride=2, weight_bits=4)
    around = random_convolution(10, (6, 5, 2), 3, padded=True, padding_value=6)
    yield replace(_instance("padded with 6", layered((around,))), reached=False)
    yield _instance("a window of samples, padded, every second place", layered((window,)))
    yield _instance("one channel each, in a window behind averages", random_window_layers(9), 1)


def _instance(name: str, stage: Features, number: int = 0) -> Instance:
    model = quantize(random_model(stage))
    own = [each for each in model.stages if isinstance(each, IntegerConvolution)][number]
    return Instance(name, model, own, random_images_of(9, 20, stage), _extremes(own))


def _extremes(stage: IntegerConvolution) -> np.ndarray:
    """Return for each value an image with which its sum is the least, and one for the largest."""
    height, width, channels = stage.output_shape
    (above, below), (left, right) = stage.margins
    images = []
    for y, x, o in np.ndindex(height, width, channels):
        for sign in (-1, 1):
            rows, columns = stage.shape[0] + above + below, stage.shape[1] + left + right
            image = np.full((rows, columns, stage.shape[2]), stage.padding_value, np.int64)
            window = image[y * stage.stride[0] :, x * stage.stride[1] :]
            window = window[: stage.window[0], : stage.window[1]]
            active = (sign * stage.weights[o].astype(int) > 0) * stage.input_maximum
            if stage.depthwise:
                window[:, :, o] = active[:, :, 0]
            else:
                window[:] = active
            images.append(image[above : rows - below, left : columns - right].ravel())
    return np.array(images)


def reference(stage: IntegerConvolution, point: list[int]) -> list[int]:
    """Return the values of an image."""
    (h, w), depth, depthwise = stage.weights.shape[1:3], stage.shape[2], stage.depthwise
    kernels = stage.weights.reshape(len(stage.weights), -1).tolist()
    channels = list(zip(kernels, stage.bias.tolist(), strict=True))
    pixels = np.array(point, np.int64).reshape(stage.shape)
    around = (*stage.margins, (0, 0))
    image = np.pad(pixels, around, constant_values=stage.padding_value)
    values = []
    for y in range(0, len(image) - h + 1, stage.stride[0]):
        for x in range(0, image.shape[1] - w + 1, stage.stride[1]):
            seen = image[y : y + h, x : x + w].ravel().tolist()
            for o, (kernel, bias) in enumerate(channels):
                used = seen[o::depth] if depthwise else seen
                assert len(kernel) == len(used)
                values.append(_requantized(stage, bias + sum(map(mul, kernel, used))))
    return values


def _requantized(stage: IntegerConvolution, a: int) -> int:
    whole, rest = divmod(a * stage.multiplier, 2**stage.shift)
    if stage.to_even and (rest > 128 or (rest == 128 and whole % 2)):
        whole += 1
    return min(max(whole, 0), stage.maximum)
