"""Layers of quantized networks for tests, with random weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from protonn_edge.extensions.conversion.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.model.shapes import ImageShape


def random_int8_layer(
    seed: int,
    shape: ImageShape = (6, 7, 2),
    channels: int = 3,
    window: tuple[int, int] = (3, 3),
    *,
    depthwise: bool = False,
    largest: int = 127,
    zeros: float = 0.2,
    left: int = 0,
    **parts: Any,
) -> IntegerInt8Layer:
    """Return a layer whose values reach both of their ends; shifts are `left` lower than needed."""
    rng = np.random.default_rng(seed)
    depth = 1 if depthwise else shape[2]
    channels = shape[2] if depthwise else channels
    weights = rng.integers(-largest - 1, largest + 1, (channels, *window, depth))
    weights[rng.random(weights.shape) < zeros] = 0
    high = 255 * np.maximum(weights, 0).sum(axis=(1, 2, 3))
    multipliers = rng.integers(2**30, 2**31, channels)
    shifts = np.ceil(np.log2(np.maximum(high, 1) / 600)).astype(np.int64) - left
    parts = {"offset": 90, "limits": (0, 255)} | parts
    return IntegerInt8Layer(
        shape,
        weights.astype(np.int8),
        rng.integers(-9000, 9001, channels) // 2**left,
        multipliers,
        shifts,
        **parts,
    )


def whole_window(seed: int, shape: ImageShape, units: int, **parts: Any) -> IntegerInt8Layer:
    """Return a fully connected layer."""
    return random_int8_layer(seed, shape, units, shape[:2], rounds_once=True, **parts)
