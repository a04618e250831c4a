"""``protonn-edge emulate``: Run firmware on an emulated board."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

import click

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.chips.emulator.board import RunningBoard
from protonn_edge.chips.emulator.replayed import Replayed
from protonn_edge.cli.command import OUTPUT, Output, additions, argument, command, option
from protonn_edge.cli.devices import EEPROM, EMULATOR, about_edited_files, chosen_emulator
from protonn_edge.cli.options import BOARD
from protonn_edge.cli.paths import GivenPath, there
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.data.naming import Notice
from protonn_edge.system.errors import InputError
from protonn_edge.system.folders import scratch_folder

_LOOK_EVERY_S = 0.2


class EmulatedAddition(Protocol):
    """The options of an extension for an emulated board."""

    def replayed(self, out: Output) -> Sequence[Replayed]:
        """Return the sensors of the board; print notices of them."""


class _SerialLine(click.ParamType[int | Path]):
    """Where the serial line of an emulated board is: a number is a TCP port, else it is a file."""

    name = "PORT|FILE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | Path:
        """Return a TCP port, or a path."""
        is_number = value.lstrip("-").isdecimal()
        kind = click.IntRange(1, 65535) if is_number else GivenPath(dir_okay=False)
        place: int | Path = kind.convert(value, param, ctx)
        return place


@command("emulate", examples=(".pio/build/uno/firmware.elf --port uno",))
def emulate_command(
    firmware: Path | None = argument(GivenPath(dir_okay=False), required=False),
    port: int | Path | None = option(
        "The serial line: a TCP port of 127.0.0.1, or FILE, which becomes a symbolic link to a "
        "pseudo-terminal.  [default: a free TCP port]",
        _SerialLine(),
    ),
    wire_speed: bool = option("Never run faster than a real board.", is_flag=True),
    bootloader: bool = option(
        "Run the Optiboot bootloader; you can then omit FIRMWARE and upload it later.", is_flag=True
    ),
    added: list[EmulatedAddition] = additions("emulate"),
    eeprom: Path | None = EEPROM,
    buttons: bool = option(
        "Press buttons by typing lines such as PD2, which connects that pin to ground for 0.2 s.",
        is_flag=True,
    ),
    emulator: str | None = EMULATOR,
    board_name: str = BOARD,
    out: Output = OUTPUT,
) -> None:
    """Run FIRMWARE, an ELF or HEX file, on an emulated board until Ctrl-C.

    Any terminal program can open the board's serial line; opening it resets the board. With
    --bootloader, 'upload' can upload over the line. Faults of the firmware are printed as they
    happen.
    """
    if firmware is None and not bootloader:
        raise click.UsageError(
            "no firmware was given; name an ELF or HEX file, or give --bootloader"
        )
    with _stopped_by_signals():
        board = load_board(board_name)
        project = None if firmware is None else _project_of(firmware)
        if project is not None:
            out.notice(_about_project(project, board))
        sensors = [sensor for each in added for sensor in each.replayed(out)]
        emulated = family_of(board).emulated(
            firmware,
            board,
            bootloader=bootloader,
            link="pty" if isinstance(port, Path) else "tcp",
            port=port if isinstance(port, int) else 0,
            wire_speed=wire_speed,
            sensors=sensors,
            eeprom=eeprom,
            emulator=chosen_emulator(out, emulator, board),
        )
        if buttons and not emulated.has_buttons:
            raise InputError(f"the emulated {board.name} does not support --buttons; leave it out")
        with emulated, _linked(port if isinstance(port, Path) else None, emulated.url) as url:
            reader = "answers:     protonn-edge monitor"
            if not sensors:
                # A sketch of a library is in no project, which would have its model.
                model = "" if firmware is None or project else " --model MODEL"
                reader = f"test points: protonn-edge hil {there('test.csv', 'DATA')}{model}"
            of_board = "" if board_name == "uno" else f" --board {shlex.quote(board_name)}"
            _introduce(out, board, emulated, url, (firmware, reader + of_board))
            _report_faults(out, emulated, _Lines() if buttons else None)


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """End without an error on Ctrl-C and SIGTERM, which is how this command is stopped."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        yield


def _about_project(project: Project, board: Board) -> Iterator[Notice]:
    """Yield warnings about edited files of the project that a program was linked in."""
    try:
        project.generated()
    except InputError as error:
        yield Notice("edited_files", str(error), warning=True)
    yield from about_edited_files(project.folder, board)


def _project_of(firmware: Path) -> Project | None:
    """Return the project that a program was linked in, if any."""
    projects = map(Project, firmware.absolute().parents)
    return next((each for each in projects if each.built), None)


@contextlib.contextmanager
def _linked(path: Path | None, device: str) -> Iterator[str]:
    """Create a symbolic link at `path` to the device, if one is given; yield the name to use."""
    if path is None:
        yield device
        return
    if path.is_symlink():
        if path.exists() and not path.readlink().is_relative_to("/dev"):
            raise InputError(
                f"{path} is already a link to {path.readlink()}; choose another file with --port"
            )
    elif path.exists():
        raise InputError(
            f"{path} exists and is not a symbolic link; choose another file with --port"
        )
    try:
        with scratch_folder(path.parent) as scratch:
            fresh = scratch / path.name
            fresh.symlink_to(device)
            fresh.replace(path)  # replaces a link left by an earlier run
        yield str(path)
    finally:
        if path.is_symlink() and path.readlink() == Path(device):
            path.unlink()


def _introduce(
    out: Output, board: Board, emulated: RunningBoard, url: str, said: tuple[Path | None, str]
) -> None:
    firmware, reader = said
    upload_port = emulated.upload_port if emulated.port else url
    bootloader = emulated.has_bootloader
    out.say(f"emulated {board.name} with {firmware or 'an empty flash'} at {url}")
    name, python = shlex.quote(url), Path(sys.executable).name
    out.say(f"  text:        {python} -m serial.tools.miniterm {name} {board.baud}")
    out.say(f"  {reader} --port {name}")
    if bootloader:
        out.say(f"  upload:      protonn-edge upload --port {name}")
    resets = "opening the line resets the board; " * emulated.resets_on_opening
    out.say(f"{resets}press Ctrl-C to stop")
    out.finish(
        {
            "url": url,
            "upload_port": upload_port if bootloader else None,
            "firmware": None if firmware is None else str(firmware),
        }
    )


class _Lines:
    """Lines of the standard input, as they come."""

    def __init__(self) -> None:
        self._rest = b""
        self._ended = sys.stdin is None

    def wait(self, seconds: float) -> list[str]:
        """Return the complete lines that arrive within the time."""
        if self._ended or not select.select([sys.stdin], [], [], seconds)[0]:
            time.sleep(seconds if self._ended else 0)
            return []
        read = os.read(sys.stdin.fileno(), 4096)
        self._ended = not read
        *lines, self._rest = (self._rest + (read or b"\n")).split(b"\n")
        return [line.decode(errors="replace") for line in map(bytes.strip, lines) if line]


def _report_faults(out: Output, emulated: RunningBoard, buttons: _Lines | None) -> NoReturn:
    """Print the faults that stop the firmware, while the board runs and buttons are pressed."""
    said = 0
    while True:
        faults = emulated.stats().faults
        for fault in faults[said:]:
            out.say(f"fault: {fault}; the board is halted until it is reset")
        said = len(faults)
        if buttons is None:
            time.sleep(_LOOK_EVERY_S)
            continue
        for pin in buttons.wait(_LOOK_EVERY_S):
            try:
                emulated.press(pin)
            except InputError as error:
                out.remark(str(error))
