"""Weights as instructions: what they add to sums, run on a machine of these few instructions."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.features.convolution.window import (
    CONSTANT,
    INPUT,
    REGISTERS,
    ZERO,
    added_products,
)


def run(lines: list[str], registers: dict[str, int]) -> None:
    """Run instructions on registers of a byte each."""
    carry = 0
    for line in lines:
        name, to, *rest = re.split(r"[ ,]+", line)
        given = registers.get(rest[0], 0) if rest else 0
        if name == "ldi":
            registers[to] = int(rest[0])
        elif name == "mov":
            registers[to] = given
        elif name == "mul":
            registers["r1"], registers["r0"] = divmod(registers[to] * given, 256)
        else:
            own = registers[to]
            sums = {
                "add": own + given,
                "adc": own + given + carry,
                "sub": own - given,
                "sbc": own - given - carry,
                "lsl": 2 * own,
                "rol": 2 * own + carry,
            }
            carry, registers[to] = int(not 0 <= sums[name] <= 255), sums[name] % 256


@given(
    st.lists(st.integers(-128, 127), min_size=1, max_size=len(REGISTERS)),
    st.integers(1, 255),
    st.data(),
)
def test_each_sum_gets_its_product(weights: list[int], maximum: int, data: st.DataObject) -> None:
    x = data.draw(st.integers(1, maximum))
    own = {r: w for r, w in zip(REGISTERS, weights, strict=False) if w}
    registers = {f"r{number}": 0 for number in range(32)} | {INPUT: x, "r0": 7, "r1": 9}
    run(added_products(own, maximum), registers)
    for register, weight in own.items():
        high = registers[f"r{int(register[1:]) + 1}"]
        assert registers[register] + 256 * high == weight * x % 65_536
    assert registers[ZERO] == 0
    assert registers[INPUT] == x


def test_small_multiples_are_made_of_each_other() -> None:
    """Of weights of 4 bits and inputs of 4 bits, one more multiple takes one more addition."""
    lines = added_products(dict(zip(REGISTERS, range(1, 9), strict=False)), 15)
    assert not any(line.startswith("mul") for line in lines)
    assert len(lines) == 2 * 8 + 2 + 6
    assert not any(CONSTANT in line for line in lines)
