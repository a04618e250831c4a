"""Gradients: cells that share pixels and cells that do not, pixels that are streamed, and rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from laws.conformance.instances import Instance
from model_factory import random_gradients_model, random_images

from protonn_edge.features.gradients.integers import CellAxis, IntegerGradients
from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield cells."""
    for name, stage in {
        "shared pixels": gradient_features((16, 16), (16, 16), (4, 4)),
        "cropped, of 4 directions": gradient_features((15, 18), (13, 15), (3, 2), 4),
        "hard cells": gradient_features((8, 8), (8, 8), (4, 4)),
        "fed by deskew": gradient_features((20, 20), (17, 16), (5, 3), deskew=True),
        "fed by deskew, of 4 directions": gradient_features(
            (12, 12), (12, 10), (2, 2), 4, deskew=True
        ),
    }.items():
        images = random_images(3, 20, stage)
        model = quantize(random_gradients_model(stage, projections=10, prototypes=20))
        own = next(each for each in model.stages if each.kind == "gradients")
        extremes = _steps(*own.cells.image_shape)
        yield Instance(name, model, own, images, extremes, reached=name != "hard cells")


def _steps(height: int, width: int) -> np.ndarray:
    """Return images of 0, and with steps of every direction at every second place."""
    y, x = np.mgrid[:height, :width]
    lines = [x, y, x + y, x - y + height]
    images = [np.zeros_like(x)]
    for line in lines:
        for period in (2, 3, 4):
            for phase in range(2 * period):
                images.append(255 * ((line + phase) // period % 2))
                images.append(np.minimum(255, 60 * ((line + phase) % (2 * period))))
    return np.array(images).reshape(len(images), -1)


def reference(stage: IntegerGradients, point: list[int]) -> list[int]:
    """Return the roots of an image."""
    rows, columns, directions = stage.cells.rows, stage.cells.columns, stage.cells.directions

    def pixel(y: int, x: int) -> int:
        inside = 0 <= y < rows.pixels and 0 <= x < columns.pixels
        return point[(rows.first + y) * columns.side + columns.first + x] if inside else 0

    sums = [0] * (rows.cells * columns.cells * directions)
    for y in range(rows.pixels):
        for x in range(columns.pixels):
            gx, gy = pixel(y, x + 1) - pixel(y, x - 1), pixel(y + 1, x) - pixel(y - 1, x)
            largest, least = max(abs(gx), abs(gy)), min(abs(gx), abs(gy))
            if 2 * least > largest:
                direction = 3 + (gx > 0) + 3 * (gy > 0)
                if directions == 4:
                    direction = 3 if (gx > 0) == (gy > 0) else 2
            elif abs(gy) > abs(gx):
                direction = 2 + 3 * (gy > 0) if directions == 8 else 1
            else:
                direction = int(gx > 0) if directions == 8 else 0
            across, down = _cells_of(columns, x), _cells_of(rows, y)
            counted = largest // (len(across) * len(down))
            for row in down:
                for column in across:
                    sums[(row * columns.cells + column) * directions + direction] += counted
    return [int(stage.table[min(v >> stage.shift, 255)]) for v in sums]


def _cells_of(axis: CellAxis, pixel: int) -> list[int]:
    """Return the one or two cells that a pixel counts for."""
    centre, width = pixel + 0.5, axis.pixels / axis.cells
    near = [
        cell
        for cell in range(axis.cells - 1)
        if abs(centre - (cell + 1) * width) <= width / 6 + 1e-9
    ]
    return [near[0], near[0] + 1] if near else [int(centre / width)]
