"""Firmware that samples sensors at a steady rate and sends the samples in frames with a CRC.

Rates that exceed the serial line are refused before anything is written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from protonn_edge.boards import Board
from protonn_edge.build.sampling import (
    Sampling,
    baud_divisor,
    check_baud,
    least_baud,
)
from protonn_edge.codegen import template_environment
from protonn_edge.device.framing import frame_bytes
from protonn_edge.device.sensor_messages import SamplesMessage
from protonn_edge.errors import InputError
from protonn_edge.sensors import SensorKind

_FRAME_S = 0.05  # of samples in a frame, unless these are too few to detect missing ones
_LEAST_FRAME_SAMPLES = 4
_FRAME_VALUE_BYTES = 240  # with the rest of the frame, they fit a COBS block
_LOGGER_BYTES_A_SECOND = 60


@dataclass(frozen=True)
class Logger:
    """The configuration of a logger, validated on construction.

    Raises
    ------
    InputError
        If the line is too slow.
    """

    sampling: Sampling  # the sensors, and their rate
    baud: int = 0  # of the serial line; 0 is the lowest sufficient one, at least the board's

    def __post_init__(self) -> None:
        sampling = self.sampling
        if self.baud == 0:
            object.__setattr__(self, "baud", least_baud(sampling.board, self.bytes_a_second))
        what = f"{sampling.name} at {sampling.actual_rate:g} Hz"
        check_baud(sampling.board, self.baud, what, self.bytes_a_second)

    @property
    def frame_samples(self) -> int:
        """Consecutive samples in a frame."""
        wanted = max(_LEAST_FRAME_SAMPLES, round(_FRAME_S * self.sampling.rate))
        return min(wanted, _FRAME_VALUE_BYTES // (2 * len(self.sampling.channels)))

    @property
    def bytes_a_second(self) -> float:
        """Bytes per second on the line."""
        values = self.frame_samples * len(self.sampling.channels)
        frame = frame_bytes(2 + SamplesMessage.LAYOUT.size + 2 * values)
        return self.sampling.actual_rate * frame / self.frame_samples + _LOGGER_BYTES_A_SECOND

    def context(self) -> dict[str, object]:
        """Return all that the templates of a logger need."""
        frames_a_second = self.sampling.actual_rate / self.frame_samples
        return {
            **self.sampling.context(),
            "reader": "record",
            "page": "recording",
            "frame_samples": self.frame_samples,
            "said_every": max(1, math.ceil(frames_a_second)),
            "baud": self.baud,
            "baud_divisor": baud_divisor(self.sampling.board, self.baud),
        }

    def firmware(self) -> dict[str, str]:
        """Return the files of a PlatformIO project by their names."""
        return self.sampling.project("logger", self.context())

    def sketch(self, name: str) -> dict[str, str]:
        """Return the only file of an Arduino sketch, by its name."""
        template = template_environment("device").get_template("logger.ino.j2")
        return {f"{name}.ino": template.render(self.context())}


def sketch_name(folder: Path) -> str:
    """Return the name of the sketch in a folder, which is the folder's.

    Raises `InputError` if the Arduino IDE cannot open a sketch of that name.
    """
    name = folder.resolve().name
    if not name.replace("_", "").replace("-", "").isalnum() or not name.isascii():
        raise InputError(
            f"a sketch has its folder's name, and {name!r} is none for it; use letters, digits, _ "
            "and - for -o"
        )
    return name


def logger_of(kinds: Sequence[SensorKind], rate: float, board: Board, baud: int = 0) -> Logger:
    """Return the logger of sensors; raises the errors of `Sampling` and `Logger`."""
    return Logger(Sampling.of(kinds, rate, board), baud)
