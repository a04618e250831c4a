"""The firmware fits the board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protonn_edge.boards import Board
from protonn_edge.build.checks import Usage
from protonn_edge.quantization import DeviceModel

if TYPE_CHECKING:
    from conftest import Record


def test_flash_and_sram_stay_within_the_board(
    usage: Usage, board: Board, reference: DeviceModel, record_property: Record
) -> None:
    record_property("flash_bytes", usage.flash_bytes)
    record_property("flash_limit", board.flash_bytes)
    record_property("sram_bytes", usage.sram_bytes)
    record_property("stack_bytes", usage.stack_bytes)
    record_property("sram_limit", board.sram_bytes)
    usage.check(board, reference.head.remedies)
