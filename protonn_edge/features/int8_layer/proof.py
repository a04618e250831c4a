"""Layers of quantized networks as functions of sums of tables."""

from __future__ import annotations

from protonn_edge.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.proof.forms import SumForm
from protonn_edge.proof.reference import Reference


def forms(stage: IntegerInt8Layer, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the values of images; each channel has numbers of its own."""
    channels = len(stage.weights)
    return [
        reference.function(each, lambda a, k=number % channels: stage.requantized(a[:, None])[:, k])
        for number, each in enumerate(reference.affine(stage.sums, inputs))
    ]
