"""Layers of quantized networks as functions of sums of tables."""

from __future__ import annotations

from functools import partial

from protonn_edge.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.proof.forms import Integers, SumForm
from protonn_edge.proof.reference import Reference


def forms(stage: IntegerInt8Layer, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the values of images; each channel has numbers of its own."""

    def values(channel: int, sums: Integers) -> Integers:
        return stage.requantized(sums[:, None])[:, channel]

    channels = len(stage.weights)
    return [
        reference.function(each, partial(values, number % channels))
        for number, each in enumerate(reference.affine(stage.sums, inputs))
    ]
