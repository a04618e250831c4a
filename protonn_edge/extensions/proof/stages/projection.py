"""Coordinates as functions of sums of tables."""

from __future__ import annotations

from functools import partial

import numpy as np

from protonn_edge.extensions.proof.forms import Integers, SumForm
from protonn_edge.extensions.proof.reference import Reference, forms
from protonn_edge.kinds.projection.integers import (
    COORDINATE_MAXIMUM,
    COORDINATE_MINIMUM,
    IntegerProjection,
)


@forms.register(IntegerProjection)
def _(stage: IntegerProjection, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the coordinates of bytes."""
    dropped = stage.accumulator_bits - 16

    def coordinates(k: int, sums: Integers) -> Integers:
        unlimited = stage.requantized(sums[:, None])[:, k]
        return np.clip(unlimited, COORDINATE_MINIMUM, COORDINATE_MAXIMUM)

    return [
        reference.function(each, partial(coordinates, k), dropped)
        for k, each in enumerate(reference.products(stage.weights, stage.bias, inputs))
    ]
