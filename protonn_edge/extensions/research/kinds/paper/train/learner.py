"""What learns a ProtoNN with the paper's optimizer and losses."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.extensions.research.kinds.paper.parameters import (
    CROSS_ENTROPY,
    PaperProtoNNParameters,
)
from protonn_edge.extensions.research.kinds.paper.train.alternating import Alternating
from protonn_edge.extensions.research.kinds.paper.train.losses import loss_named
from protonn_edge.kinds.protonn.train.learner import ProtoNNLearner
from protonn_edge.learn.objective import Loss
from protonn_edge.learn.training_set import TrainingSet


@dataclass(kw_only=True, eq=False, repr=False)
class PaperProtoNNLearner(PaperProtoNNParameters, ProtoNNLearner):
    """Learns it; `PaperProtoNNClassifier` describes it."""

    @property
    def other_optimizer(self) -> Alternating | None:
        """The alternating optimizer, if it is chosen."""
        return Alternating() if self.optimizer == "alternating" else None

    @property
    def learns_logits(self) -> bool:
        """Whether the loss is the cross-entropy."""
        return self.loss == CROSS_ENTROPY

    def loss_for(self, data: TrainingSet) -> Loss:
        """Return the chosen loss."""
        return super().loss_for(data) if self.loss == CROSS_ENTROPY else loss_named(self.loss)
