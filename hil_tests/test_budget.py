"""The firmware fits the board."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from protonn_edge.learn.evaluation.measurement import Measurement
from protonn_edge.model.integer_chain import IntegerChain

if TYPE_CHECKING:
    from conftest import Record


def test_flash_and_sram_stay_within_the_board(
    pnn_measurement: Measurement, reference: IntegerChain, record_property: Record
) -> None:
    usage, board = pnn_measurement.usage, pnn_measurement.board
    if usage is None:
        pytest.skip("the firmware was not linked here; install the compiler that 'build' names")
    record_property("flash_limit", board.flash_bytes)
    record_property("stack_limit", usage.stack_bytes)
    record_property("sram_limit", board.sram_bytes)
    usage.check(board, reference.head.remedies)
