"""Convolutions on chips of 32 bits: a product for each row of a window."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from protonn_edge.codegen.kernels.words import ConstantTable, Words, product
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.images.window_sums import padded_bytes


def words(stage: IntegerConvolution) -> Words:
    """Return the weights, a row for each value of a window, and the initial sums."""
    rows = np.moveaxis(stage.weights, 0, -1).reshape(-1, len(stage.weights))
    if stage.depthwise:
        tables = {
            "bias": ConstantTable("int32_t", stage.bias[None], "The initial sum of each channel"),
            "weights": ConstantTable(
                "int8_t", rows, "Weights, a row of all channels for each pixel"
            ),
        }
        return Words(tables, scratch_bytes=padded_bytes(stage))
    made = product(rows, stage.bias, pairs=True)
    return replace(made, scratch_bytes=padded_bytes(stage))
