"""What is read in linked programs for an RP2040."""

from __future__ import annotations

from pathlib import Path

from protonn_edge.chips.avr.program import Sections
from protonn_edge.chips.boards import Board
from protonn_edge.codegen.families.family import LinkedFirmware, ReadsPrograms, Stack
from protonn_edge.codegen.families.one_call import MODEL_OBJECT
from protonn_edge.extensions.pico.program import (
    STACK_BYTES,
    RP2040Program,
    read_program,
    read_share,
)


class ReadsRP2040Programs(ReadsPrograms):
    """Linked programs for an RP2040."""

    def read(self, elf: Path) -> RP2040Program:
        return read_program(elf)

    def share(self, elf: Path) -> Sections:
        return read_share(elf, min(elf.parent.glob(f"*{MODEL_OBJECT}")))

    def stack(self, program: LinkedFirmware, board: Board) -> Stack:
        """Return the memory that is reserved for the stack; a device reports how much it used."""
        return Stack(STACK_BYTES)
