"""Start an emulated board with an RP2040."""

from __future__ import annotations

import sys
from pathlib import Path

from protonn_edge.chips.avr.names import Symbol
from protonn_edge.chips.boards import Board
from protonn_edge.chips.emulator.board import Program, RunningBoard, check_plain
from protonn_edge.chips.emulator.image import FlashImage
from protonn_edge.extensions.pico.flash import BOOT2_BYTES
from protonn_edge.extensions.pico.program import read_program
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.lazy import require

RP2040PY = "rp2040py"
_CLOCK_HZ = 125_000_000
_MODULE = "protonn_edge.extensions.pico.emulated"


def check_emulated(board: Board) -> None:
    """Raise `InputError` if a board cannot be emulated here."""
    require(RP2040PY)
    if board.clock_hz != _CLOCK_HZ:
        raise InvalidValue(
            board.name,
            f"{board.clock_hz:,} Hz, but the emulated RP2040 has {_CLOCK_HZ:,} Hz",
            "use --port with a real board",
        )


class EmulatedRP2040(RunningBoard):
    """A board with an RP2040, whose UART0 is at a TCP port; to be used in a ``with``.

    Cycles are those of the documented table of the core, with a correction of two instructions.
    Emulated time passes as fast as this computer can manage. Opening the line does not reset the
    board.
    """

    resets_on_opening = False
    has_buttons = False

    def __init__(
        self,
        elf: Path | None,
        board: Board,
        port: int = 0,
        emulator: str | None = None,
        **more: object,
    ) -> None:
        check_plain(f"the emulated {board.name}", elf, more)
        assert elf is not None
        assert emulator in (None, RP2040PY), emulator
        check_emulated(board)
        linked = read_program(elf)
        names = tuple(Symbol(name, address, 0) for name, address in linked.symbols.items())
        facts = {
            "image-bytes": len(linked.code),
            "code-bytes": len(linked.code) - BOOT2_BYTES,
            "predict": linked.symbols.get("pnn_predict", 0),
            "baud": board.baud,
            "port": port,
        }
        options = [f"--{name}={value}" for name, value in facts.items()]
        program = Program(RP2040PY, (sys.executable, "-m", _MODULE), RP2040PY)
        place = f"port {port} of 127.0.0.1"
        super().__init__(board, program, options, FlashImage(linked.code, symbols=names), place)
