"""Convolutions and pooling for tests, with random weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from protonn_edge.stages.convolution.integers import IntegerConvolution


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
    **parts: Any,
) -> IntegerConvolution:
    """Return a convolution whose weights are within -largest-1..largest, so many of them 0.

    Its values reach both of their ends: the largest sums are about four times as large as the
    largest one that is not limited.
    """
    rng = np.random.default_rng(seed)
    depth = 1 if depthwise else shape[2]
    channels = shape[2] if depthwise else channels
    weights = rng.integers(-largest - 1, largest + 1, (channels, side, side, depth))
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
        **parts,
    )
