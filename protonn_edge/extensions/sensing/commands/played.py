"""The option of commands with an emulated board: sensors, and the recordings that they replay."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.cli.command import Output, option
from protonn_edge.extensions.sensing.commands.source import read_sensors
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.system.extensions import AddedOptions

PLAYED = option(
    "Attach a sensor to the emulated board: NAME (a name or file that 'build' accepts) replays "
    "the recording FILE (.csv, .wav).",
    flag="--sensor",
    metavar="NAME=FILE[,rate=HZ]",
    multiple=True,
)


@dataclass(frozen=True)
class PlayedOptions(AddedOptions):
    """The sensors of the board that `emulate` runs."""

    sensors: tuple[str, ...] = PLAYED

    def replayed(self, out: Output) -> list[PlayedSensor]:
        """Return the sensors, with notices."""
        return read_sensors(out, self.sensors)
