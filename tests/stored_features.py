"""Features as the arrays of a model file."""

from __future__ import annotations

import numpy as np

from protonn_edge.model import stored
from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.features import Features
from protonn_edge.model.registry import stage_class


def to_arrays(features: Features) -> dict[str, np.ndarray]:
    """Return the arrays of features."""
    return stored.to_arrays(features, "features")


def from_arrays(arrays: dict[str, np.ndarray]) -> Features:
    """Return the features in arrays."""
    return stored.from_arrays(Features, arrays, "features", {FeatureStage: stage_class})
