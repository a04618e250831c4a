"""Scales, the exponential's table, and the integer model that is the bit-exact reference."""

from __future__ import annotations

from protonn_edge.model.activity import Activity
from protonn_edge.quantization.activity import compared, measure_activity
from protonn_edge.quantization.dequantizer import DequantizedModel, dequantize
from protonn_edge.quantization.exponential import (
    RBF_CUTOFF,
    cut_rbf,
    exponential_table,
    tabulated_rbf,
)
from protonn_edge.quantization.float32_model import Float32Model, float32_model
from protonn_edge.quantization.integer_model import (
    FEATURE_MAXIMUM,
    MODEL_HASH_BYTES,
    PROJECTION_MAXIMUM,
    PROJECTION_MINIMUM,
    InputQuantizer,
    IntegerModel,
    check_counts,
)
from protonn_edge.quantization.precision import (
    PRECISIONS,
    DeviceModel,
    device_model,
    precisions_of,
)
from protonn_edge.quantization.quantizer import (
    Precision,
    input_quantizer,
    precision_for,
    quantize,
    quantize_in_order,
    why_floats_alone,
)
from protonn_edge.quantization.raw_inputs import (
    RAW_SHIFT,
    FloatQuantizer,
    FloatScale,
    RawQuantizer,
    RawScale,
    float_quantizer,
    raw_quantizer,
)
from protonn_edge.quantization.rejection import (
    Statistics,
    check_rate,
    rejection_for,
    statistics_of,
    together,
    with_rejection,
)
from protonn_edge.quantization.stages import STAGES, StageLoss, stage_losses

__all__ = [
    "FEATURE_MAXIMUM",
    "MODEL_HASH_BYTES",
    "PRECISIONS",
    "PROJECTION_MAXIMUM",
    "PROJECTION_MINIMUM",
    "RAW_SHIFT",
    "RBF_CUTOFF",
    "STAGES",
    "Activity",
    "DequantizedModel",
    "DeviceModel",
    "Float32Model",
    "FloatQuantizer",
    "FloatScale",
    "InputQuantizer",
    "IntegerModel",
    "Precision",
    "RawQuantizer",
    "RawScale",
    "StageLoss",
    "Statistics",
    "check_counts",
    "check_rate",
    "compared",
    "cut_rbf",
    "dequantize",
    "device_model",
    "exponential_table",
    "float32_model",
    "float_quantizer",
    "input_quantizer",
    "measure_activity",
    "precision_for",
    "precisions_of",
    "quantize",
    "quantize_in_order",
    "raw_quantizer",
    "rejection_for",
    "stage_losses",
    "statistics_of",
    "tabulated_rbf",
    "together",
    "why_floats_alone",
    "with_rejection",
]
