"""The labels above a threshold, and all in order: the same in NumPy, host C and on the Uno."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from byte_programs import answered_by, answered_by_uno, host_program, uno_program
from hypothesis import assume, given
from hypothesis import strategies as st
from model_factory import random_inputs, random_model
from refusals import refused_by

from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.policy import Units, with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.rule import Sharpness
from protonn_edge.policy.label_sets.rule import IntegerLabelSets, LabelSets
from protonn_edge.policy.value.rule import Value

MAIN = Path(__file__).with_name("label_sets_main.c")


@given(
    threshold=st.floats(-1e6, 1e6),
    step=st.floats(1e-4, 1e4),
    scores=st.lists(st.integers(-(2**31) + 1, 2**31 - 2), min_size=1),
)
def test_integer_scores_reach_the_threshold_as_float_scores_do(
    threshold: float, step: float, scores: list[int]
) -> None:
    rule, ends = LabelSets(threshold), (-(2**31) + 1, 2**31 - 2)
    assume(ends[0] < threshold / step <= ends[1])
    integers = rule.in_integers(Units(step, 255, len(scores), 0, ends))
    by_floats = [score >= threshold / step for score in scores]
    assert integers.values(np.array([scores]))[0].tolist() == by_floats


def chain_with(share: float) -> IntegerChain:
    """Return a model of which points have about a share of the labels."""
    chain = quantize(random_model())
    threshold = int(np.quantile(chain.scores(random_inputs(0, 60, chain)), 1 - share))
    ranked: IntegerChain = with_rules(chain, IntegerLabelSets(threshold))
    return ranked


def expected(chain: IntegerChain, Q: np.ndarray) -> bytes:
    scores = chain.scores(Q)
    order = np.argsort(-scores, axis=1, kind="stable")
    chosen = np.take_along_axis(chain.policy.values(scores), order, axis=1)
    pairs = np.stack([order, chosen], axis=2).reshape(len(Q), -1)
    return np.hstack([pairs, np.zeros((len(Q), 1), int)]).astype(np.uint8).tobytes()


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_host_c_gives_the_labels_of_numpy_under_sanitizers(tmp_path: Path, share: float) -> None:
    chain = chain_with(share)
    Q = random_inputs(0, 60, chain)
    assert answered_by(host_program(chain, MAIN, tmp_path), Q.tobytes()) == expected(chain, Q)


@needs_emulated_avr
def test_the_uno_gives_the_labels_of_numpy(tmp_path: Path) -> None:
    chain = chain_with(0.4)
    Q = random_inputs(0, 60, chain)[:20]
    elf = uno_program(chain, MAIN, tmp_path)
    found = answered_by_uno(elf, map(bytes, Q), 2 * chain.n_classes + 1)
    assert found == expected(chain, Q)


@pytest.mark.parametrize("other", [Value(1.0, 0.0, 1), Sharpness(1.0)], ids=["value", "softmax"])
def test_no_rule_of_other_answers_stands_beside_it(other: object) -> None:
    with refused_by("model.policy", "value", "policy.confidence.rule"):
        with_rules(random_model(), LabelSets(0.5), other)


@pytest.mark.parametrize("threshold", [np.nan, np.inf])
def test_a_threshold_is_finite(threshold: float) -> None:
    with refused_by("threshold"):
        LabelSets(threshold)


@pytest.mark.parametrize("threshold", [1e308, -1e308, 40_000.0])
def test_a_threshold_that_no_score_reaches_is_refused(threshold: float) -> None:
    with refused_by("threshold"):
        LabelSets(threshold).in_integers(Units(1.0, 255, 3, 0, (-32768, 32767)))


def test_a_name_with_a_comma_is_quoted() -> None:
    words = LabelSets(0.0).words(np.array([[2.0, 1.0, -1.0]]), ("a,b", "c", "d"))
    assert words == ['"a,b",c']
