"""How training allows for what votes beside the prototypes on a device."""

from __future__ import annotations

from typing import Any

from protonn_edge.kinds.protonn.voters import FloatVoters
from protonn_edge.learn.objective import BatchVoters, Parameters
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.learn.training_set import TrainingSet


class DrawnVoters:
    """Draws the points of batches that vote for others."""

    def drawn(self, rows: Indices, largest: float, generator: Any) -> BatchVoters:
        """Draw the voters of a batch; `largest` is the largest entry of Z."""
        raise NotImplementedError


class VotersTraining:
    """The base of what an extension's `ProtoNNAddition.training` returns for some settings."""

    # number of classes that training does not know; with them, it leaves W at its initial value,
    # which also separates the groups of points
    new_classes: int = 0
    gamma_factor: float = 1.0  # on the initial gamma
    # whether the points of a class and group move together towards another group
    in_groups: bool = False

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    def check(self, n_classes: int) -> None:
        """Raise `InputError` if a model of this number of classes cannot have these voters."""

    def labels(self, Z: Float32) -> Float32:
        """Return the label vectors Z (L, m) with those of new classes."""
        return Z

    def voters(self, parameters: Parameters, data: TrainingSet) -> FloatVoters | None:
        """Return the voters of the trained model."""
        del parameters, data
        return None

    def drawn_voters(self, data: TrainingSet) -> DrawnVoters | None:
        """Return what draws voters of batches from points with classes and groups."""
        del data
        return None
