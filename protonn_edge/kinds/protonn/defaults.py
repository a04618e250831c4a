"""How ProtoNN is trained unless an extension trains it otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from protonn_edge.learn.parameters import MiniBatchParameters

if TYPE_CHECKING:
    from protonn_edge.learn.objective import Loss
    from protonn_edge.learn.training_set import TrainingSet


@dataclass(kw_only=True, eq=False, repr=False)
class ProtoNNDefaults(MiniBatchParameters):
    """The base of ProtoNN's parameters, and of those that extensions bring."""

    @property
    def other_optimizer(self) -> Any:
        """The optimizer in place of the joint one; None without another one."""
        return None

    @property
    def learns_logits(self) -> bool:
        """Whether the loss makes the scores logits, with a sharpness that is learned."""
        return True

    def loss_for(self, data: TrainingSet) -> Loss:
        """Return the loss to minimize on points."""
        loss: Loss = data.labels.loss(has_strangers=data.has_strangers)
        return loss
