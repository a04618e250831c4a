"""Hidden layers as functions of sums of tables."""

from __future__ import annotations

from protonn_edge.extensions.proof.forms import SumForm
from protonn_edge.extensions.proof.reference import Reference, forms
from protonn_edge.kinds.dense.integers import IntegerDense


@forms.register(IntegerDense)
def _(stage: IntegerDense, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the values of bytes."""
    sums = reference.products(stage.weights, stage.bias, inputs)
    dropped = stage.accumulator_bits - 16
    return [reference.function(each, stage.rectified, dropped) for each in sums]
