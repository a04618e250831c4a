"""The common part of commands for a board, real or emulated: port, emulator, EEPROM."""

from __future__ import annotations

import click

from protonn_edge.boards import Board
from protonn_edge.cli.command import Output, option
from protonn_edge.cli.paths import GivenPath
from protonn_edge.emulator.programs import EMULATORS, find_program
from protonn_edge.toolchain.ports import find_port

EMULATOR = option(
    "The emulator of the board; avr8js, under Node.js, emulates only the Uno's chip.  [default: "
    "simavr, or avr8js if only avr8js is installed]",
    click.Choice(EMULATORS),
)
EEPROM = option(
    "Keep the emulated board's EEPROM in FILE from one run to the next. Without FILE, an emulated "
    "board starts with an erased EEPROM.",
    GivenPath(dir_okay=False),
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
