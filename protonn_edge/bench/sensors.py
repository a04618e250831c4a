"""Boards under test that sample a sensor."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from protonn_edge.bench.boards import copied_project
from protonn_edge.boards import Board
from protonn_edge.device import Host
from protonn_edge.device.listener import Listener
from protonn_edge.emulator import EmulatedBoard
from protonn_edge.errors import InputError
from protonn_edge.export.folder import LIVE, written_in
from protonn_edge.sensors import check_read, read_sensor
from protonn_edge.toolchain.platformio import build_firmware


@contextlib.contextmanager
def live_board(
    folder: Path,
    board: Board,
    port: str | None,
    played: Sequence[str],
    host: Host,
    copy: Path | None = None,
) -> Iterator[Listener]:
    """Open a board with the firmware of `build --sensor`, at a port or emulated.

    - `folder`: the project that the emulated board runs.
    - `played`: sensors of the emulated board with their recordings, ``NAME=FILE[,rate=HZ]``.
    - `copy`: an empty folder in which the project is compiled; by default, its own.

    Raises `InputError` if the folder has no such project, or if a recording cannot be played or is
    from a sensor that the firmware does not read, and `DeviceError` if the board does not identify
    itself.
    """
    emulated = port is None
    if played and not emulated:
        raise InputError("--pnn-sensor needs the emulated board; omit --pnn-sensor or --pnn-port")
    with contextlib.ExitStack() as stack:
        with _renamed():
            sensors = [read_sensor(each) for each in played]
        if port is None:
            if written_in(folder).kind != LIVE:
                raise InputError(
                    f"{folder} has no firmware that reads a sensor; run `protonn-edge build "
                    "--sensor`, and name the folder that it wrote with --pnn-project"
                )
            sources = folder if copy is None else copied_project(folder, copy)
            elf = build_firmware(sources, board.environment)
            port = stack.enter_context(EmulatedBoard(elf, board=board, sensors=sensors)).url
        line = stack.enter_context(contextlib.closing(host.open(port, board.baud)))
        listener = Listener(line, port)
        listener.wait()
        with _renamed():
            check_read(sensors, listener.description.sensors, emulate=emulated)
        yield listener


@contextlib.contextmanager
def _renamed() -> Iterator[None]:
    """Make errors name pytest's option."""
    try:
        yield
    except InputError as error:
        raise InputError(str(error).replace("--sensor", "--pnn-sensor")) from error
