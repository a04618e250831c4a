"""The prototypes: one, and many; near and far; scores of 16 and of 32 bits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from laws.conformance.instances import Instance
from model_factory import random_inputs, random_model, rejecting_some, with_large_labels

from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.model.integer_chain import IntegerChain, named_stages
from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield prototypes."""
    one = quantize(random_model(1, features=30, prototypes=1, classes=3))
    yield instance_of("one", one, reached=True)
    many = quantize(random_model(2, features=30, projections=10, prototypes=90, classes=10))
    yield instance_of("many", many)
    few = quantize(random_model(4, features=70, projections=22, prototypes=12, classes=26))
    yield instance_of("gives the nearest", rejecting_some(few, random_inputs(1, 40, few), 2))
    wide = random_model(3, features=30, projections=4, prototypes=60, gamma_numerator=0.3)
    yield instance_of("32 bits", with_large_labels(quantize(wide)))


def instance_of(name: str, model: IntegerChain, *, reached: bool = False) -> Instance:
    """Return the instance of a chain with prototypes."""
    stage = named_stages(model)["prototypes"]
    fed = named_stages(model)["projection"].output
    rng = np.random.default_rng(0)
    corners = np.where(rng.random((20, stage.n_inputs)) < 0.5, fed.low, fed.high)
    points = np.concatenate([stage.prototypes.T, corners])
    return Instance(name, model, stage, random_inputs(7, 20, model), points, reached=reached)


def reference(stage: IntegerPrototypes, point: list[int]) -> list[int]:
    """Return the scores of coordinates."""
    scores = [0] * stage.n_outputs
    for j, prototype in enumerate(stage.prototypes.T.tolist()):
        r = sum((p - b) ** 2 for p, b in zip(point, prototype, strict=True))
        if r < 1 << (8 + stage.distance_shift):
            e = int(stage.table[r >> stage.distance_shift])
            for label in range(stage.n_outputs):
                scores[label] += int(stage.labels[label, j]) * e
    return scores
