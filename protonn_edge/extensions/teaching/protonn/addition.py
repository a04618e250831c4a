"""What teaching adds to models of ProtoNN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protonn_edge.kinds.protonn.additions import ProtoNNAddition

if TYPE_CHECKING:
    from protonn_edge.extensions.teaching.protonn.loop import TaughtVoting
    from protonn_edge.extensions.teaching.protonn.model import Teachable
    from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes


class TeachableProtoNN(ProtoNNAddition):
    """Examples that vote beside prototypes."""

    def voters(self) -> type[Teachable]:
        """Return the examples of a model."""
        from protonn_edge.extensions.teaching.protonn.model import Teachable

        return Teachable

    def voters_kernel(self, stage: IntegerPrototypes) -> TaughtVoting:
        """Return the code that adds the votes of examples."""
        from protonn_edge.extensions.teaching.protonn.loop import TaughtVoting

        return TaughtVoting(stage)
