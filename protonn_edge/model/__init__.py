"""The float model and its file."""

from __future__ import annotations

from protonn_edge.model.model import (
    _ARRAYS,
    _OPTIONAL_ARRAYS,
    FORMAT_VERSION,
    GAMMAS,
    NORMALIZER_KINDS,
    InputStatistics,
    Normalizer,
    ProtoNNModel,
    check_gamma,
    common_range,
    load_model,
    mean_and_deviation,
    model_bytes,
    rbf,
    save_model,
    unit_rows,
)

__all__ = [
    "FORMAT_VERSION",
    "GAMMAS",
    "NORMALIZER_KINDS",
    "_ARRAYS",
    "_OPTIONAL_ARRAYS",
    "InputStatistics",
    "Normalizer",
    "ProtoNNModel",
    "check_gamma",
    "common_range",
    "load_model",
    "mean_and_deviation",
    "model_bytes",
    "rbf",
    "save_model",
    "unit_rows",
]
