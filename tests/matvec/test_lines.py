"""Weights as instructions: what becomes of the features, and of those without weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protonn_edge.codegen.kernels.matvec.loops import blocks_of
from protonn_edge.codegen.kernels.matvec.unrolled import MULTIPLES, Unrolled, multiples_of


@given(seed=st.integers(0, 1_000), features=st.integers(1, 150), share=st.sampled_from([0, 0.2, 1]))
@settings(max_examples=50, deadline=None)
def test_each_feature_is_in_one_line(seed: int, features: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(-9, 10, (2, features)) * (rng.random(features) < share)
    lines = Unrolled(blocks_of(2, 2)[0], weights.astype(np.int8), 63).lines
    covered = [line.feature + k for line in lines for k in range(max(1, line.passed))]
    assert covered == list(range(features))
    multiples = multiples_of(weights.astype(np.int8), 63)
    assert [line.multiples for line in lines if not line.passed] == [m for m in multiples if m]


def test_features_without_weights_take_two_cycles_together() -> None:
    weights = np.array([[5, 0, 0, 0, 0, 0, 0, 0, 0, 3]], np.int8)
    zero, other = Unrolled(blocks_of(1, 2)[0], weights, 255).cycles
    assert zero.tolist() == [5, 2, 0, 0, 0, 0, 0, 0, 0, 5]
    assert other.tolist() == [9, 2, 0, 0, 0, 0, 0, 0, 0, 9]


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
    weights = np.array(
        [[size if size % 3 and size < 128 else -size] for size in SIZES[::-1]], np.int64
    )
    (multiples,) = multiples_of(weights.astype(np.int8), largest)
    assert tuple(each.size for each in multiples) == SIZES
    assert [each.cycles for each in multiples] == cycles
    words = [MULTIPLES[each.made].code_bytes // 2 for each in multiples]
    assert words == [min(each, 2) for each in cycles]
    assert multiples[0].outputs == (len(SIZES) - 1,)
    assert [bool(each.minus) for each in multiples] == [
        size % 3 == 0 or size == 128 for size in SIZES
    ]
