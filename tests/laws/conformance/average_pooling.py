"""Average pooling: areas of whole pixels and of parts, rows that are fed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import gcd

import numpy as np
from laws.conformance.instances import Instance
from model_factory import random_images, random_pooling_model

from protonn_edge.features.pooling.areas import Axis
from protonn_edge.features.pooling.integers import IntegerAveragePooling
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield poolings."""
    for name, pooling in {
        "whole pixels": average_pooling((16, 16), (16, 16), (8, 8)),
        "parts of pixels, cropped": average_pooling((9, 11), (7, 8), (7, 3)),
        "parts of pixels in both directions": average_pooling((14, 14), (12, 12), (8, 8)),
        "a row": average_pooling((1, 140), (1, 140), (1, 35)),
        "fed by deskew": average_pooling((12, 12), (8, 8), (4, 4), deskew=True),
    }.items():
        model = quantize(random_pooling_model(pooling, projections=10, prototypes=20))
        stage = next(stage for stage in model.stages if stage.kind == "average_pooling")
        images = random_images(3, 20, pooling)
        ends = np.array([[0], [255]]) * np.ones((1, stage.n_inputs), np.int64)
        yield Instance(name, model, stage, images, ends)


def reference(stage: IntegerAveragePooling, point: list[int]) -> list[int]:
    """Return the averages of an image."""
    rows, columns = stage.pooling.rows, stage.pooling.columns
    area = _units(rows)[1] * _units(columns)[1]
    multiplier = round(stage.maximum * 65536 / (255 * area))
    averages = []
    for down in range(rows.outputs):
        for right in range(columns.outputs):
            v = 0
            for y, height in _parts(rows, down):
                for x, width in _parts(columns, right):
                    at = (rows.first + y) * columns.side + columns.first + x
                    v += height * width * point[at]
            averages.append((v * multiplier + (1 << 15)) >> 16)
    return averages


def _units(axis: Axis) -> tuple[int, int]:
    """Return how many units a pixel and an output are wide."""
    common = gcd(axis.pixels, axis.outputs)
    return axis.outputs // common, axis.pixels // common


@cache  # the same for all points
def _parts(axis: Axis, output: int) -> list[tuple[int, int]]:
    """Return the pixels that an output averages, each with the units that both share."""
    shared = [(pixel, _overlap(axis, pixel, output)) for pixel in range(axis.pixels)]
    return [(pixel, units) for pixel, units in shared if units > 0]


def _overlap(axis: Axis, pixel: int, output: int) -> int:
    """Return the units that a pixel and an output share."""
    width, span = _units(axis)
    end = min((pixel + 1) * width, (output + 1) * span)
    return max(0, end - max(pixel * width, output * span))
