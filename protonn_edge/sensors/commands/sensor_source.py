"""The common part of 'record' and 'monitor': a board that samples a sensor."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from protonn_edge.boards import Board
from protonn_edge.cli.command import Output, option, together
from protonn_edge.cli.devices import port_to_hear
from protonn_edge.cli.options import PORT
from protonn_edge.datasets import Notice
from protonn_edge.device.connection import AnsweringLink, Link
from protonn_edge.emulator import EmulatedBoard
from protonn_edge.errors import InputError
from protonn_edge.export.folder import LIVE, LOGGER, check_project
from protonn_edge.sensors import PlayedSensor, check_read
from protonn_edge.sensors.commands.played import PLAYED, read_sensors
from protonn_edge.sensors.sensor_board import SensorBoard
from protonn_edge.toolchain.platformio import build_firmware

_REMEDIES = {
    LOGGER: "protonn-edge build --sensor NAME --rate HZ",
    LIVE: "protonn-edge build MODEL --sensor NAME",
}
Pace = Literal["full speed", "wall clock", "lockstep"]
"""The pace of an emulated board: as fast as possible, at wire speed, or frame by frame."""

_SAME_RATE = 0.01  # rates may differ by this without a notice: a timer's rate is rounded

_Heard = TypeVar("_Heard", bound=SensorBoard[Any, Any])


def rates_unlike(played: Iterable[PlayedSensor], rate: float) -> list[Notice]:
    """Return a notice of each sensor that plays at another rate than the firmware samples at."""
    return [
        Notice(
            "rate",
            f"{sensor.kind.name} replays {sensor.rate:g} samples a second, but the firmware "
            f"reads {rate:.6g}, so some samples are "
            f"{'repeated' if sensor.rate < rate else 'left out'}",
        )
        for sensor in played
        if abs(sensor.rate - rate) > _SAME_RATE * rate
    ]


@dataclass(frozen=True)
class SensorSource:
    """A board that samples a sensor: a real one, or the emulated one, into which files play."""

    port: str | None
    emulate: bool
    sensors: tuple[str, ...]  # of the emulated board, with their recordings
    folder: Path  # of the project that it runs
    eeprom: Path | None = None  # the file that keeps its EEPROM

    @contextlib.contextmanager
    def heard(
        self,
        out: Output,
        make: Callable[[Link, str], _Heard],
        kind: str,
        board: Board,
        baud: int,
        *,
        pace: Pace = "full speed",
        output: Path | None = None,
    ) -> Iterator[tuple[str, _Heard]]:
        """Find the board, open its line, and wait until it describes itself.

        - `make`: makes a `Recorder` or a `Listener` of the line and its URL.
        - `kind`: of the project, `LOGGER` or `LIVE`.
        - `output`: a file that no sensor may play.

        Yields the line's URL, and the made object; prints a notice of each sensor that plays at
        another rate than the board samples at. Raises `InputError` if there is no board, no project
        of this kind, or the firmware does not read the sensor, `CheckFailed` if the board does not
        describe itself.
        """
        played = read_sensors(out, self.sensors, output)
        what = "logger" if kind == LOGGER else "board"
        with (
            self._url(out, kind, board, played, pace) as url,
            contextlib.closing((AnsweringLink if pace == "lockstep" else Link)(url, baud)) as line,
        ):
            heard = make(line, url)
            with out.status(f"waiting for a {what} at {url}"):
                heard.wait()
            reads, rate = heard.description.sensors, heard.description.rate
            check_read(played, reads, emulate=self.emulate)
            out.notice(rates_unlike(played, rate))
            yield url, heard

    @contextlib.contextmanager
    def _url(
        self, out: Output, kind: str, board: Board, played: Sequence[PlayedSensor], pace: Pace
    ) -> Iterator[str]:
        folder = self.folder
        if not self.emulate:
            yield port_to_hear(out, self.port, board)
            return
        if not (folder / "platformio.ini").is_file():
            raise InputError(
                f"{folder} contains no project; write one with '{_REMEDIES[kind]} -o {folder}'"
            )
        check_project(folder, kind)
        with out.status(f"building {folder}"):
            elf = build_firmware(folder, board.environment)
        with EmulatedBoard(
            elf,
            board=board,
            sensors=played,
            wire_speed=pace == "wall clock",
            lockstep=pace == "lockstep",
            eeprom=self.eeprom,
        ) as emulated:
            yield emulated.url


def source_options(emulate: str, folder: Any, **more: Any) -> Any:
    """Declare a `SensorSource` by the help of ``--emulate``, the option of its folder, and more."""
    flag = option(emulate, is_flag=True)
    parts = {"port": PORT, "emulate": flag, "sensors": PLAYED, "folder": folder}
    return together(SensorSource, parts | more)
