"""The common part of commands for a board, real or emulated: port, project, sensors."""

from __future__ import annotations

from pathlib import Path

import click

from protonn_edge.boards import Board
from protonn_edge.cli.command import Output, option
from protonn_edge.datasets import Notice
from protonn_edge.emulator.programs import EMULATORS, find_program
from protonn_edge.errors import InputError
from protonn_edge.sensors import PlayedSensor, read_sensor, sensor_file
from protonn_edge.toolchain.ports import find_port

EMULATOR = option(
    "The emulator of the board; avr8js, under Node.js, emulates only the Uno's chip.  [default: "
    "simavr, or avr8js if only avr8js is installed]",
    click.Choice(EMULATORS),
)
PLAYED = option(
    "Attach a sensor to the emulated board: NAME (a name or file that 'build' accepts) replays "
    "the recording FILE (.csv, .wav).",
    flag="--sensor",
    metavar="NAME=FILE[,rate=HZ]",
    multiple=True,
)
EEPROM = option(
    "Keep the emulated board's EEPROM in FILE from one run to the next. Without FILE, an emulated "
    "board starts with an erased EEPROM.",
    click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
)


def chosen_emulator(out: Output, name: str | None, board: Board) -> str:
    """Return the name of the emulator for a board; print a notice for the slower one."""
    program = find_program(name, board)
    if program.remark:
        out.say(program.remark)
    return program.name


def port_to_hear(out: Output, port: str | None, board: Board) -> str:
    """Return the given port, else the most likely port of a board, with a notice."""
    if port is not None:
        return port
    detected = find_port(board)
    out.say(f"listening to {detected.device}: {detected.why}")
    return detected.device


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
