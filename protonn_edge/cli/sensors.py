"""The option of commands that attach sensors to an emulated board."""

from __future__ import annotations

from pathlib import Path

import click

from protonn_edge.errors import InputError
from protonn_edge.sensors import PlayedSensor, read_sensor, sensor_file

sensor_option = click.option(
    "--sensor",
    "sensors",
    metavar="NAME=FILE[,rate=HZ]",
    multiple=True,
    help="Attach a sensor to the emulated board that plays a recording (.csv, .wav): a0 to a5, "
    "microphone, mpu6050, adxl345.",
)


def read_sensors(options: tuple[str, ...], output: Path | None = None) -> list[PlayedSensor]:
    """Return the sensors that ``--sensor`` names, none of which plays the file to write.

    Raises
    ------
    InputError
        If one cannot be used.
    """
    for option in options:
        played = sensor_file(option)
        if output is not None and output.exists() and played.exists() and played.samefile(output):
            raise InputError(
                f"-o is {output}, the file that --sensor plays, and would be written to; name "
                "another file"
            )
    return [read_sensor(option) for option in options]
