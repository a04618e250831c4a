"""What a device may watch of its answers, for an extension.

A float model has statistics of its answers, and the integer chain of firmware that compares answers
with them has a watch. Neither changes an answer, nor the hash of the model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from protonn_edge.model.features import Features


class WatchCost(NamedTuple):
    """The cost of a watch: cycles of the compiler's code, and bytes."""

    cycles: int = 0  # on average
    code: int = 0  # flash
    tables: int = 0  # flash
    state: int = 0  # SRAM


class AnswerWatch(ABC):
    """What watches the answers of a device."""

    kernel: ClassVar[str]  # of the decision, in the plan of a model that is watched
    template: ClassVar[str]  # in ``templates/``
    shifted_bytes: int  # number of lowest bytes of a score that are left out
    watched: range  # the inputs of the classifier that it watches

    @property
    @abstractmethod
    def cost(self) -> WatchCost:
        """Its cost in a prediction."""


def watchable_inputs(features: Features | None, n_inputs: int) -> int:
    """Return the number of inputs of the classifier that a device can watch: all, or none.

    Of features, those of windows are watched, unless they come from layers, in parts.
    """
    if features is not None:
        layers = any(hasattr(each, "by_rows") for each in features.stages)
        if layers or not features.points.is_signal:
            return 0
    return n_inputs if n_inputs < 2**15 else 0
