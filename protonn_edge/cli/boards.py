"""``protonn-edge boards``: List the boards, or check a board's file."""

from __future__ import annotations

from dataclasses import asdict

from protonn_edge.boards import Board, board_names, load_board
from protonn_edge.cli.command import OUTPUT, Output, argument, command
from protonn_edge.cli.options import BoardType
from protonn_edge.evaluation.terminal import row_table


@command("boards", examples=("", "my_board.toml"))
def boards_command(
    names: tuple[str, ...] = argument(BoardType(), metavar="[NAME|FILE.toml]...", nargs=-1),
    out: Output = OUTPUT,
) -> None:
    """List the boards that --board accepts, or only the named ones, and check each FILE.toml.

    To add your own board, write such a file; see docs/boards.md.
    """
    boards = [load_board(name) for name in names or board_names()]
    headings = ("board", "chip", "MHz", "flash B", "SRAM B", "serial line")
    out.say(row_table(headings, [(each.name, *_facts(each)) for each in boards], {0, 1, 5}))
    records = [asdict(board) for board in boards]
    for record in records:
        del record["environment"]
    out.finish({"boards": records})


def _facts(board: Board) -> list[str]:
    if not board.is_chip:
        return [board.title, "-", "-", "-", "none"]
    pins = f"{board.rx_pin} and {board.tx_pin}"
    line = board.serial.upper() if board.serial != "software" else pins
    return [
        board.mcu,
        f"{board.clock_hz / 1e6:g}",
        f"{board.flash_bytes:,}",
        f"{board.sram_bytes:,}",
        f"{line}, {board.baud:,} baud",
    ]
