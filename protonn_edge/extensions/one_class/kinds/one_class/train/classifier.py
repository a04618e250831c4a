"""ProtoNN of one class as an estimator."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.extensions.one_class.kinds.one_class.parameters import OneClassProtoNNParameters
from protonn_edge.extensions.one_class.kinds.one_class.train.target import OneClass
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.targets import Target


@dataclass(kw_only=True, eq=False, repr=False)
class OneClassProtoNNClassifier(OneClassProtoNNParameters, ProtoNNClassifier):
    """ProtoNN of one class; see `ProtoNNClassifier`."""

    @property
    def target(self) -> Target:
        """The target of the training."""
        return OneClass() if self.one_class else super().target
