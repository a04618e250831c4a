"""Pooling: the largest and the average value, in windows of 2x2 and of whole images."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from convolution_factory import random_convolution, random_images_of, random_model
from laws.conformance.instances import Instance

from protonn_edge.features.convolution.making import layered
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.model.features import Features
from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield pooling of an image that is held, and of a layer's output."""
    held = IntegerPooling((7, 9, 8), (2, 2), "maximum", 255)
    yield _instance("the largest of images that are held", layered((held,)))
    layer = random_convolution(0, (7, 7, 2), 6, maximum=255, shift=12, largest=20)
    averages = IntegerPooling((5, 5, 6), (2, 2), "average", 255)
    last = random_convolution(1, (2, 2, 6), 3, 1, input_maximum=255)
    yield _instance("averages between layers", layered((layer, averages, last)))
    held = IntegerPooling((9, 10, 8), (3, 2), "average", 255)
    whole = IntegerPooling((3, 5, 8), (3, 5), "average", 255)
    yield _instance("averages, and those of a whole image", layered((held, whole)))
    largest = IntegerPooling((5, 5, 6), (2, 3), "maximum", 255)
    padded = random_convolution(2, (2, 1, 6), 3, padded=True, input_maximum=255)
    yield _instance("the largest between layers", layered((layer, largest, padded)))


def _instance(name: str, stage: Features) -> Instance:
    model = quantize(random_model(stage))
    own = next(each for each in model.stages if isinstance(each, IntegerPooling))
    ends = np.array([[0], [own.input_maximum]]) * np.ones((1, own.n_inputs), np.int64)
    return Instance(name, model, own, random_images_of(9, 20, stage), ends)


def reference(stage: IntegerPooling, point: list[int]) -> list[int]:
    """Return the values of an image."""
    height, width, channels = stage.shape
    down, across = stage.window
    values = []
    for y in range(0, height - down + 1, down):
        for x in range(0, width - across + 1, across):
            for c in range(channels):
                window = [
                    point[((y + i) * width + x + j) * channels + c]
                    for i in range(down)
                    for j in range(across)
                ]
                if stage.how == "maximum":
                    values.append(max(window))
                else:
                    values.append((sum(window) * stage.multiplier + 32_768) >> 16)
    return values
