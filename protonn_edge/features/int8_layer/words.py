"""Layers of quantized networks on chips of 32 bits."""

from __future__ import annotations

from protonn_edge.codegen.kernels.words import ConstantTable, Words, modulo
from protonn_edge.features.images.window_sums import padded_bytes
from protonn_edge.features.int8_layer.integers import IntegerInt8Layer


def words(stage: IntegerInt8Layer) -> Words:
    """Return the weights, a row for each output channel, and the numbers of each channel."""
    tables = {
        "weights": ConstantTable(
            "int8_t", stage.weights.reshape(len(stage.weights), -1), "Weights"
        ),
        "bias": ConstantTable("uint32_t", modulo(stage.bias)[None], "Initial sums"),
        "multipliers": ConstantTable("int32_t", stage.multipliers[None], "Multipliers"),
        "shifts": ConstantTable("int8_t", stage.shifts[None], "Shifts to the right"),
    }
    return Words(tables, scratch_bytes=padded_bytes(stage))
