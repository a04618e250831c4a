"""The float model and its file."""

from __future__ import annotations

from protonn_edge.model.base import Model
from protonn_edge.model.file import FORMAT_VERSION, load_model, model_bytes, save_model
from protonn_edge.model.normalizer import NORMALIZER_KINDS, Normalizer, unit_rows
from protonn_edge.model.protonn import GAMMAS, ProtoNNModel, check_gamma, checked_protonn, rbf
from protonn_edge.model.statistics import InputStatistics, common_range, mean_and_deviation

__all__ = [
    "FORMAT_VERSION",
    "GAMMAS",
    "NORMALIZER_KINDS",
    "InputStatistics",
    "Model",
    "Normalizer",
    "ProtoNNModel",
    "check_gamma",
    "checked_protonn",
    "common_range",
    "load_model",
    "mean_and_deviation",
    "model_bytes",
    "rbf",
    "save_model",
    "unit_rows",
]
