"""Board files of odd types and sizes are refused in one short sentence."""

from __future__ import annotations

from importlib import resources

import pytest
from command_line import refusal, run

UNO = resources.files("protonn_edge.chips.boards").joinpath("uno.toml").read_text("utf-8")

ODD = {
    "a list as core": ('core = "avr5"', 'core = ["avr5"]'),
    "a table as core": ('core = "avr5"', "core = {a = 1}"),
    "a huge decimal number": ("clock_hz = 16_000_000", f"clock_hz = {'9' * 5_000}"),
    "a huge hexadecimal number": ("clock_hz = 16_000_000", f"clock_hz = 0x{'f' * 5_000}"),
    "deep nesting": ("clock_hz = 16_000_000", f"clock_hz = {'[' * 5_000}{']' * 5_000}"),
    "a long key": ("clock_hz = 16_000_000", f"{'k' * 5_000} = 1"),
    "a long value": ('core = "avr5"', f'core = "{"x" * 5_000}"'),
    "next to no power": ("power_watts = 0.2455", "power_watts = 5e-324"),
}


@pytest.mark.parametrize("case", ODD)
def test_an_odd_board_file_is_refused(tmp_path, case):
    old, new = ODD[case]
    assert old in UNO
    path = tmp_path / "mine.toml"
    path.write_text(UNO.replace(old, new), encoding="utf-8")
    assert len(refusal(run("inspect", path))) < 600


@pytest.mark.parametrize("name", ["9" * 5_000, "x" * 5_000 + ".toml"])
def test_a_long_name_of_a_board_is_shortened(name):
    assert len(refusal(run("build", "m.npz", "--board", name))) < 600
