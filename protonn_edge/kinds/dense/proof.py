"""Hidden layers as functions of sums of tables."""

from __future__ import annotations

from protonn_edge.kinds.dense.integers import IntegerDense
from protonn_edge.proof.forms import SumForm
from protonn_edge.proof.reference import Reference


def forms(stage: IntegerDense, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the values of bytes."""
    sums = reference.products(stage.weights, stage.bias, inputs)
    dropped = stage.accumulator_bits - 16
    return [reference.function(each, stage.rectified, dropped) for each in sums]
