"""Scales, the exponential's table, and the integer model that is the bit-exact reference."""

from __future__ import annotations

from protonn_edge.quantization.dequantizer import DequantizedModel, dequantize
from protonn_edge.quantization.exponential import exponential_table, tabulated_kernel
from protonn_edge.quantization.integer_model import (
    PROJECTION_CLAMP,
    InputQuantizer,
    IntegerModel,
)
from protonn_edge.quantization.quantizer import (
    Precision,
    input_quantizer,
    precision_for,
    quantize,
    quantize_in_order,
)

__all__ = [
    "PROJECTION_CLAMP",
    "DequantizedModel",
    "InputQuantizer",
    "IntegerModel",
    "Precision",
    "dequantize",
    "exponential_table",
    "input_quantizer",
    "precision_for",
    "quantize",
    "quantize_in_order",
    "tabulated_kernel",
]
