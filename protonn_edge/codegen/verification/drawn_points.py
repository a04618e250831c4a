"""Synthetic points for the self-test of a device without data: windows of signals, and drawings.

They are generated with integers only, so every machine generates the same ones.
"""

from __future__ import annotations

from random import Random

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.point_format import PointFormat

Bytes = NDArray[np.uint8]

_PLACES = 16  # subpixel positions of a stroke's points
_STEPS = 24  # along a stroke
_STROKES = 3  # maximum per image


def drawn_points(points: PointFormat, count: int) -> Bytes:
    """Return synthetic points (count, features), always the same: drawings, or windows.

    Their values are 0 to the maximum of `points`.
    """
    channels, shape = len(points.scale.zero), points.drawn_shape
    if shape is not None and min(shape) > 1:
        drawn = drawings(*shape, count)
    else:
        drawn = signals(points.n_features // channels, channels, count)
    return (drawn.astype(np.uint16) * points.scale.maximum // BYTE_MAXIMUM).astype(np.uint8)


def signals(n_samples: int, n_channels: int, count: int) -> Bytes:
    """Return windows (count, n_samples n_channels), each channel a triangle with noise."""
    generator = Random(0)  # noqa: S311  (no secret)
    windows = [_window(n_samples, n_channels, generator) for _ in range(count)]
    return np.array(windows, np.uint8).reshape(count, -1)


def drawings(height: int, width: int, count: int) -> Bytes:
    """Return images (count, height width) of one to three curved strokes on an empty background.

    The pen's width is a tenth of the longer side, and its edge fades over a pixel.
    """
    generator = Random(0)  # noqa: S311  (no secret)
    images = np.zeros((count, height * width), np.uint8)
    for image in images:
        for _ in range(1 + _drawn(generator, _STROKES)):
            np.maximum(image, _stroke(height, width, generator), out=image)
    return images


def _stroke(height: int, width: int, generator: Random) -> Bytes:
    """Return a stroke, (height width): a quadratic Bezier curve between random points."""
    size = np.array([height, width]) * _PLACES
    begin, bend, end = (
        np.array([_drawn(generator, int(side)) for side in size])[:, None] for _ in range(3)
    )
    t = np.arange(_STEPS + 1)
    left = _STEPS - t
    path = (left * left * begin + 2 * left * t * bend + t * t * end) // _STEPS**2
    y, x = (np.indices((height, width)).reshape(2, -1, 1) * 2 + 1) * _PLACES // 2
    near = ((y - path[0]) ** 2 + (x - path[1]) ** 2).min(axis=1)
    pen = max(height, width) * _PLACES // 20
    inner, outer = pen**2, (pen + _PLACES) ** 2
    inked = (outer - near) * BYTE_MAXIMUM // (outer - inner)
    stroke: Bytes = np.clip(inked, 0, BYTE_MAXIMUM).astype(np.uint8)
    return stroke


def _window(samples: int, n_channels: int, generator: Random) -> list[int]:
    """Return the bytes of a window, each channel a triangle wave of random height and period."""
    channels = []
    for _ in range(n_channels):
        middle, height = _drawn(generator, 256), 1 + _drawn(generator, 127)
        period, noise = 2 + _drawn(generator, 63), 1 + _drawn(generator, 16)
        values = []
        for t in range(samples):
            place = 4 * height * (t % period) // period
            triangle = place if place < 2 * height else 4 * height - place
            value = middle - height + triangle + _drawn(generator, noise)
            values.append(min(max(value, 0), BYTE_MAXIMUM))
        channels.append(values)
    return [values[t] for t in range(samples) for values in channels]


def _drawn(generator: Random, below: int) -> int:
    """Return a random integer in 0..below - 1; Python guarantees the sequence of `random`."""
    return int(generator.random() * below)
