"""Weights as instructions: what they add to sums."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from chips.assembly.decoding import decoded
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.chips.avr.semantics import ACTIONS, KnownNumbers
from protonn_edge.codegen.kernels.listing import BEGIN, END, Listing
from protonn_edge.codegen.kernels.matvec.products import SumRegisters, added_products, unrolled


def registers_of(sums: int, width: int = 2) -> SumRegisters:
    return SumRegisters(range(2, 2 + sums * width, width), "r23", "r22", "r25", width)


def run(lines: list[str], registers: list[int]) -> None:
    chip: Any = SimpleNamespace(arithmetic=KnownNumbers())
    state = SimpleNamespace(registers=registers, flags=[0] * 8)
    for each in decoded("\n".join(lines), {}):
        ACTIONS[each.here.name](chip, state, each.here.operands, each.here)


@given(
    st.lists(st.integers(-128, 127), min_size=1, max_size=5),
    st.integers(1, 255),
    st.sampled_from([2, 3, 4]),
    st.data(),
)
def test_each_sum_gets_its_product(
    weights: list[int], maximum: int, width: int, data: st.DataObject
) -> None:
    of, x = registers_of(len(weights), width), data.draw(st.integers(1, maximum))
    own = {low: weight for low, weight in zip(of.sums, weights, strict=True) if weight}
    registers, read, zero = [7, 9] + [0] * 30, int(of.input[1:]), int(of.zero[1:])
    registers[read] = x
    run(added_products(own, maximum, of), registers)
    for low, weight in zip(of.sums, weights, strict=True):
        found = bytes(registers[low : low + width])
        assert int.from_bytes(found, "little") == weight * x % 256**width
    assert registers[zero] == 0
    assert registers[read] == x


SIZES = (1, 2, 3, 4, 5, 8, 10, 13, 26, 27, 29, 58, 60, 100, 101, 128)


@pytest.mark.parametrize(
    ("largest", "cycles"),
    [
        (1, [0, 2, 1, 1, 1, 3, 2, 3, 1, 1, 2, 1, 2, 3, 1, 3]),  # all fit a byte
        (8, [0, 2, 1, 1, 1, 3, 2, 3, 1, 1, 2, 3, 3, 3, 2, 3]),  # up to 29 times do
        (255, [0, 3, 2, 2, 2, 3, 3, 3, 2, 2, 3, 2, 3, 3, 2, 3]),
    ],
)
def test_multiples_are_made_of_smaller_ones_where_that_is_quicker(
    largest: int, cycles: list[int]
) -> None:
    """By an addition or two of bytes, or of words; else by a multiplication, of 3 cycles."""
    of = registers_of(1)
    taken = []
    for number in range(len(SIZES)):
        own = {low: -size for low, size in enumerate(SIZES[: number + 1])}
        taken.append(Listing("\n".join(added_products(own, largest, of))).path(BEGIN, [END], {}))
    assert np.diff(taken, prepend=0).tolist() == [2 + each for each in cycles]


def test_inputs_without_weights_are_passed_over_together() -> None:
    weights = np.zeros((200, 1), np.int8)
    weights[[0, 9, 199]] = 5
    lines, moved = unrolled(weights, 255, registers_of(1))
    listing = Listing("\n".join(lines))
    assert moved == 200
    assert listing.path(BEGIN, [END], {}) == 3 * 9 + 2 * 2
    taken = {f"behind_{place}": 1 for place in (0, 9, 199)}
    assert listing.path(BEGIN, [END], taken) == 3 * 5 + 2 * 2
