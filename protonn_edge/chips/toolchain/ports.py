"""The serial ports of this computer, and the one to which a board is most likely connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from protonn_edge.chips.boards import Board, board_names, load_board
from protonn_edge.system.errors import InputError

if TYPE_CHECKING:
    from serial.tools.list_ports_common import ListPortInfo

_ADAPTERS = {
    0x2341: "an Arduino",
    0x2A03: "an Arduino",
    0x1B4F: "a SparkFun board",
    0x239A: "an Adafruit board",
    0x1A86: "a CH340 adapter, as on many Nanos",
    0x0403: "an FTDI adapter",
    0x10C4: "a CP210x adapter",
    0x067B: "a PL2303 adapter",
}
_LISTED = 8


class FoundPort(NamedTuple):
    """The port that was taken."""

    device: str  # as pyserial and avrdude take it: ``/dev/ttyACM0``, ``COM3``
    why: str  # the candidates, and the ports that were not taken


def find_port(board: Board) -> FoundPort:
    """Return the port at which a board most likely is; `InputError` if nothing is plugged in.

    It prefers the USB identity of such a board, then that of another known board, then an adapter,
    then any USB device; among equally likely ports, it chooses the first. It never chooses a port
    that is not on USB.
    """
    from serial.tools import list_ports  # many only name this function

    ports = sorted(list_ports.comports(), key=lambda port: (-_rank(port, board), port.device))
    if not ports or not _rank(ports[0], board):
        there = ", ".join(port.device for port in ports[:_LISTED]) or "none"
        raise InputError(
            f"no board was found on USB (serial ports: {there}); plug in the board, or name its "
            "port with --port"
        )
    taken, *others = ports
    why = _what(taken, board)
    if others:
        shown = (f"{port.device} ({_what(port, board)})" for port in others[:_LISTED])
        why += f"; not {', '.join(shown)}"
        if _rank(others[0], board) == _rank(taken, board):
            why += "; use --port to choose another"
    return FoundPort(taken.device, why)


def boards_on_usb(board: Board) -> list[FoundPort]:
    """Return the ports of USB devices, the likeliest for a board first, and what is at each."""
    from serial.tools import list_ports  # as above

    ports = sorted(list_ports.comports(), key=lambda port: (-_rank(port, board), port.device))
    return [FoundPort(each.device, _what(each, board)) for each in ports if _rank(each, board)]


def _rank(port: ListPortInfo, board: Board) -> int:
    """Return how likely a board is there; 0 for never."""
    if port.vid is None:
        return 0
    if _is(port, board):
        return 4
    if _known_board(port) is not None:
        return 3
    return 2 if port.vid in _ADAPTERS else 1


def _what(port: ListPortInfo, board: Board) -> str:
    """Return a short description of the device at a port."""
    if port.vid is None:
        return "not on USB"
    known_board = board if _is(port, board) else _known_board(port)
    name = (
        known_board.title
        if known_board
        else _ADAPTERS.get(port.vid) or port.product or "a USB device"
    )
    return f"{name}, USB {_identity(port)}"


def _known_board(port: ListPortInfo) -> Board | None:
    return next((board for board in map(load_board, board_names()) if _is(port, board)), None)


def _is(port: ListPortInfo, board: Board) -> bool:
    return _identity(port) in (each.upper() for each in board.usb_ids)


def _identity(port: ListPortInfo) -> str:
    return f"{port.vid:04X}:{port.pid or 0:04X}"
