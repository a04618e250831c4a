"""What teaching adds to ProtoNN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from protonn_edge.kinds.protonn.additions import ProtoNNAddition

if TYPE_CHECKING:
    from protonn_edge.data.naming import Notice
    from protonn_edge.extensions.teaching.protonn.loop import TaughtVoting
    from protonn_edge.extensions.teaching.protonn.model import Teachable
    from protonn_edge.extensions.teaching.protonn.parameters import TeachingParameters
    from protonn_edge.extensions.teaching.protonn.train.episodes import TeachableTraining
    from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
    from protonn_edge.learn.refusal import Refusal


class TeachableProtoNN(ProtoNNAddition):
    """Examples that vote beside prototypes."""

    def parameters(self) -> type[TeachingParameters]:
        """Return the numbers of examples and of new classes."""
        from protonn_edge.extensions.teaching.protonn.parameters import TeachingParameters

        return TeachingParameters

    def refusals(self) -> Sequence[Refusal]:
        """Return combinations with these numbers that training refuses."""
        from protonn_edge.extensions.teaching.protonn.train.checks import REFUSALS

        return REFUSALS

    def notices(self, settings: Any, n_projections: int) -> Sequence[Notice]:
        """Return a warning if an Uno's EEPROM is too small for the examples."""
        from protonn_edge.extensions.teaching.protonn.train.checks import notices

        return notices(settings, n_projections)

    def training(self, settings: Any) -> TeachableTraining | None:
        """Return how training allows for examples, if a device may be taught any."""
        if not settings.teachable:
            return None
        from protonn_edge.extensions.teaching.protonn.train.episodes import TeachableTraining

        return TeachableTraining(settings)

    def voters(self) -> type[Teachable]:
        """Return the examples of a model."""
        from protonn_edge.extensions.teaching.protonn.model import Teachable

        return Teachable

    def voters_kernel(self, stage: IntegerPrototypes) -> TaughtVoting:
        """Return the code that adds the votes of examples."""
        from protonn_edge.extensions.teaching.protonn.loop import TaughtVoting

        return TaughtVoting(stage)
