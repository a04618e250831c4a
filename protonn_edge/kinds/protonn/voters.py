"""What may vote beside the prototypes of a ProtoNN model, in floats.

An extension has them; see `protonn_edge.kinds.protonn.additions`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from protonn_edge.kinds.protonn.prototypes.voters import Voters


class FloatVoters(ABC):
    """What votes beside the prototypes, a dataclass whose fields a model file has."""

    kind: ClassVar[str]  # the name of the extension
    new_classes: int  # number of last classes that no prototype votes for

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, float]:
        """Its numbers, for display."""

    @abstractmethod
    def check(self, n_classes: int) -> None:
        """Raise `InputError` if no device has room for them for this number of classes."""

    @abstractmethod
    def before_training(self, model: Any) -> Any:
        """Return a `Model` that has them as it is trained further."""

    @abstractmethod
    def integers(self, label_maximum: int) -> Voters:
        """Return their integers; votes depend on the largest label."""

    @abstractmethod
    def rounding_error(self, label_maximum: int) -> float:
        """Return the square of the error of a vote, in units of the labels."""
