"""The part of a device's firmware that learns examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.chips.boards import Board
from protonn_edge.extensions.teaching.examples import Store, Teaching
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.extensions import FirmwarePart


@dataclass(frozen=True)
class TeachingPart(FirmwarePart):
    """The examples of a device, and what its firmware and sketches do with them."""

    name: ClassVar[str] = "teaching"
    header: ClassVar[str] = "teaching/examples.j2"
    live: ClassVar[str] = "teaching/live.j2"
    export: ClassVar[str] = "teaching/export.j2"
    sketches: ClassVar[Mapping[str, str]] = {
        name: f"teaching/{name}.ino.j2" for name in ("TeachButtons", "TeachPresses")
    }
    live_sketches: ClassVar[Mapping[str, str]] = {"LiveButtons": "teaching/LiveButtons.ino.j2"}
    on_any_chip: ClassVar[bool] = True
    receives: ClassVar[bool] = True

    teaching: Teaching
    store: Store  # its layout
    dimension: int  # of examples
    n_classes: int

    @property
    def status_bytes(self) -> int:
        """Bytes of the body of the message about the examples of each class."""
        return 3 + self.n_classes

    def check_memory(self, board: Board) -> None:
        """Raise `CheckFailed` if a board's EEPROM is too small for the examples."""
        self.teaching.check_eeprom(self.dimension, board)

    @classmethod
    def of(cls, model: IntegerChain) -> TeachingPart | None:
        """Return the part of a model's firmware; None if the model cannot be taught."""
        if not isinstance(model, IntegerChain):
            return None
        last = model.own_stages[-1]
        teaching = getattr(last, "voters", None)
        if not isinstance(teaching, Teaching):
            return None
        store = teaching.store(last.n_inputs)
        return cls(teaching, store, last.n_inputs, last.n_outputs)
