"""What a board's serial line carries, and which rates its clock can make."""

from __future__ import annotations

from protonn_edge.boards import Board
from protonn_edge.errors import InputError

BAUDS = (115_200, 250_000, 500_000, 1_000_000)
"""Rates of the line that are tried, if none is asked for: those of 16 MHz chips' boards."""

_SHARE = 0.95
_BITS_PER_BYTE = 10
_BAUD_ERROR = 0.025


def bytes_carried(baud: int) -> float:
    """Return the bytes a second that may be sent at a rate."""
    return _SHARE * baud / _BITS_PER_BYTE


def byte_cycles(board: Board, baud: int) -> float:
    """Return the clock cycles that a byte takes on the line."""
    return board.clock_hz * _BITS_PER_BYTE / baud


def baud_divisor(board: Board, baud: int) -> int:
    """Return what UBRR0 is set to, at double speed."""
    return max(0, round(board.clock_hz / (8 * baud)) - 1)


def is_made(board: Board, baud: int) -> bool:
    """Whether the board's clock makes the rate well enough."""
    divisor = baud_divisor(board, baud) + 1
    return abs(board.clock_hz / (8 * divisor) / baud - 1) <= _BAUD_ERROR


def least_baud(board: Board, bytes_a_second: float) -> int:
    """Return the least rate that carries so much, at least the board's; that, if there is none."""
    for baud in (board.baud, *(each for each in BAUDS if each > board.baud)):
        if bytes_a_second <= bytes_carried(baud) and is_made(board, baud):
            return baud
    return board.baud


def check_baud(board: Board, baud: int, what: str, bytes_a_second: float) -> None:
    """Raise `InputError` if a rate cannot be made, or does not carry what is to be sent.

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
