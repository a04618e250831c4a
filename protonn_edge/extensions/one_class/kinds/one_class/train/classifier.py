"""ProtoNN of one class as an estimator."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.extensions.one_class.kinds.one_class.train.learner import OneClassProtoNNLearner
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassProtoNNClassifier(OneClassProtoNNLearner, ProtoNNClassifier):
    """ProtoNN of one class; see `ProtoNNClassifier`."""
