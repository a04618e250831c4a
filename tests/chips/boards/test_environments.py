"""What boards' files say to PlatformIO."""

from __future__ import annotations

import configparser
import json

import pytest
from avr_tools import needs_avr_gcc

from protonn_edge.chips.boards import board_names, load_board
from protonn_edge.chips.toolchain.platformio import (
    build_flags,
    description,
    environment_section,
    pio_variables,
)
from protonn_edge.system.files import resource

SETTINGS = resource("platformio.ini").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", board_names())
def test_platformio_ini_has_each_boards_section_as_its_file_says(name):
    assert f"\n{environment_section(load_board(name))}" in SETTINGS


def test_platformio_ini_builds_for_the_uno_by_default():
    parser = configparser.ConfigParser(inline_comment_prefixes=(";",), interpolation=None)
    parser.read_string(SETTINGS)
    assert parser["platformio"]["default_envs"] == "uno"
    environments = {name[4:] for name in parser.sections() if name.startswith("env:")}
    assert environments == set(board_names())


def test_an_uno_needs_no_flags_and_others_what_differs():
    assert build_flags(load_board("uno")) == build_flags(load_board("nano")) == []
    assert build_flags(load_board("leonardo")) == ["-DUART_NUMBER=1", "-DBUSY_PIN=4"]


@needs_avr_gcc
def test_the_stand_in_knows_every_chip(monkeypatch, tmp_path):
    monkeypatch.setenv("PROTONN_EDGE_PLATFORMIO", "offline")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "none"
    for name, value in pio_variables().items():
        if name == "PLATFORMIO_PLATFORMS_DIR":
            folder = type(tmp_path)(value, "atmelavr", "boards")
    for board in map(load_board, board_names()):
        told = json.loads((folder / f"{board.platformio_board}.json").read_text())
        assert told == description(board)
        assert told["build"]["mcu"] == board.mcu
        assert ("speed" in told["upload"]) == (board.upload_baud > 0)
