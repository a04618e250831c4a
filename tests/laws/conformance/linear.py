"""Linear scores: sums of 16, 24 and 32 bits, two classes and many, inputs without weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from laws.conformance.instances import Instance, extremes_of, sums_of
from linear_factory import random_chain
from model_factory import random_inputs

from protonn_edge.kinds.linear.integers import IntegerLinear
from protonn_edge.model.integer_chain import IntegerChain, named_stages


def instances() -> Iterator[Instance]:
    """Yield linear scores."""
    yield _instance("16 bits", random_chain(0, rows=10, largest=12))
    yield _instance("two classes", random_chain(1, rows=1, features=300, largest=5))
    sparse = random_chain(4, rows=12, features=300, largest=40, density=0.1)
    yield _instance("sparse", sparse)
    yield _instance("24 bits", random_chain(5, rows=7, bits=24))
    yield _instance("two classes, 24 bits", random_chain(2, rows=1, bits=24))
    wide = random_chain(3, rows=1, bits=32, features=200, maximum=255)
    yield _instance("two classes, 32 bits", wide)
    yield _instance("32 bits", random_chain(6, rows=5, bits=32, features=70))
    yield _instance("as many scores as inputs", random_chain(8, rows=12, features=12, bits=24))
    yield _instance("a single score", single(random_chain(9, rows=1, bits=24)))
    yield _instance("many classes", random_chain(7, rows=31, bits=24, features=40, density=0.5))


def single(model: IntegerChain) -> IntegerChain:
    """Return a model whose only sum is its only score."""
    *before, last = model.own_stages
    stages = (*before, replace(last, alone=True))
    return replace(model, own_stages=stages, classes=model.classes[:1])


def _instance(name: str, model: IntegerChain) -> Instance:
    stage = named_stages(model)["linear"]
    return Instance(name, model, stage, random_inputs(8, 20, model), extremes_of(stage))


def reference(stage: IntegerLinear, point: list[int]) -> list[int]:
    """Return the scores of inputs."""
    sums = sums_of(stage, point)
    return sums if len(sums) > 1 or stage.alone else [-sums[0], sums[0]]
