"""What learning one class adds to ProtoNN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from protonn_edge.kinds.protonn.additions import ProtoNNAddition

if TYPE_CHECKING:
    from protonn_edge.extensions.one_class.parameters import OneClassParameters
    from protonn_edge.learn.refusal import Refusal


class OneClassProtoNN(ProtoNNAddition):
    """Prototypes of normal points alone."""

    def parameters(self) -> type[OneClassParameters]:
        """Return whether all points are of one class."""
        from protonn_edge.extensions.one_class.parameters import OneClassParameters

        return OneClassParameters

    def refusals(self) -> Sequence[Refusal]:
        """Return combinations with it that training refuses."""
        from protonn_edge.extensions.one_class.train.refusals import REFUSALS

        return REFUSALS
