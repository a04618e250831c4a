"""The head of a network, of which a classifier may take more than the layers before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protonn_edge.learn.points import Float32


@dataclass(frozen=True, eq=False)
class NetworkHead:
    """The head that layers were trained with."""

    # of a linear head, weights (L, F) and bias (L,)
    parameters: Sequence[Float32]
    unit: float  # its input for an integer of 1 from the last layer
    stopped: bool = False  # whether the training was stopped before its last pass
