"""Integer models of given numbers: made of them, and changed, by their names in the hash."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from protonn_edge.chain.input_quantizer.quantizer import InputQuantizer
from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.chain.integer_stage import IntegerStage, Range
from protonn_edge.kinds.bonsai.head import BonsaiModel, LocalDeepKernelModel
from protonn_edge.kinds.bonsai.integers import IntegerBonsaiTree
from protonn_edge.kinds.bonsai.quantize import coordinate_range
from protonn_edge.kinds.bonsai.sums import Sums
from protonn_edge.kinds.dense.head import DenseModel
from protonn_edge.kinds.dense.quantize import stages_of as dense_stages
from protonn_edge.kinds.forest.head import ForestModel
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.linear.head import LinearModel
from protonn_edge.kinds.linear.integers import IntegerLinear
from protonn_edge.kinds.protonn.head import ProtoNNModel
from protonn_edge.kinds.protonn.projection.integers import IntegerProjection
from protonn_edge.kinds.protonn.quantize import stages_of as protonn_stages

Instance = TypeVar("Instance")
Stages = tuple[IntegerStage, ...]


def _tree(feed: Range, numbers: dict[str, Any]) -> IntegerBonsaiTree:
    return IntegerBonsaiTree(
        Sums(numbers["weights"], numbers["weight_bias"]),
        Sums(numbers["gates"], numbers["gate_bias"]),
        Sums(numbers["branches"], numbers["branch_bias"]),
        numbers["weight_shift"],
        numbers["gate_shift"],
        numbers["table"],
        feed,
    )


def _kernel_stages(maximum: int, **numbers: Any) -> Stages:
    return (_tree(Range.of_bytes(numbers["weights"].shape[1], maximum), numbers),)


def _bonsai_stages(maximum: int, **numbers: Any) -> Stages:
    feed = coordinate_range(len(numbers["projection"]))
    Z, bias, bits = (numbers[name] for name in ("projection", "bias", "accumulator_bits"))
    projection = IntegerProjection(
        Z, bias, bits, maximum, numbers["multiplier"], numbers["offset"], feed
    )
    return projection, _tree(feed, numbers)


STAGES: dict[Any, Callable[..., Stages]] = {
    ProtoNNModel: protonn_stages,
    LinearModel: lambda maximum, **numbers: (IntegerLinear(**numbers, input_maximum=maximum),),
    DenseModel: dense_stages,
    BonsaiModel: _bonsai_stages,
    LocalDeepKernelModel: _kernel_stages,
}
"""What makes the stages of these numbers, by the kind."""


def stages_of(head: Any, inputs: InputQuantizer, numbers: dict[str, Any]) -> Stages:
    if head is ForestModel:
        nodes, thresholds, leaves, bias = numbers.values()
        return (IntegerForest(nodes, thresholds, leaves, bias, len(inputs.zero)),)
    return STAGES[head](inputs.maximum, **numbers)


def chain_of(head: Any, *, inputs: InputQuantizer, **fields: Any) -> IntegerChain:
    """Return the integer model of a kind with these numbers and other fields."""
    numbers = {name: fields.pop(name) for name in head.hashed}
    own = stages_of(head, inputs, numbers)
    return IntegerChain(head=head, inputs=inputs, own_stages=own, **fields)


protonn_chain = partial(chain_of, ProtoNNModel)
linear_chain = partial(chain_of, LinearModel)
dense_chain = partial(chain_of, DenseModel)
forest_chain = partial(chain_of, ForestModel)
bonsai_chain = partial(chain_of, BonsaiModel)
kernel_chain = partial(chain_of, LocalDeepKernelModel)


def replace(instance: Instance, **changes: Any) -> Instance:
    """Return a dataclass with other fields; of an integer model, these may be its numbers."""
    if not isinstance(instance, IntegerChain):
        return dataclasses.replace(instance, **changes)  # type: ignore[type-var]
    numbers = instance.numbers
    numbers |= {name: changes.pop(name) for name in numbers.keys() & changes.keys()}
    inputs = changes.get("inputs", instance.inputs)
    own = stages_of(instance.head, inputs, numbers)
    return dataclasses.replace(instance, own_stages=own, **changes)
