"""The labels above a threshold, and all in order: the same in NumPy, host C and on the Uno."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from model_factory import random_model
from refusals import refused_by

from protonn_edge.model.policy import Units, with_rules
from protonn_edge.policy.confidence.rule import Sharpness
from protonn_edge.policy.label_sets.rule import LabelSets
from protonn_edge.policy.value.rule import Value


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
