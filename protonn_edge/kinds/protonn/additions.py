"""What an extension may add to ProtoNN: parameters, another training, voters beside prototypes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from protonn_edge.system.extensions import additions_to

if TYPE_CHECKING:
    from protonn_edge.data.naming import Notice
    from protonn_edge.learn.refusal import Refusal


class ProtoNNAddition:
    """What an extension adds to "protonn"; by default nothing.

    Its methods import what they return.
    """

    def parameters(self) -> type[object] | None:
        """Return parameters of the estimator, a dataclass that becomes a base of it."""
        return None

    def searched(self) -> Mapping[str, tuple[object, ...]]:
        """Return parameters that a search tries, with their values."""
        return {}

    def refusals(self) -> Sequence[Refusal]:
        """Return combinations that training refuses, `protonn_edge.learn.refusal.Refusal`."""
        return ()

    def notices(self, settings: Any, n_projections: int) -> Sequence[Notice]:
        """Return notices about training with some settings."""
        del settings, n_projections
        return ()

    def training(self, settings: Any) -> Any:
        """Return the `VotersTraining` of these settings, or None."""
        del settings

    def voters(self) -> type[Any] | None:
        """Return the kind of `FloatVoters` that a model may have."""
        return None

    def voters_kernel(self, stage: Any) -> Any:
        """Return the `VotersKernel` of an `IntegerPrototypes` with its voters."""
        del stage
        raise NotImplementedError


def protonn_additions() -> dict[str, ProtoNNAddition]:
    """Return what all extensions add to ProtoNN, by their names."""
    return additions_to("protonn", ProtoNNAddition)


def voters_by_extension() -> dict[str, type[Any]]:
    """Return the kinds of voters that a model file may have, by their extensions' names."""
    kinds = {name: each.voters() for name, each in protonn_additions().items()}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def voters_kernel(extension: str, stage: Any) -> Any:
    """Return the kernel of the voters of a stage, which an extension has."""
    return protonn_additions()[extension].voters_kernel(stage)
