"""How sure an answer is: near the softmax of the scores, and the same per cent everywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from byte_programs import answered_by, answered_by_uno, host_program, uno_program
from hypothesis import given
from hypothesis import strategies as st
from model_factory import random_inputs, random_model, sharp

from protonn_edge.codegen.context import class_constants
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.rule import EXPONENTIAL, Confidence

MAIN = Path(__file__).with_name("confidence_main.c")
# What a unit of the scores is worth in logits: so little that all classes are alike, and so much
# that one unit less is nothing.
LOGITS = [1e-9, 2e-4, 3e-3, 0.8, 50.0]


def model_of(logit: float) -> IntegerChain:
    model = quantize(random_model())
    return sharp(model, logit / model.score_scale)


def expected(model: IntegerChain, points: np.ndarray) -> bytes:
    assert model.policy.find(Confidence) is not None
    return model.policy.find(Confidence).percent(model.scores(points)).tobytes()


def test_a_unit_of_almost_no_logits_has_the_smallest_factor() -> None:
    assert Confidence.of(5e-324) == Confidence.of(1e-12) == Confidence(1, 24)


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
    assert Confidence.of(1e-12) == Confidence(1, 24)  # not 0, with which all were equally sure
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


@pytest.mark.parametrize("logit", LOGITS)
def test_host_c_gives_the_per_cent_of_numpy_under_sanitizers(tmp_path: Path, logit: float) -> None:
    model = model_of(logit)
    points = random_inputs(0, 60, model)
    found = answered_by(host_program(model, MAIN, tmp_path), points.tobytes())
    assert found == expected(model, points)


def test_these_models_are_sure_to_different_degrees() -> None:
    models = [model_of(logit) for logit in LOGITS]
    shares = [list(expected(each, random_inputs(0, 60, each))) for each in models]
    assert set(shares[0]) == {25}  # of four classes
    assert len(set(shares[2])) > 10
    assert set(shares[-1]) == {25, 100}  # far from all prototypes, or not


@needs_emulated_avr
def test_the_uno_gives_the_per_cent_of_numpy(tmp_path: Path) -> None:
    model = model_of(3e-3)
    points = random_inputs(0, 60, model)[:20]
    elf = uno_program(model, MAIN, tmp_path)
    assert answered_by_uno(elf, map(bytes, points), 1) == expected(model, points)


@given(st.lists(st.text(min_size=1, max_size=60), min_size=2, max_size=12, unique=True))
def test_constants_of_classes_are_different_names(names: list[str]) -> None:
    constants = class_constants(tuple(names))
    assert len(set(constants)) == len(names)
    assert all(each.replace("_", "").isalnum() and each.isascii() for each in constants)
    assert constants == tuple(each.upper() for each in constants)


def test_constants_of_classes_read_like_their_names() -> None:
    names = ("up-down", "Château Margaux", "7", "a b", "a-b", "猫", "O'Neil, São Paulo")
    constants = ("UP_DOWN", "CHATEAU_MARGAUX", "7", "A_B_3", "A_B_4", "5", "O_NEIL_SAO_PAULO")
    assert class_constants(names) == constants
