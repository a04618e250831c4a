"""How ProtoNN is trained unless an extension trains it otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from protonn_edge.system.lazy import later
from protonn_edge.training.parameters import MiniBatchParameters

if TYPE_CHECKING:
    from protonn_edge.training.objective import Loss
    from protonn_edge.training.points import Points

_cross_entropy_of = later("protonn_edge.training.objective", "cross_entropy_of")


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

    def loss_for(self, points: Points) -> Loss:
        """Return the loss to minimize on points."""
        loss: Loss = _cross_entropy_of(points)
        return loss
