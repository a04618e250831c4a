"""A board that samples a sensor: a real one, or the emulated one, into which recordings play.

What happens on the way is reported to a `Teller`: a command's output, or a page.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from protonn_edge.chips.boards import Board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.chips.toolchain.ports import find_port
from protonn_edge.codegen.export.folder import LIVE, LOGGER, check_project
from protonn_edge.data.naming import Notice
from protonn_edge.device.connection import AnsweringLink, Link
from protonn_edge.extensions.sensing.played import (
    PlayedSensor,
    check_read,
    read_sensor,
    sensor_file,
)
from protonn_edge.extensions.sensing.sensor_board import SensorBoard
from protonn_edge.system.errors import InputError, lacking

_REMEDIES = {
    LOGGER: "protonn-edge build --sensor NAME --rate HZ",
    LIVE: "protonn-edge build MODEL --sensor NAME",
}
Pace = Literal["full speed", "wall clock", "lockstep"]
"""The pace of an emulated board: as fast as possible, at wire speed, or frame by frame."""

_SAME_RATE = 0.01  # rates may differ by this without a notice: a timer's rate is rounded


class Teller(Protocol):
    """Gets a report of what is done on the way to a board."""

    def say(self, *parts: Any) -> None:
        """Report sentences."""

    def notice(self, notices: Iterable[Notice]) -> None:
        """Report notices about data."""

    def status(self, description: str) -> contextlib.AbstractContextManager[None]:
        """Report what is being done, in a ``with``."""


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


def read_sensors(
    out: Teller, texts: tuple[str, ...], output: Path | None = None
) -> list[PlayedSensor]:
    """Return the sensors that ``--sensor`` names, with notices; none may play the output file."""
    for text in texts:
        played = sensor_file(text)
        if output is not None and output.exists() and played.exists() and played.samefile(output):
            raise InputError(
                f"-o is {output}, the recording that --sensor replays, which would be "
                "overwritten; choose another file with -o"
            )
    sensors = [read_sensor(text) for text in texts]
    out.notice(Notice("played", each) for sensor in sensors for each in sensor.remarks)
    return sensors


def port_to_hear(out: Teller, port: str | None, board: Board) -> str:
    """Return the given port, else the most likely port of a board, with a notice."""
    if port is not None:
        return port
    detected = find_port(board)
    out.say(f"listening to {detected.device}: {detected.why}")
    return detected.device


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
        out: Teller,
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
        self, out: Teller, kind: str, board: Board, played: Sequence[PlayedSensor], pace: Pace
    ) -> Iterator[str]:
        folder = self.folder
        if not self.emulate:
            yield port_to_hear(out, self.port, board)
            return
        if not (folder / "platformio.ini").is_file():
            raise lacking(folder, "project", f"write one with '{_REMEDIES[kind]} -o {folder}'")
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
