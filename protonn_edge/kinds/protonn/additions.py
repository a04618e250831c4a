"""What an extension may add to models of ProtoNN: what votes beside the prototypes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from protonn_edge.system.extensions import additions_to


class ProtoNNAddition(ABC):
    """What an extension adds to "protonn"; its methods import what they return."""

    @abstractmethod
    def voters(self) -> type[Any]:
        """Return the kind of `FloatVoters` that a model may have."""

    @abstractmethod
    def voters_kernel(self, stage: Any) -> Any:
        """Return the `VotersKernel` of an `IntegerPrototypes` with its voters."""


def voters_by_extension() -> dict[str, type[Any]]:
    """Return the kinds of voters that a model file may have, by their extensions' names."""
    added = additions_to("protonn", ProtoNNAddition)  # type: ignore[type-abstract]
    return {name: each.voters() for name, each in added.items()}


def voters_kernel(extension: str, stage: Any) -> Any:
    """Return the kernel of the voters of a stage, which an extension has."""
    added = additions_to("protonn", ProtoNNAddition)  # type: ignore[type-abstract]
    return added[extension].voters_kernel(stage)
