"""What a board's file says to PlatformIO: its section of platformio.ini, and its description.

The stock platform knows its boards; the description is for the stand-in that takes its place where
PlatformIO's registry is out of reach, and for the project of a board that PlatformIO does not know.
"""

from __future__ import annotations

import json
from typing import Any

from protonn_edge.boards import Board, board_names

_DEFAULT_BAUD = 115_200  # of firmware/uart.c
_LINKED_BYTES = 0x10000  # what platformio.ini lets any program link


def environment_section(board: Board) -> str:
    """Return the section of platformio.ini that builds the firmware for a board."""
    lines = [f"[env:{board.environment}]"]
    if not board.is_chip:
        lines += [
            "platform = native",
            "build_src_filter = -<*> +<generated/> +<host/>",
            "build_flags = -std=c99 -O2 -Wall -Wextra -Wpedantic -Ifirmware/generated",
        ]
        return "\n".join(lines) + "\n"
    lines += [
        "extends = avr",
        f"board = {board.platformio_board or board.environment}",
        f"board_build.mcu = {board.mcu}",
        f"board_build.f_cpu = {board.clock_hz}L",
    ]
    flags = build_flags(board)
    if flags:
        lines += ["build_flags =", "    ${avr.build_flags}", *(f"    {flag}" for flag in flags)]
    return "\n".join([*lines, *upload_lines(board)]) + "\n"


def upload_lines(board: Board) -> list[str]:
    """Return what the section of a board of one's own says of uploads, for `upload`, too.

    Boards that have a name are known by it.
    """
    if board.environment in board_names():
        return []
    lines = [f"upload_protocol = {board.upload_protocol}"]
    if board.upload_baud:
        lines.append(f"upload_speed = {board.upload_baud}")
    if board.usb_ids:
        lines.append(f"custom_usb_ids = {', '.join(board.usb_ids)}")
    return lines


def description_file(board: Board) -> dict[str, str]:
    """Return the file in a project that describes a board which PlatformIO does not know."""
    if not board.is_chip or board.platformio_board:
        return {}
    text = json.dumps(description(board), indent=2) + "\n"
    return {f"boards/{board.environment}.json": text}


def build_flags(board: Board) -> list[str]:
    """Return what the firmware is told where a board is not as an Uno is."""
    flags = []
    if board.baud != _DEFAULT_BAUD or board.serial == "software":
        flags.append(f"-DBAUD={board.baud}UL")
    if board.serial == "software":
        flags.append("-DSOFTWARE_UART")
        flags += [f"-DUART_RX_PIN={board.rx_pin[2:]}", f"-DUART_TX_PIN={board.tx_pin[2:]}"]
    elif board.serial != "usart0":
        flags.append(f"-DUART_NUMBER={board.serial.removeprefix('usart')}")
    if board.meter_pin != "PB0":
        flags.append(f"-DMETER_PIN={board.meter_pin[2:]}")
    if board.flash_total_bytes > _LINKED_BYTES:
        flags.append(f"-Wl,--defsym=__TEXT_REGION_LENGTH__=0x{2 * board.flash_total_bytes:x}")
    return flags


def description(board: Board) -> dict[str, Any]:
    """Return a board as a platform of PlatformIO describes it, for its .json file."""
    upload: dict[str, Any] = {
        "maximum_size": board.flash_bytes,
        "maximum_ram_size": board.sram_bytes,
        "protocol": board.upload_protocol,
    }
    if board.upload_baud:
        upload |= {"require_upload_port": True, "speed": board.upload_baud}
    return {
        "name": board.title,
        "vendor": "protonn-edge",
        "url": "",
        "build": {
            "mcu": board.mcu,
            "f_cpu": f"{board.clock_hz}L",
            "hwids": [[f"0x{part}" for part in each.split(":")] for each in board.usb_ids],
        },
        "upload": upload,
    }
