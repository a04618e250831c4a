"""Scales, the exponential's table, and the integer model that is the bit-exact reference."""

from __future__ import annotations

from protonn_edge.quantization.activity import measure_activity
from protonn_edge.quantization.dequantizer import DequantizedModel, dequantize
from protonn_edge.quantization.float32_model import Float32Model, float32_model
from protonn_edge.quantization.folding import input_quantizer
from protonn_edge.quantization.integer_chain import (
    MODEL_HASH_BYTES,
    MOST_FEATURES,
    IntegerChain,
    check_counts,
)
from protonn_edge.quantization.integer_model import IntegerModel
from protonn_edge.quantization.precision import (
    PRECISIONS,
    DeviceModel,
    device_model,
    precisions_of,
)
from protonn_edge.quantization.quantize import quantize, why_floats_alone
from protonn_edge.quantization.quantizer import (
    Precision,
    precision_for,
    quantize_in_order,
)
from protonn_edge.quantization.rejection import (
    Statistics,
    check_margin,
    check_rate,
    check_statistics,
    rejection_for,
    statistics_of,
    together,
    with_rejection,
)
from protonn_edge.quantization.stage_losses import StageLoss, stage_losses

__all__ = [
    "MODEL_HASH_BYTES",
    "MOST_FEATURES",
    "PRECISIONS",
    "DequantizedModel",
    "DeviceModel",
    "Float32Model",
    "IntegerChain",
    "IntegerModel",
    "Precision",
    "StageLoss",
    "Statistics",
    "check_counts",
    "check_margin",
    "check_rate",
    "check_statistics",
    "dequantize",
    "device_model",
    "float32_model",
    "input_quantizer",
    "measure_activity",
    "precision_for",
    "precisions_of",
    "quantize",
    "quantize_in_order",
    "rejection_for",
    "stage_losses",
    "statistics_of",
    "together",
    "why_floats_alone",
    "with_rejection",
]
