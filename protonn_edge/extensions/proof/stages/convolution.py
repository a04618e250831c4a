"""Convolutions as functions of sums of tables."""

from __future__ import annotations

from protonn_edge.extensions.proof.forms import SumForm
from protonn_edge.extensions.proof.reference import Reference, forms
from protonn_edge.features.convolution.integers import IntegerConvolution


@forms.register(IntegerConvolution)
def _(stage: IntegerConvolution, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the values of images."""
    sums = reference.affine(stage.sums, inputs)
    return [reference.function(each, stage.requantized) for each in sums]
