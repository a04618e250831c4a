"""The firmware fits the board."""

from __future__ import annotations


def test_flash_and_sram_stay_within_the_board(usage, board, reference, record_property):
    record_property("flash_bytes", usage.flash_bytes)
    record_property("flash_limit", board.flash_bytes)
    record_property("sram_bytes", usage.sram_bytes)
    record_property("stack_bytes", usage.stack_bytes)
    record_property("sram_limit", board.sram_bytes)
    usage.check(board, reference.remedies)
