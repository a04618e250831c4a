"""The boards that `inspect` lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from protonn_edge.chips.boards import FIRMWARE, Board, load_export_board
from protonn_edge.cli.command import Output
from protonn_edge.learn.evaluation.terminal import row_table


def show_boards(out: Output, names: Sequence[str]) -> None:
    """Print the boards of these names; a name may be the path of a .toml file."""
    boards = [load_export_board(name) for name in names]
    headings = ("board", "chip", "MHz", "flash B", "SRAM B", "serial line")
    out.say(row_table(headings, [(each.name, *_facts(each)) for each in boards], {0, 1, 5}))
    records = [asdict(board) for board in boards]
    for record in records:
        del record["environment"]
    out.finish({"boards": records})


def _facts(board: Board) -> list[str]:
    line = "UART0" if board.proof == FIRMWARE else board.serial.upper()
    used = f"{line}, {board.baud:,} baud"
    if board.framework:
        used = f"Serial, {board.baud:,} baud"
    elif not board.has_firmware:
        used = "export only"
    return [
        board.mcu,
        f"{board.clock_hz / 1e6:g}",
        f"{board.flash_bytes:,}",
        f"{board.sram_bytes:,}",
        used,
    ]
