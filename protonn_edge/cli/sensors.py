"""The option of commands that attach sensors to an emulated board."""

from __future__ import annotations

import click

sensor_option = click.option(
    "--sensor",
    "sensors",
    metavar="NAME=FILE[,rate=HZ]",
    multiple=True,
    help="Attach a sensor to the emulated board that plays a recording (.csv, .wav): a0 to a5, "
    "microphone, mpu6050, adxl345.",
)
