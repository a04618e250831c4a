"""Convolutions and pooling for tests, with random weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from chains import linear_model

from protonn_edge.features.convolution.integers import IntegerConvolution, same_margins
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.pooling.areas import Areas
from protonn_edge.features.pooling.integers import IntegerAveragePooling, IntegerPooling
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.model.features import Features
from protonn_edge.model.model import Model
from protonn_edge.model.statistics import InputStatistics, Normalizer


def random_convolution(
    seed: int,
    shape: tuple[int, int, int] = (6, 7, 2),
    channels: int = 3,
    side: int = 3,
    *,
    depthwise: bool = False,
    largest: int = 7,
    zeros: float = 0.2,
    input_maximum: int = 15,
    maximum: int = 15,
    shift: int = 8,
    stride: int = 1,
    padded: bool = False,
    **parts: Any,
) -> IntegerConvolution:
    """Return a convolution whose weights are within -largest-1..largest, so many of them 0.

    In an image one pixel wide, so is the window. Its values reach both of their ends: the largest
    sums are about four times as large as the largest one that is not limited.
    """
    rng = np.random.default_rng(seed)
    depth = 1 if depthwise else shape[2]
    channels = shape[2] if depthwise else channels
    window = side, 1 if shape[1] == 1 else side
    weights = rng.integers(-largest - 1, largest + 1, (channels, *window, depth))
    weights[rng.random(weights.shape) < zeros] = 0
    high = input_maximum * np.maximum(weights, 0).sum(axis=(1, 2, 3))
    bias = rng.integers(-50, 51, channels)
    scale = 4 * maximum * 2**shift / max(1, int(high.max()))
    return IntegerConvolution(
        shape,
        weights.astype(np.int8),
        bias,
        int(np.clip(scale, 1, 255)),
        shift,
        maximum,
        input_maximum,
        stride=(stride, stride),
        margins=same_margins(window) if padded else ((0, 0), (0, 0)),
        **parts,
    )


def random_layers(seed: int = 0) -> Features:
    """Return averages, two convolutions and pooling, of images whose background is white."""
    averages = IntegerAveragePooling(Areas((13, 12), (12, 12), (6, 6)), 15, cuts=True)
    first = random_convolution(seed, (6, 6, 1), 4, padded=True)
    each = random_convolution(seed + 1, (6, 6, 4), depthwise=True, maximum=255, shift=11)
    average = IntegerPooling((4, 4, 4), (2, 2), "average", 255)
    return layered((first, each, average), averages, PixelScale(255.0, -1.0))


def random_window_layers(seed: int = 0) -> Features:
    """Return averages, two convolutions and pooling, of windows of 32 samples of 3 channels."""
    averages = IntegerAveragePooling(Areas((32, 3), (32, 3), (16, 3)), 15)
    first = random_convolution(seed, (16, 1, 3), 4, 5, padded=True, stride=2)
    largest = IntegerPooling((8, 1, 4), (2, 1), "maximum", 15)
    each = random_convolution(seed + 1, (4, 1, 4), depthwise=True, maximum=255, shift=11)
    scale = ChannelScale((0.0, -1.0, 20.0), (1.0, 0.5, 2.0), 3)
    return layered((first, largest, each), averages, scale, 50.0)


def image_shape_of(stage: Features) -> tuple[int, int, int]:
    """Return height, width and channels of the points of layers."""
    first, *others = stage.points.shape
    return (first, 1, *others) if stage.points.is_signal else (first, *others, 1)[:3]


def random_images_of(seed: int, n: int, stage: Features) -> np.ndarray:
    """Return images with dark and light areas, of all channels, (n, features) uint8."""
    rng = np.random.default_rng(seed)
    height, width, channels = image_shape_of(stage)
    coarse = rng.integers(
        0, stage.points.scale.maximum + 1, (n, -(-height // 2), -(-width // 2), channels)
    )
    coarse[rng.random(coarse.shape) < 0.5] = 0
    images = coarse.repeat(2, axis=1)[:, :height].repeat(2, axis=2)[:, :, :width]
    images[0], images[1] = 0, stage.points.scale.maximum
    return images.reshape(n, -1).astype(np.uint8)


def random_model(stage: Features, seed: int = 0, classes: int = 3) -> Model:
    """Return linear scores of what the layers give, with random weights."""
    rng = np.random.default_rng(seed)
    features = stage.apply(random_images_of(seed, 100, stage))
    return linear_model(
        weights=rng.integers(-40, 41, (classes, stage.n_outputs)).astype(np.float32),
        bias=rng.integers(-99, 100, classes).astype(np.float64),
        normalizer=Normalizer("none", np.zeros(stage.n_outputs), np.ones(stage.n_outputs)),
        inputs=InputStatistics.of(features).with_one_range(),
        classes=tuple(f"class {label}" for label in range(classes)),
        features=stage,
    )
