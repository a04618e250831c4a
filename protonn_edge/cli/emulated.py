"""What commands share that run an emulated board: which program emulates it."""

from __future__ import annotations

import click

from protonn_edge.boards import Board
from protonn_edge.cli.command import Output
from protonn_edge.emulator import EMULATORS, find_program

emulator_option = click.option(
    "--emulator",
    type=click.Choice(EMULATORS),
    help="What emulates the board; avr8js runs an Uno's firmware under Node.js.  "
    "[default: simavr, or avr8js where only that is there]",
)


def chosen_emulator(out: Output, name: str | None, board: Board) -> str:
    """Return the name of the emulator to use; say so where it is the slower one.

    Raises
    ------
    InputError
        If there is none, or not the one that was asked for, or the board is this computer.
    """
    board.check_is_chip("program memory and serial line")
    program = find_program(name, board)
    if program.remark:
        out.say(program.remark)
    return program.name
