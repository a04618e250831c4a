"""The capacity of a board's serial line, and the baud rates that its clock can generate."""

from __future__ import annotations

from protonn_edge.boards import Board
from protonn_edge.errors import InputError

BAUDS = (115_200, 250_000, 500_000, 1_000_000)
"""Baud rates to try if none is given: those of boards with a 16 MHz clock."""

_SHARE = 0.95
_BITS_PER_BYTE = 10
_BAUD_ERROR = 0.025


def bytes_carried(baud: int) -> float:
    """Return the bytes per second that may be sent at a baud rate."""
    return _SHARE * baud / _BITS_PER_BYTE


def byte_cycles(board: Board, baud: int) -> float:
    """Return the clock cycles of a byte on the line."""
    return board.clock_hz * _BITS_PER_BYTE / baud


def baud_divisor(board: Board, baud: int) -> int:
    """Return the value of UBRR0, at double speed."""
    return max(0, round(board.clock_hz / (8 * baud)) - 1)


def is_made(board: Board, baud: int) -> bool:
    """Whether the board's clock generates the baud rate accurately enough."""
    divisor = baud_divisor(board, baud) + 1
    return abs(board.clock_hz / (8 * divisor) / baud - 1) <= _BAUD_ERROR


def least_baud(board: Board, bytes_a_second: float) -> int:
    """Return the lowest sufficient baud rate from the board's on; the board's if there is none."""
    for baud in (board.baud, *(each for each in BAUDS if each > board.baud)):
        if bytes_a_second <= bytes_carried(baud) and is_made(board, baud):
            return baud
    return board.baud


def check_baud(board: Board, baud: int, what: str, bytes_a_second: float) -> None:
    """Raise `InputError` if a baud rate cannot be generated, or is too low for the bytes to send.

    `what` is the beginning of a sentence: ``"mpu6050 at 100 Hz"``.
    """
    if not is_made(board, baud):
        raise InputError(
            f"{board.name} cannot generate {baud:,} baud from its clock; choose one of "
            f"{', '.join(map(str, BAUDS))} with --baud"
        )
    if bytes_a_second > bytes_carried(baud):
        raise InputError(
            f"{what} needs {bytes_a_second:,.0f} bytes a second, but {baud:,} baud carry only "
            f"{bytes_carried(baud):,.0f}; choose a lower --rate or a higher --baud"
        )
