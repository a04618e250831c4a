"""Convolutions as functions of sums of tables."""

from __future__ import annotations

from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.proof.forms import SumForm
from protonn_edge.proof.reference import Reference


def forms(stage: IntegerConvolution, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the values of images."""
    sums = reference.affine(stage.sums, inputs)
    return [reference.function(each, stage.requantized) for each in sums]
