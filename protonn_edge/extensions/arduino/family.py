"""The family of boards with an Arduino core: PlatformIO compiles it, and QEMU runs a small one.

`compile` links the firmware with that small core in a second, without a download. `upload` compiles
it with the board's own core, for which PlatformIO downloads hundreds of megabytes once.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protonn_edge.chips.avr.program import Sections
from protonn_edge.chips.boards import Board, firmware_board_names, load_board
from protonn_edge.chips.toolchain.platformio import run_pio
from protonn_edge.chips.toolchain.ports import find_port
from protonn_edge.codegen.families.family import (
    Family,
    LinkedFirmware,
    NoCompiler,
    ProjectFiles,
    Stack,
)
from protonn_edge.codegen.families.one_call import BUILDS, MODEL_OBJECT, compile_at_once, sources_in
from protonn_edge.extensions.arduino.emulator import EmulatedCore, found_machine
from protonn_edge.extensions.arduino.machines import MACHINES, QEMUMachine, machine_for
from protonn_edge.extensions.arduino.programs import LinkedCore, read_core
from protonn_edge.extensions.arduino.sources import files_on_core, small_core
from protonn_edge.system.errors import InputError, lacking

_OWN, _CORE = "firmware/arduino", "firmware/arduino/emulated"
_MARK = f"{_OWN}/harness.cpp"
_SETTINGS = "platformio.ini"
_PAINTED = 1_024 + 64  # as in prediction.c: the most that a device can report
_UPLOAD_S = 1_800.0  # the first one downloads a core and its compiler
_NO_END = "if the board no longer answers, reset it, and upload again"
_FLAGS = ("-Ifirmware/arduino", "-Ifirmware")
_EMULATED = (
    *("-O2", "-ffunction-sections", "-fdata-sections", "-ffreestanding", "-fno-builtin"),
    *("-Wall", "-Wextra", "-fno-exceptions", "-fno-asynchronous-unwind-tables"),
    *("-DEMULATED_CORE", f"-I{_CORE}", f"-Wl,-T,{_CORE}/core.ld", "-Wl,--gc-sections"),
    *("-nostdlib", "-Wl,-e,start", "-save-temps=obj"),
)


class ArduinoCores(Family):
    """Boards with an Arduino core."""

    emulators = tuple(dict.fromkeys(machine.name for machine in MACHINES.values()))
    settings = _SETTINGS
    written = (_SETTINGS, "firmware")

    def has(self, board: Board) -> bool:
        return board.framework == "arduino"

    def wrote(self, folder: Path) -> bool:
        return (folder / _MARK).is_file()

    def sources(self, board: Board) -> ProjectFiles:
        own = {**files_on_core(_OWN, "firmware"), **small_core(_CORE)}
        return {**own, _SETTINGS: _settings(board)}

    def board_name(self, folder: Path) -> str | None:
        names = _environments(folder)[:1]
        return next((name for name in firmware_board_names() if name in names), None)

    def product(self, board: Board) -> Path:
        return Path(BUILDS, board.environment, "firmware.elf")

    def compile(self, folder: Path, board: Board) -> Path:
        machine = _machine(board)
        product = self.product(board)
        sources = sources_in(folder, ("firmware", _OWN, _CORE, "firmware/generated"), "*.c*")
        memory = {"ROM": machine.rom, "RAM": machine.ram[0], "RAM_END": machine.ram[1]}
        command = [machine.compiler, *machine.target.split(), *_FLAGS, *_EMULATED]
        command += [f"-D{machine.define}", *sources, "-lgcc", "-o", product.as_posix()]
        command += [f"-Wl,--defsym={name}={place:#x}" for name, place in memory.items()]
        return compile_at_once(folder, command, product)

    def read(self, elf: Path) -> LinkedCore:
        return read_core(elf)

    def share(self, elf: Path) -> Sections:
        return read_core(min(elf.parent.glob(f"*{MODEL_OBJECT}"))).sections

    def stack(self, _program: LinkedFirmware, _board: Board) -> Stack:
        """Return the most that a device can report of a prediction's stack, which it paints."""
        return Stack(_PAINTED)

    def find_emulator(self, name: str | None, board: Board) -> tuple[str, str]:
        machine = found_machine(board)
        remark = (
            f"{machine.title}, which no {board.title} is, runs the firmware with a small core in "
            "place of Arduino's, and counts instructions"
        )
        return machine.name, remark

    def emulated(self, elf: Path | None, board: Board, **options: Any) -> EmulatedCore:
        return EmulatedCore(elf, board, **options)

    def connected(self, board: Board) -> str:
        return "to USB (its own Arduino core takes more flash and SRAM than the emulated one)"

    def upload(self, folder: Path, port: str | None, environment: str | None) -> CoreUpload:
        name = environment or next(iter(_environments(folder)), None)
        if name is None:
            raise lacking(folder / _SETTINGS, "section [env:NAME]", "build the project again")
        if port is not None:
            return CoreUpload(folder, name, port, "given by --port", port)
        board = load_board(name) if name in firmware_board_names() else None
        if board is None or not board.usb_ids:
            return CoreUpload(folder, name, None, "PlatformIO finds it", name)
        where, why = find_port(board)
        return CoreUpload(folder, name, where, why, where)


def _machine(board: Board) -> QEMUMachine:
    """Return the machine for which a board's firmware is compiled here."""
    try:
        machine = machine_for(board)
    except InputError as error:
        raise NoCompiler(board.name, "no core of QEMU stands for it", "use --port") from error
    if shutil.which(machine.compiler) is None:
        raise NoCompiler(machine.compiler, "not on PATH", f"install {machine.packages}")
    return machine


def _environments(folder: Path) -> list[str]:
    lines = (folder / _SETTINGS).read_text("utf-8", "replace").splitlines()
    return [each[5:-1] for each in map(str.strip, lines) if each[:5] == "[env:" and each[-1] == "]"]


def _settings(board: Board) -> str:
    more = "".join(f"{each}\n" for each in board.settings)
    flags = "".join(f"\n    {each}" for each in (*_FLAGS, f"-DHARNESS_BAUD={board.baud}"))
    return f"""; The firmware on top of the Arduino core of {board.title}.

[platformio]
default_envs = {board.environment}
src_dir = firmware

[env:{board.environment}]
platform = {board.platform}
board = {board.platformio_board}
framework = arduino
{more}build_src_filter = +<*> -<arduino/emulated/>
build_flags ={flags}
"""


@dataclass(frozen=True)
class CoreUpload:
    """An upload that is about to begin."""

    folder: Path
    environment: str
    where: str | None
    why: str
    shown: str

    def run(self) -> None:
        """Compile the project with the board's core, and write its program to the board."""
        named = ["--upload-port", self.where] if self.where else []
        words = ["run", "--environment", self.environment, "-t", "upload", *named]
        run_pio(self.folder, *words, deadline_s=_UPLOAD_S, remedy=_NO_END)
