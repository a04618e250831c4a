"""Trees as instructions read the inputs that they ask for, wherever these are."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.kinds.forest.layout import REACH, SCRATCH, Reading

UPPER = (2, 3, 4)
PAIRS = (6, 8)


class Registers:
    """What instructions leave in registers: addresses in pointers and pairs, inputs in others."""

    def __init__(self) -> None:
        self.addresses = {30: 0}
        self.inputs: dict[int, int] = {}

    def run(self, lines: list[str]) -> None:
        for line in lines:
            name, first, second = re.split(r",? +", line)
            if name == "movw":
                self.addresses[int(first[1:])] = self.addresses[int(second[1:])]
            elif name == "ldd":
                pointer, displacement = second.split("+")
                assert 0 <= int(displacement) < REACH
                base = self.addresses[{"Y": 28, "Z": 30}[pointer]]
                self.inputs[int(first[1:])] = base + int(displacement)
            elif name in ("adiw", "sbiw"):
                assert 0 < int(second) < 64
                self.addresses[30] += int(second) if name == "adiw" else -int(second)
            elif name == "subi":
                self.addresses[30] += int(second[6:-2])  # of lo8(-(NUMBER))
            else:
                assert name == "sbci", line


@given(st.lists(st.integers(0, 400), min_size=1, max_size=60))
def test_what_is_loaded_is_the_input_that_was_asked_for(asked: list[int]) -> None:
    reading = Reading.of(np.array(asked), UPPER, PAIRS)
    registers = Registers()
    registers.run(reading.set_up())
    held = reading.at_root
    for feature in asked:
        lines, register, held = reading.load(feature, held)
        registers.run(lines)
        assert registers.inputs[register] == feature
        assert len(lines) <= 4
        again, same, _ = reading.load(feature, held)
        assert (again, same) == ([], register), "it is still there"


def test_inputs_that_are_tested_often_are_loaded_once() -> None:
    asked = np.array([7, 300, 300, 7, 7, 9, 50, 50, 60])
    reading = Reading.of(asked, UPPER, PAIRS)
    assert reading.pinned == {7: 2, 50: 3, 300: 4}
    assert (reading.fixed, reading.windows, reading.pairs) == (9, (), {})
    assert reading.load(300, reading.at_root)[:2] == ([], 4)
    assert reading.load(60, reading.at_root)[:2] == ([f"ldd  r{SCRATCH}, Y+51"], SCRATCH)


def test_few_inputs_are_all_loaded_once() -> None:
    reading = Reading.of(np.array([5, 90, 200]), UPPER, PAIRS)
    assert reading.pinned == {5: 2, 90: 3, 200: 4}
    assert reading.fixed is None
    assert reading.set_up() == [
        "ldd  r2, Z+5",
        "subi r30, lo8(-(90))",
        "sbci r31, hi8(-(90))",
        "ldd  r3, Z+0",
        "subi r30, lo8(-(110))",
        "sbci r31, hi8(-(110))",
        "ldd  r4, Z+0",
    ]


def test_one_window_stays_in_z_from_the_begin_on() -> None:
    """Four inputs, each once: those from 0 on are reached from Y, 100 from Z alone."""
    reading = Reading.of(np.array([0, 10, 20, 100]), UPPER, PAIRS)
    assert (reading.fixed, reading.windows, reading.pairs) == (0, (100,), {})
    assert reading.load(100, reading.at_root)[0] == [f"ldd  r{SCRATCH}, Z+0"]


def test_windows_with_the_most_tests_have_pairs_of_registers() -> None:
    reading = Reading.of(np.array([0, 1, 2, 100, 200, 210, 220, 300, 310]), UPPER, PAIRS)
    assert (reading.fixed, reading.windows) == (0, (100, 200, 300))
    assert reading.pairs == {200: 6, 300: 8}
    assert reading.at_root.window is None
    assert reading.load(210, reading.at_root)[0] == ["movw r30, r6", f"ldd  r{SCRATCH}, Z+10"]
    assert len(reading.load(100, reading.at_root)[0]) == 4  # from Y on


def test_a_pointer_reaches_64_bytes() -> None:
    reading = Reading.of(np.array([0, 1, 2, 63, 64]), UPPER, PAIRS)
    assert (reading.fixed, reading.windows) == (0, (64,))
    assert Reading.of(np.array([0, 1, 2, 62, 63]), UPPER, PAIRS).windows == ()
