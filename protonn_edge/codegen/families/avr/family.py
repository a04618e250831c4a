"""The family of the AVRs, which the rooms `avr`, `emulator` and `toolchain` work for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.boards import Board, board_names
from protonn_edge.chips.cores import CORES
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.chips.emulator.programs import EMULATORS, find_program
from protonn_edge.chips.toolchain.platformio import (
    build_firmware,
    description_file,
    environment_section,
)
from protonn_edge.codegen.families.avr.paths import stated_facts
from protonn_edge.codegen.families.avr.programs import ReadsAVRPrograms
from protonn_edge.codegen.families.avr.upload import PlatformIOUpload, environments
from protonn_edge.codegen.families.family import Family, ProjectFiles
from protonn_edge.codegen.families.sources import files_below
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.system import files
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.files import resource, resources

_SETTINGS = "platformio.ini"
_SETTINGS_LIMIT_BYTES = 1 << 20
_ELSEWHERE = "choose another folder with -o"


class AVR(ReadsAVRPrograms, Family):
    """AVRs with a compiler of PlatformIO's or Debian's."""

    emulators = EMULATORS
    sensors = True
    extends = True
    settings = _SETTINGS
    written = (_SETTINGS, "firmware")

    def has(self, board: Board) -> bool:
        return board.core in CORES

    def wrote(self, folder: Path) -> bool:
        return (folder / _SETTINGS).is_file() and not (folder / "firmware" / "arduino").is_dir()

    def sources(self, board: Board) -> ProjectFiles:
        stock = resource(_SETTINGS).read_text(encoding="utf-8")
        if f"[env:{board.environment}]" not in stock:
            stock += f"\n{environment_section(board)}"
        settings = stock.replace("default_envs = uno", f"default_envs = {board.environment}")
        own: ProjectFiles = {}
        for firmware in resources("firmware"):
            own = {**own, **files_below(firmware, "firmware")}
        return {**own, _SETTINGS: settings}

    def descriptions(self, board: Board) -> Mapping[str, str]:
        return description_file(board)

    def check_folder(self, folder: Path, board: Board) -> None:
        if "$" in str(folder.absolute()):
            raise InvalidValue(
                folder.absolute(), "it contains a $, which PlatformIO would replace", _ELSEWHERE
            )
        settings, section = folder / _SETTINGS, f"[env:{board.environment}]"
        if not settings.is_file():
            return
        files.check_file(settings, limit_bytes=_SETTINGS_LIMIT_BYTES, may_be_empty=True)
        if section not in settings.read_text("utf-8", errors="replace"):
            raise InvalidValue(settings, f"no {section}", f"add this section, or {_ELSEWHERE}")

    def board_name(self, folder: Path) -> str | None:
        return next((name for name in environments(folder)[:1] if name in board_names()), None)

    def product(self, board: Board) -> Path:
        return Path(".pio", "build", board.environment, "firmware.elf")

    def compile(self, folder: Path, board: Board) -> Path:
        """Build with PlatformIO, which runs anything that the folder's platformio.ini specifies."""
        return build_firmware(folder, board.environment)

    def find_emulator(self, name: str | None, board: Board) -> tuple[str, str]:
        program = find_program(name, board)
        return program.name, program.remark

    def emulated(self, elf: Path | None, board: Board, **options: Any) -> EmulatedBoard:
        return EmulatedBoard(elf, board=board, **options)

    @contextmanager
    def watched(
        self,
        program: LinkedProgram,
        plan: DevicePlan,
        board: Board,
        emulator: str | None = None,
    ) -> Iterator[EmulatedBoard]:
        facts = stated_facts(program, plan, board)
        with EmulatedBoard(
            program.path, board=board, emulator=emulator, watch=facts.watch
        ) as emulated:
            yield emulated
            facts.check(emulated.stats())

    def connected(self, board: Board) -> str:
        return "to USB" if board.upload_baud else f"to its programmer ({board.upload_protocol})"

    def upload(self, folder: Path, port: str | None, environment: str | None) -> PlatformIOUpload:
        return PlatformIOUpload.of(folder, port, environment)

    def upload_words(self, folder: Path, environment: str) -> list[str]:
        is_default = environment in environments(folder)[:1]
        return [] if is_default else ["--environment", environment]
