"""Coordinates as functions of sums of tables."""

from __future__ import annotations

from functools import partial

from protonn_edge.extensions.proof.forms import SumForm
from protonn_edge.extensions.proof.reference import Reference, forms, one_of
from protonn_edge.kinds.projection.integers import IntegerProjection
from protonn_edge.model.formulas import Operand


@forms.register(IntegerProjection)
def _(stage: IntegerProjection, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the coordinates of bytes."""
    dropped = stage.accumulator_bits - 16

    def coordinates(k: int, sums: Operand) -> Operand:
        return one_of(k, stage.limited, sums)

    return [
        reference.function(each, partial(coordinates, k), dropped)
        for k, each in enumerate(reference.products(stage.weights, stage.bias, inputs))
    ]
