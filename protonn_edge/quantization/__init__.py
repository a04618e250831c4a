"""Scales, the exponential's table, and the integer model that is the bit-exact reference."""

from __future__ import annotations

from protonn_edge.quantization.activity import Activity, compared, measure_activity
from protonn_edge.quantization.dequantizer import DequantizedModel, dequantize
from protonn_edge.quantization.exponential import (
    KERNEL_CUTOFF,
    cut_kernel,
    exponential_table,
    tabulated_kernel,
)
from protonn_edge.quantization.integer_model import (
    FEATURE_MAXIMUM,
    MODEL_HASH_BYTES,
    PROJECTION_MAXIMUM,
    PROJECTION_MINIMUM,
    InputQuantizer,
    IntegerModel,
    check_counts,
)
from protonn_edge.quantization.quantizer import (
    Precision,
    input_quantizer,
    precision_for,
    quantize,
    quantize_in_order,
    why_floats_alone,
)

__all__ = [
    "FEATURE_MAXIMUM",
    "KERNEL_CUTOFF",
    "MODEL_HASH_BYTES",
    "PROJECTION_MAXIMUM",
    "PROJECTION_MINIMUM",
    "Activity",
    "DequantizedModel",
    "InputQuantizer",
    "IntegerModel",
    "Precision",
    "check_counts",
    "compared",
    "cut_kernel",
    "dequantize",
    "exponential_table",
    "input_quantizer",
    "measure_activity",
    "precision_for",
    "quantize",
    "quantize_in_order",
    "tabulated_kernel",
    "why_floats_alone",
]
