"""Models of given numbers: made of them, and changed, by the names of these."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from protonn_edge.kinds.dense.head import DenseHead
from protonn_edge.kinds.dense.quantize import stages_of as dense_stages
from protonn_edge.kinds.forest.head import ForestHead
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.kinds.linear.integers import IntegerLinear
from protonn_edge.kinds.projection.integers import IntegerProjection
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.kinds.protonn.prototypes.integers import (
    IntegerPrototypes,
    all_coordinates,
    near_range,
)
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.integer_stage import IntegerStage, stage_names
from protonn_edge.model.model import Model

Instance = TypeVar("Instance")
Stages = tuple[IntegerStage, ...]


def _same(stage: str, *names: str) -> dict[str, str]:
    return {name: f"{stage}.{name}" for name in names}


PROJECTION = {
    "projection": "projection.weights",
    **_same("projection", "bias", "accumulator_bits", "multiplier", "offset"),
}
PLACES: dict[Any, dict[str, str]] = {
    ProtoNNHead: {
        **PROJECTION,
        **_same("prototypes", "prototypes", "distance_shift", "table", "labels", "voters"),
    },
    LinearHead: _same("linear", "weights", "bias", "accumulator_bits"),
    DenseHead: {
        "weights": "*.weights",
        "biases": "*.bias",
        "accumulator_bits": "*.accumulator_bits",
        "multipliers": "dense*.multiplier",
    },
    ForestHead: {"nodes": "forest.features", **_same("forest", "thresholds", "leaves", "bias")},
}
"""Where the numbers of a kind's stages are; a pattern stands for a tuple of all matches.

Factories of kinds that an extension has add theirs, here and below.
"""


def numbers_of(chain: IntegerChain) -> dict[str, Any]:
    """Return the numbers of a chain's own stages, by the names above."""
    return {name: _number(chain, place) for name, place in PLACES[chain.head].items()}


def _number(chain: IntegerChain, place: str) -> Any:
    pattern, _, path = place.partition(".")
    names = stage_names(stage.kind for stage in chain.own_stages)
    numbers = tuple(
        attrgetter(path)(stage)
        for name, stage in zip(names, chain.own_stages, strict=True)
        if fnmatchcase(name, pattern)
    )
    return numbers if "*" in pattern else numbers[0]


def _protonn_stages(maximum: int, **numbers: Any) -> Stages:
    of_projection = ("projection", "bias", "accumulator_bits", "multiplier", "offset")
    Z, bias, bits, multiplier, offset = (numbers[name] for name in of_projection)
    B, shift, voters = numbers["prototypes"], numbers["distance_shift"], numbers["voters"]
    wanted = near_range(B, shift) if voters is None else all_coordinates(len(B))
    projection = IntegerProjection(Z, bias, bits, maximum, multiplier, offset, wanted)
    table, labels = numbers["table"], numbers["labels"]
    output = projection.output
    return projection, IntegerPrototypes(B, shift, table, labels, output, voters=voters)


STAGES: dict[Any, Callable[..., Stages]] = {
    ProtoNNHead: _protonn_stages,
    LinearHead: lambda maximum, **numbers: (IntegerLinear(**numbers, input_maximum=maximum),),
    DenseHead: dense_stages,
}
"""What makes the stages of these numbers, by the kind."""


def stages_of(head: Any, inputs: InputQuantizer, numbers: dict[str, Any]) -> Stages:
    if head is ForestHead:
        nodes, thresholds, leaves, bias = numbers.values()
        return (IntegerForest(nodes, thresholds, leaves, bias, len(inputs.zero)),)
    return STAGES[head](inputs.maximum, **numbers)


def chain_of(head: Any, *, inputs: InputQuantizer, **fields: Any) -> IntegerChain:
    """Return the integer model of a kind with these numbers and other fields."""
    numbers = {name: fields.pop(name, None) for name in PLACES[head]}
    own = stages_of(head, inputs, numbers)
    return IntegerChain(head=head, inputs=inputs, own_stages=own, **fields)


def random_parts(features: int, maximum: int, classes: int) -> dict[str, Any]:
    """Return what integers of random numbers have besides these."""
    return {
        "inputs": InputQuantizer(np.zeros(features), np.full(features, 1 / maximum), maximum),
        "score_scale": 1 / 1000,
        "classes": tuple(f"class {label}" for label in range(classes)),
    }


def tiny_parts(maximum: int, classes: int = 3) -> dict[str, Any]:
    """Return what small models of 6 features that are written by hand have besides numbers."""
    return {
        "inputs": InputQuantizer(zero=np.arange(6) * 0.5, step=np.full(6, 0.25), maximum=maximum),
        "score_scale": 1 / 4096,
        "classes": ("still", "walking", 'a "quoted" */ name')[: max(2, classes)],
    }


protonn_chain = partial(chain_of, ProtoNNHead)
linear_chain = partial(chain_of, LinearHead)
dense_chain = partial(chain_of, DenseHead)
forest_chain = partial(chain_of, ForestHead)


def model_of(head: Any, **fields: Any) -> Model:
    """Return the float model of a kind with these matrices and other fields."""
    own = {field.name for field in dataclasses.fields(head)} & fields.keys()
    if head is ForestHead:
        fields["n_features"], own = len(fields["normalizer"].scale), own | {"n_features"}
    return Model(head=head(**{name: fields.pop(name) for name in own}), **fields)


protonn_model = partial(model_of, ProtoNNHead)
linear_model = partial(model_of, LinearHead)
forest_model = partial(model_of, ForestHead)


def dense_model_of(weights: Any, biases: Any, X: Any, **parts: Any) -> Model:
    """Return the network of these layers, with statistics of their values on points X."""
    return Model(head=DenseHead.of(weights, biases, X), **parts)


def replace(instance: Instance, **changes: Any) -> Instance:
    """Return a dataclass with other fields; of a model, these may be its numbers."""
    if isinstance(instance, Model):
        own_names = {field.name for field in dataclasses.fields(instance.head)} & changes.keys()
        changed = {name: changes.pop(name) for name in own_names}
        head = dataclasses.replace(changes.pop("head", instance.head), **changed)
        if room := changes.pop("teachable", 0):
            from protonn_edge.extensions.teaching.protonn.model import Teachable

            more = {"vote": changes.pop("taught_vote", 0.25)}
            voters = Teachable(room, new_classes=changes.pop("new_classes", 0), **more)
            head = dataclasses.replace(head, voters=voters)
        return dataclasses.replace(instance, head=head, **changes)
    if not isinstance(instance, IntegerChain) or instance.score_tolerance:
        return dataclasses.replace(instance, **changes)  # type: ignore[type-var]
    numbers = numbers_of(instance)
    numbers |= {name: changes.pop(name) for name in numbers.keys() & changes.keys()}
    inputs = changes.get("inputs", instance.inputs)
    own = stages_of(instance.head, inputs, numbers)
    return dataclasses.replace(instance, own_stages=own, **changes)
