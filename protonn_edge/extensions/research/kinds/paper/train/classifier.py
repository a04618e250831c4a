"""ProtoNN with the paper's optimizer and losses as an estimator."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.extensions.research.kinds.paper.train.learner import PaperProtoNNLearner
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class PaperProtoNNClassifier(PaperProtoNNLearner, ProtoNNClassifier):
    """ProtoNN trained as in its paper; see `ProtoNNClassifier`."""
