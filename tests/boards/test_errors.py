"""A board without what a command needs is one sentence."""

from __future__ import annotations

import json

import pytest
from avr_tools import needs_emulated_avr
from command_line import refusal, run
from model_factory import random_model

from protonn_edge.chips.boards import board_names
from protonn_edge.model.file import save_model


def error_of(*arguments: object, exit_code: int = 2) -> str:
    return refusal(run(*arguments), exit_code)


@needs_emulated_avr
@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"features": 64, "prototypes": 300, "classes": 10}, "attiny85 has 8,192 B; try"),
        (
            {"features": 400, "prototypes": 20},
            "attiny85 has 512 B; try a smaller --projection-dim or",
        ),
    ],
)
def test_what_does_not_fit_an_attiny85(tmp_path, sizes, words):
    save_model(random_model(**sizes), tmp_path / "large.npz")
    line = error_of(
        "build", tmp_path / "large.npz", "--board", "attiny85", "-o", tmp_path / "o", exit_code=1
    )
    assert words in line
    assert ("fewer features" in line) == (sizes["features"] == 400 or "flash" in line)


@needs_emulated_avr
def test_a_chip_that_simavr_does_not_know_is_built_and_not_emulated(tmp_path, model_file):
    board = tmp_path / "mine.toml"
    board.write_text(
        'title = "Mine"\nmcu = "atmega32u2"\ncore = "avr35"\nclock_hz = 16_000_000\n'
        "flash_bytes = 32_768\nsram_bytes = 1_024\nbaud = 115_200\npower_watts = 0.1\n"
        'serial = "usart1"\n'
    )
    (tmp_path / "firmware.hex").write_text(":020000000000FE\n:00000001FF\n")
    line = error_of("emulate", tmp_path / "firmware.hex", "--board", board)
    assert "mine: not emulated: simavr does not support the chip (atmega32u2, usart1)" in line


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
