"""What the ProtoNN paper's optimizer adds to ProtoNN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from protonn_edge.kinds.protonn.additions import ProtoNNAddition

if TYPE_CHECKING:
    from protonn_edge.extensions.research.paper.parameters import PaperParameters
    from protonn_edge.learn.refusal import Refusal


class PaperProtoNN(ProtoNNAddition):
    """The optimizer that trains Z, B and W in turn, and other losses."""

    def parameters(self) -> type[PaperParameters]:
        """Return the optimizer and its settings."""
        from protonn_edge.extensions.research.paper.parameters import PaperParameters

        return PaperParameters

    def searched(self) -> Mapping[str, tuple[object, ...]]:
        """Return the losses that a search tries."""
        from protonn_edge.extensions.research.paper.parameters import SEARCHED

        return SEARCHED

    def refusals(self) -> Sequence[Refusal]:
        """Return combinations with this optimizer that training refuses."""
        from protonn_edge.extensions.research.paper.train.refusals import REFUSALS

        return REFUSALS
