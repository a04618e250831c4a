"""What may vote beside the prototypes, on a device: its integers.

An extension has them; see `protonn_edge.kinds.protonn.additions`. Most stages have none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from protonn_edge.model.integer_stage import IntArray


class Voters(ABC):
    """What votes beside the prototypes; the stage is an `IntegerPrototypes`."""

    # whose they are
    extension: ClassVar[str]
    new_classes: int  # number of last classes that no prototype votes for

    @property
    @abstractmethod
    def largest(self) -> int:
        """The largest sum of votes for a class, in units of the label vectors."""

    @abstractmethod
    def state_bytes(self, n_inputs: int) -> int:
        """Return the bytes of variables that they need on a chip that has no EEPROM."""

    @abstractmethod
    def check(self, n_inputs: int, n_outputs: int) -> None:
        """Raise `InputError` if generated code of a stage of these sizes cannot hold them."""

    @abstractmethod
    def votes(self, stage: Any, P: IntArray) -> tuple[IntArray, IntArray]:
        """Return RBFs of voters near points P, (n, d), and all their votes, (n, L)."""
