"""Families of chips: what is different where a board has an AVR, or another chip.

A `Family` builds firmware, measures and runs it, and uploads it. `family_of` finds the one for a
board; extensions add more than AVRs. Nothing else asks which family a board has.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from protonn_edge.chips.boards import DEFAULT_BOARD, Board, load_board
from protonn_edge.codegen.families.avr.family import AVR
from protonn_edge.codegen.families.family import Family
from protonn_edge.system.errors import InputError
from protonn_edge.system.extensions import extensions


def family_of(board: Board) -> Family:
    """Return the family of a board's chip; `InputError` if there is no firmware for it."""
    for family in families():
        if family.has(board):
            family.check_board(board)
            return family
    raise InputError(
        f"there is no firmware for {board.name} ({board.mcu}); use 'protonn-edge export', whose "
        "library has a self-test for the board"
    )


def family_in(folder: Path) -> Family | None:
    """Return the family that a project in a folder is for; None if there is no project."""
    return next((each for each in families() if each.wrote(folder)), None)


def board_of(folders: Iterable[Path]) -> Board:
    """Return the board of the first of some folders with a project, as far as it is known.

    For anyone's own boards, and without a project, it is an Uno.
    """
    for folder in folders:
        family = family_in(folder)
        if family is not None:
            return load_board(family.board_name(folder) or DEFAULT_BOARD)
    return load_board(DEFAULT_BOARD)


@cache
def families() -> tuple[Family, ...]:
    """Return all families."""
    added = (each.family() for each in extensions())
    return (AVR(), *(each for each in added if each is not None))


def read_program(elf: Path, board: Board) -> Any:
    """Return the program in an ELF file for a board: a `LinkedFirmware`."""
    return family_of(board).read(elf)
