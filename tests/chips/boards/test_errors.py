"""A board without what a command needs is one sentence."""

from __future__ import annotations

import json

from avr_tools import needs_emulated_avr
from command_line import refusal, run

from protonn_edge.chips.boards import board_names


def error_of(*arguments: object, exit_code: int = 2) -> str:
    return refusal(run(*arguments), exit_code)


@needs_emulated_avr
def test_a_chip_that_simavr_does_not_know_is_built_and_not_emulated(tmp_path, model_file):
    board = tmp_path / "mine.toml"
    board.write_text(
        'title = "Mine"\nmcu = "atmega324pb"\ncore = "avr5"\nclock_hz = 16_000_000\n'
        "flash_bytes = 32_768\nsram_bytes = 1_024\nbaud = 115_200\npower_watts = 0.1\n"
        'serial = "usart1"\n'
    )
    (tmp_path / "firmware.hex").write_text(":020000000000FE\n:00000001FF\n")
    line = error_of("emulate", tmp_path / "firmware.hex", "--board", board)
    assert "mine: not emulated: simavr does not support the chip (atmega324pb, usart1)" in line


def test_boards_are_listed_and_a_file_is_checked(tmp_path):
    done = run("inspect", "--boards")
    assert done.exit_code == 0
    for name in board_names():
        assert f"  {name} " in done.stdout
    done = run("inspect", "--boards", "--json")
    named = {each["name"]: each for each in json.loads(done.stdout)["boards"]}
    uno = named["uno"]
    assert (uno["name"], uno["mcu"], uno["flash_bytes"]) == ("uno", "atmega328p", 32_256)
    (tmp_path / "mine.toml").write_text('title = "Mine"\n')
    assert "no key 'mcu'" in error_of("inspect", tmp_path / "mine.toml")
