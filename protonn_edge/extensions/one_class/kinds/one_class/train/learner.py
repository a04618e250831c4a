"""What learns a ProtoNN of one class."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.extensions.one_class.kinds.one_class.parameters import OneClassProtoNNParameters
from protonn_edge.extensions.one_class.kinds.one_class.train.target import OneClass
from protonn_edge.kinds.protonn.train.learner import ProtoNNLearner
from protonn_edge.learn.targets import Target


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassProtoNNLearner(OneClassProtoNNParameters, ProtoNNLearner):
    """Learns it; `OneClassProtoNNClassifier` describes it."""

    @property
    def target(self) -> Target:
        """The target of the training."""
        return OneClass() if self.one_class else super().target
