"""Trees as instructions read the inputs that they ask for, wherever these are."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.kinds.forest.layout import REACH, Reading

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
