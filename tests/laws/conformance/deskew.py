"""Deskew: square and narrow images, with and without a margin that rows may move into."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from laws.conformance.instances import Instance
from model_factory import random_images, random_pooling_model

from protonn_edge.features.deskew.integers import IntegerDeskew
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield images."""
    for name, pooling in {
        "square, cropped": average_pooling((16, 16), (12, 12), (6, 6), deskew=True),
        "narrow": average_pooling((32, 5), (30, 4), (10, 2), deskew=True),
        "whole": average_pooling((8, 9), (8, 9), (4, 3), deskew=True),
    }.items():
        model = quantize(random_pooling_model(pooling, projections=10, prototypes=20))
        ends = np.array([[0], [255]]) * np.ones((1, pooling.points.n_features), np.int64)
        yield Instance(name, model, model.stages[0], random_images(4, 20, pooling), ends)


def reference(stage: IntegerDeskew, point: list[int]) -> list[int]:
    """Return the pixels that count, once the rows have moved."""
    rows, columns = stage.image.rows, stage.image.columns
    shifts = shifts_by_the_formula(point, rows.side, columns.side)
    pixels = []
    for y in range(rows.first, rows.first + rows.pixels):
        for x in range(columns.first, columns.first + columns.pixels):
            source = x + shifts[y]
            inside = 0 <= source < columns.side
            pixels.append(point[y * columns.side + source] if inside else 0)
    return pixels


def shifts_by_the_formula(point: list[int], height: int, width: int) -> list[int]:
    """Return by how many pixels each row moves to the left: slant (y - cy), rounded."""
    mass = down = across = product = square = 0
    for row in range(height):
        for column in range(width):
            y, x = row - height // 2, column - width // 2
            b = point[row * width + column]
            mass, down, across = mass + b, down + y * b, across + x * b
            product, square = product + x * y * b, square + y * y * b
    centre = _quotient(32 * down, mass)  # cy, in 32ths of a pixel
    product -= (centre * across) >> 5
    square -= (centre * down) >> 5
    slope = min(256, _quotient((abs(product) >> 3) * 256, square >> 3))  # in 256ths
    slope = slope if product >= 0 else -slope
    first = (slope * (-(height // 2) * 32 - centre)) >> 5
    return [(first + slope * row + 128) >> 8 for row in range(height)]


def _quotient(numerator: int, denominator: int) -> int:
    """Divide as C does; 0 where there is nothing to divide by."""
    if denominator <= 0:
        return 0
    quotient = abs(numerator) // denominator
    return quotient if numerator >= 0 else -quotient
