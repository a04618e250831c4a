"""Cascades: of inputs and of images, with factors, with scores that are added."""

from __future__ import annotations

from collections.abc import Iterator

import linear_factory
import numpy as np
from extensions.cascades.cascade_factory import cascade_of
from extensions.research import bonsai_factory
from laws.conformance.instances import Instance, maker_of
from model_factory import random_gradients_model, random_images, random_inputs

from protonn_edge.extensions.cascades.kinds.cascade.integers import IntegerCascade
from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield cascades."""
    first = linear_factory.random_chain(0, rows=1, features=60, largest=5)
    second = bonsai_factory.random_kernel_chain(1, features=60, maximum=63, classes=2)
    Q = random_inputs(2, 20, first)
    model = cascade_of(first, second, Q, factors=(200, 1))
    weights = first.own_stages[0].weights.astype(int)
    ends = np.concatenate([(sign * weights > 0) * 63 for sign in (-1, 1)])
    yield Instance("two classes", model, model.own_stages[0], Q, ends, estimated=0.2)
    wide = linear_factory.random_chain(3, rows=3, features=12, bits=32, maximum=255)
    tree = bonsai_factory.random_kernel_chain(4, features=12)
    Q = random_inputs(5, 20, wide)
    model = cascade_of(tree, wide, Q, factors=(1, 3), adds=True)
    extremes = np.array([[0] * 12, [255] * 12])
    yield Instance("added", model, model.own_stages[0], Q, extremes, reached=False, estimated=0.4)
    stage = gradient_features((5, 6), (5, 6), (1, 2), 4, deskew=True)
    own = [
        quantize(random_gradients_model(stage, projections=size, prototypes=6)) for size in (3, 5)
    ]
    images = random_images(6, 20, stage)
    model = cascade_of(*own, images)
    extremes = np.array([[0] * 30, [255] * 30])
    yield Instance(
        "images", model, model.own_stages[0], images, extremes, reached=False, estimated=0.4
    )


def reference(stage: IntegerCascade, point: list[int]) -> list[int]:
    """Return the scores of inputs."""

    def scores(part: str) -> list[int]:
        values = point
        for each in getattr(stage, part).stages:
            values = maker_of(each.kind).reference(each, values)
        return values

    s = scores("first")
    *_, second, largest = sorted(s)
    made = [stage.first_factor * each for each in s]
    if largest - second < stage.margin:
        others = [stage.second_factor * each for each in scores("second")]
        made = [a + b for a, b in zip(made, others, strict=True)] if stage.adds else others
    return made
