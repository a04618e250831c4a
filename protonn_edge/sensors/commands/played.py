"""The option of commands with an emulated board: sensors, and the recordings that they replay."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from protonn_edge.cli.additions import AddedOptions
from protonn_edge.cli.command import Output, option
from protonn_edge.datasets import Notice
from protonn_edge.errors import InputError
from protonn_edge.sensors import PlayedSensor, read_sensor, sensor_file

PLAYED = option(
    "Attach a sensor to the emulated board: NAME (a name or file that 'build' accepts) replays "
    "the recording FILE (.csv, .wav).",
    flag="--sensor",
    metavar="NAME=FILE[,rate=HZ]",
    multiple=True,
)


def read_sensors(
    out: Output, texts: tuple[str, ...], output: Path | None = None
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


@dataclass(frozen=True)
class PlayedOptions(AddedOptions):
    """The sensors of the board that `emulate` runs."""

    sensors: tuple[str, ...] = PLAYED

    def replayed(self, out: Output) -> list[PlayedSensor]:
        """Return the sensors, with notices."""
        return read_sensors(out, self.sensors)
