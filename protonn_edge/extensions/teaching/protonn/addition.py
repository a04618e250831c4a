"""What teaching adds to ProtoNN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from protonn_edge.kinds.protonn.additions import ProtoNNAddition


class TeachableProtoNN(ProtoNNAddition):
    """Examples that vote beside prototypes."""

    def parameters(self) -> type[Any]:
        """Return the numbers of examples and of new classes."""
        from protonn_edge.extensions.teaching.protonn.parameters import TeachingParameters

        return TeachingParameters

    def refusals(self) -> Sequence[Any]:
        """Return combinations with these numbers that training refuses."""
        from protonn_edge.extensions.teaching.protonn.train.checks import REFUSALS

        return REFUSALS

    def notices(self, settings: Any, n_projections: int) -> Sequence[Any]:
        """Return a warning if an Uno's EEPROM is too small for the examples."""
        from protonn_edge.extensions.teaching.protonn.train.checks import notices

        return notices(settings, n_projections)

    def training(self, settings: Any) -> Any:
        """Return how training allows for examples."""
        from protonn_edge.extensions.teaching.protonn.train.episodes import TeachableTraining

        return TeachableTraining(settings)

    def voters(self) -> type[Any]:
        """Return the examples of a model."""
        from protonn_edge.extensions.teaching.protonn.model import Teachable

        return Teachable

    def voters_kernel(self, stage: Any) -> Any:
        """Return the code that adds the votes of examples."""
        from protonn_edge.extensions.teaching.protonn.loop import TaughtVoting

        return TaughtVoting(stage)
