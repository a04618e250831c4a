"""Train models: scikit-learn estimators, and the parts that they are made of."""

from __future__ import annotations

from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.progress import EpochReport, TrainingStopped
from protonn_edge.training.protonn import ProtoNNClassifier

__all__ = ["DeviceClassifier", "EpochReport", "ProtoNNClassifier", "TrainingStopped"]
