"""Start an emulated core."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from protonn_edge.chips.boards import Board
from protonn_edge.chips.emulator.board import Program, RunningBoard, check_plain
from protonn_edge.chips.emulator.image import FlashImage
from protonn_edge.extensions.arduino.machines import ICOUNT_SHIFT, QEMUMachine, machine_for
from protonn_edge.system.errors import InputError, InvalidValue

_MODULE = "protonn_edge.extensions.arduino.emulated"


def found_machine(board: Board) -> QEMUMachine:
    """Return the machine that stands for a board; `InputError` if it is not installed."""
    machine = machine_for(board)
    program = machine.emulator.split()[0]
    if shutil.which(program) is None:
        raise InvalidValue(program, "not on PATH", f"install {machine.packages}")
    return machine


class EmulatedCore(RunningBoard):
    """A core of QEMU with the firmware and a small Arduino core; to be used in a ``with``.

    It counts instructions. Opening the line does not reset it.
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
        check_plain("a core of QEMU", elf, more)
        assert elf is not None
        machine = found_machine(board)
        if emulator not in (None, machine.name):
            raise InputError(f"{emulator} does not emulate {board.name}; choose {machine.name}")
        image = elf.read_bytes()
        options = {"image-bytes": len(image), "port": port, "shift": ICOUNT_SHIFT}
        words = [f"--{name}={value}" for name, value in options.items()]
        words.append(f"--emulator={machine.emulator}")
        program = Program(machine.name, (sys.executable, "-m", _MODULE), machine.packages)
        place = f"port {port} of 127.0.0.1"
        super().__init__(board, program, words, FlashImage(image), place)
