"""Train a ProtoNN model: the scikit-learn estimator and the parts that it is made of."""

from __future__ import annotations

from protonn_edge.training.estimator import ProtoNNClassifier
from protonn_edge.training.progress import EpochReport

__all__ = ["EpochReport", "ProtoNNClassifier"]
