"""How sure an answer is: near the softmax of the scores, and the same per cent everywhere."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.codegen.context import class_constants
from protonn_edge.policy.confidence.rule import EXPONENTIAL, Confidence


@given(
    logit=st.floats(1e-12, 1e6),
    scores=st.lists(st.integers(-(2**31), 2**31 - 1), min_size=2, max_size=255),
)
def test_per_cent_are_near_the_softmax(logit: float, scores: list[int]) -> None:
    confidence = Confidence.of(logit)
    assert 1 <= confidence.factor < 2**16
    assert 1 <= confidence.shift <= 24
    below = max(scores) - np.array(scores, dtype=np.float64)
    # A unit is at least 2**-24 steps, and at most so many that the next is beyond the table.
    steps = min(max(16 * logit, 2.0**-24), float(len(EXPONENTIAL)))
    sure = 1 / np.exp(-steps / 16 * below).sum()
    [found] = confidence.percent([scores])
    # Half a step of the table is 3 %, its rounding half of 1/255 for each class.
    slack = 0.035 * min(1, len(scores) * sure) + 0.5 / 255 * len(scores) * sure
    assert abs(found / 100 - sure) <= slack * sure + 0.006


def test_factors_are_as_fine_as_16_bits_allow() -> None:
    for little in (5e-324, 1e-12):
        assert Confidence.of(little) == Confidence(1, 24)  # not 0, with which all were equally sure
    assert Confidence.of(1 / 16) == Confidence(1 << 15, 15)
    assert Confidence.of(1e6) == Confidence.of(len(EXPONENTIAL) / 16)


@given(
    logit=st.floats(1e-12, 1e6),
    less=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=20),
)
def test_no_product_of_the_c_overflows(logit: float, less: list[int]) -> None:
    confidence = Confidence.of(logit)
    half = 1 << (confidence.shift - 1)
    largest = confidence.limit - 1
    assert largest * confidence.factor + half < 2**32
    assert (largest * confidence.factor + half) >> confidence.shift < len(EXPONENTIAL)
    assert (confidence.limit * confidence.factor + half) >> confidence.shift >= len(EXPONENTIAL)


@given(st.lists(st.text(min_size=1, max_size=20), min_size=2, max_size=6, unique=True))
def test_constants_of_classes_are_different_names(names: list[str]) -> None:
    constants = class_constants(tuple(names))
    assert len(set(constants)) == len(names)
    assert all(each.replace("_", "").isalnum() and each.isascii() for each in constants)
    assert constants == tuple(each.upper() for each in constants)


def test_constants_of_classes_read_like_their_names() -> None:
    names = ("up-down", "Château Margaux", "7", "a b", "a-b", "猫", "O'Neil, São Paulo")
    constants = ("UP_DOWN", "CHATEAU_MARGAUX", "7", "A_B_3", "A_B_4", "5", "O_NEIL_SAO_PAULO")
    assert class_constants(names) == constants
