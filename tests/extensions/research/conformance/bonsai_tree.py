"""Trees of gated sums: signed inputs and unsigned ones, dense rows and sparse ones, far inputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from extensions.research.bonsai_factory import (
    ends_of_range,
    random_bonsai_chain,
    random_kernel_chain,
)
from laws.conformance.instances import Instance
from model_factory import random_inputs

from protonn_edge.extensions.research.kinds.bonsai.integers import IntegerBonsaiTree
from protonn_edge.model.integer_chain import IntegerChain, named_stages


def instances() -> Iterator[Instance]:
    """Yield trees."""
    apart = random_kernel_chain(0, features=90, depth=1, classes=3, apart=True, density=1.0)
    yield _instance("no shared input", apart, reached=True)
    yield _instance("behind a projection", random_bonsai_chain(1, depth=2, classes=4))
    lone = random_bonsai_chain(2, depth=0, classes=2, gate_shift=8)
    yield _instance("a lone node, two classes", lone)
    wide = random_kernel_chain(3, features=300, depth=1, classes=2, largest=20, gate_shift=8)
    yield _instance("many inputs", wide)
    far = random_kernel_chain(4, features=700, depth=3, classes=2, density=0.01)
    yield _instance("far inputs", far)
    fine = random_kernel_chain(5, features=9, depth=4, classes=5, largest=3, gate_shift=0)
    yield _instance("short sums", fine)
    equal = random_kernel_chain(6, features=3, depth=3, classes=3)
    yield _instance("all numbers equal", equal)


def _instance(name: str, model: IntegerChain, *, reached: bool = False) -> Instance:
    stage = named_stages(model)["bonsai_tree"]
    ends = ends_of_range(stage) if reached else np.stack([stage.feed.low, stage.feed.high])
    return Instance(name, model, stage, random_inputs(8, 20, model), ends, reached=reached)


def reference(stage: IntegerBonsaiTree, point: list[int]) -> list[int]:
    """Return the scores of inputs."""

    def total(sums, place):
        added = int(sums.bias[place])
        for weight, x in zip(sums.weights[place].tolist(), point, strict=True):
            added += weight * x
        return added

    scores = [0] * stage.n_rows
    node = 0
    while True:
        for row in range(stage.n_rows):
            place = node * stage.n_rows + row
            h = total(stage.weights, place) >> stage.weight_shift
            i = total(stage.gates, place) >> stage.gate_shift
            gate = int(stage.table[min(max(i, -128), 127) + 128])
            scores[row] += (h * gate) >> 8
        if node >= len(stage.branches.bias):
            break
        node = 2 * node + (2 if total(stage.branches, node) >= 0 else 1)
    return scores if len(scores) > 1 else [-scores[0], scores[0]]
