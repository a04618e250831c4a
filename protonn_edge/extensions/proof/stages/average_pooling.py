"""Averages of pixels as functions of sums of tables."""

from __future__ import annotations

from protonn_edge.extensions.proof.forms import SumForm
from protonn_edge.extensions.proof.reference import Reference, forms
from protonn_edge.features.average_pooling.integers import IntegerAveragePooling


@forms.register(IntegerAveragePooling)
def _(stage: IntegerAveragePooling, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the averages of images."""
    sums = reference.affine(stage.pooling.sums, inputs)
    return [reference.function(each, stage.averages) for each in sums]
