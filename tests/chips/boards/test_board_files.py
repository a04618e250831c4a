"""A board is one file; what is wrong with it is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused_by

from protonn_edge.chips.boards import board_names, load_board
from protonn_edge.chips.cores import CORES
from protonn_edge.system.errors import InputError

GOOD = {
    "title": "'Mine'",
    "mcu": "'atmega644p'",
    "core": "'avr5'",
    "clock_hz": "12_000_000",
    "flash_bytes": "65_536",
    "sram_bytes": "4_096",
    "baud": "57_600",
    "power_watts": "0.03",
}


def write(folder: Path, name: str = "mine.toml", **changed: str | None) -> str:
    facts = {key: value for key, value in (GOOD | changed).items() if value is not None}
    path = folder / name
    path.write_text("".join(f"{key} = {value}\n" for key, value in facts.items()))
    return str(path)


def test_the_boards_are_those_that_are_promised():
    assert board_names() == [*("atmega1284p", "leonardo", "mega2560", "nano", "promini8", "uno")]


@pytest.mark.parametrize("name", board_names())
def test_every_file_is_a_board(name):
    board = load_board(name)
    assert board.name == board.environment == name
    assert board.flash_total_bytes in {2**bits for bits in range(15, 19)}


def test_a_file_of_ones_own_is_a_board_named_after_it(tmp_path):
    board = load_board(write(tmp_path))
    assert (board.name, board.environment, board.mcu) == ("mine", "mine", "atmega644p")
    assert (board.clock_hz, board.serial, board.platformio_board) == (12_000_000, "usart0", "")
    assert board.milliseconds(12_000) == 1.0


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"mcu": None}, "no key 'mcu', expected a chip such as"),
        ({"mcu": "'AT90; rm -rf'"}, "mcu = 'AT90; rm -rf'"),
        ({"core": "'avr7'"}, "core = 'avr7', expected one of avr25"),
        ({"clock_hz": "16"}, "clock_hz = 16, expected a whole number from 1,000,000"),
        ({"clock_hz": "true"}, "clock_hz = True"),
        ({"flash_bytes": "1e4"}, "flash_bytes = 10000.0"),
        ({"power_watts": "nan"}, "power_watts = nan"),
        ({"power_watts": "0"}, "power_watts = 0, expected a number of watts"),
        ({"serial": "'usb'"}, "serial = 'usb', expected 'usart0'"),
        ({"colour": "'blue'"}, "the key 'colour', which this board cannot have"),
        (
            {"title": '"a\\u0007"'},
            "title = 'a\\x07', expected a string of 1 to 60 ASCII",
        ),
        ({"title": "mine"}, "not TOML"),
        (
            {"baud": "230_400"},
            "a clock of 12,000,000 Hz can produce, such as 214,286",
        ),
        ({"serial": "'software'"}, "serial = 'software', expected 'usart0'"),
        ({"core": "'avr35'"}, "there is no firmware for mine (atmega644p) yet"),
        ({"rx_pin": "'PB3'"}, "the key 'rx_pin', which this board cannot have"),
        ({"usb_ids": "['2341']"}, "usb_ids = ['2341']"),
        ({"sleep_enable": "[0x53]"}, "sleep_enable = [83]"),
        ({"platformio_board": "'a b'"}, "platformio_board = 'a b'"),
    ],
)
def test_what_is_wrong_is_said_with_the_key(tmp_path, changed, words):
    path = write(tmp_path, **changed)
    with pytest.raises(InputError) as caught:
        load_board(path)
    assert words in str(caught.value)
    assert "mine.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_none(tmp_path):
    with refused_by("system.described"):
        load_board("uni")
    with refused_by("system.described"):
        load_board("esp9000")
    with refused_by("system.files"):
        load_board(str(tmp_path / "none.toml"))
    with refused_by("system.described"):
        load_board(write(tmp_path, "uno.toml"))
    with refused_by("system.described"):
        load_board(write(tmp_path, "my board.toml"))
    (tmp_path / "large.toml").write_bytes(b"#" * 100_000)
    with refused_by("system.files"):
        load_board(str(tmp_path / "large.toml"))
    (tmp_path / "latin.toml").write_bytes(b"title = '\xe9'")
    with refused_by("system.described"):
        load_board(str(tmp_path / "latin.toml"))


def test_cores_have_numbers_of_elf_files():
    assert [core.machine for core in CORES.values()] == [25, 35, 4, 5, 51, 6]
    assert [name for name, core in CORES.items() if core.return_bytes == 3] == ["avr6"]
    assert [name for name, core in CORES.items() if not core.multiplies] == ["avr25", "avr35"]
