"""Scales, the exponential's table, and the integer model that is the bit-exact reference."""

from __future__ import annotations

from protonn_edge.quantization.exponential import exponential_table
from protonn_edge.quantization.integer_model import (
    MODEL_HASH_BYTES,
    PROJECTION_CLAMP,
    InputQuantizer,
    IntegerModel,
    check_counts,
)
from protonn_edge.quantization.quantizer import input_quantizer, quantize

__all__ = [
    "MODEL_HASH_BYTES",
    "PROJECTION_CLAMP",
    "InputQuantizer",
    "IntegerModel",
    "check_counts",
    "exponential_table",
    "input_quantizer",
    "quantize",
]
