"""The C of naive Bayes: for sizes at the ends, and random ones."""

from __future__ import annotations

import pytest
from generated_programs import assert_equal_to_reference
from hypothesis import given, settings
from hypothesis import strategies as st
from model_factory import random_inputs
from naive_bayes_factory import random_chain, tiny_chain

from protonn_edge.avr.cores import UNO_CORE
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import every_plan
from protonn_edge.kinds.naive_bayes.integers import IntegerNaiveBayes
from protonn_edge.kinds.naive_bayes.kernels import NaiveBayesKernel


def test_every_plan_gives_the_reference_scores_under_sanitizers() -> None:
    chain = tiny_chain()
    for plan in every_plan(chain):
        with host_program(chain, plan, sanitize=True) as program:
            assert_equal_to_reference(program, chain, random_inputs(0, 100, chain))


@pytest.mark.parametrize(
    ("classes", "features", "maximum"), [(2, 1, 255), (2, 1_500, 255), (255, 16, 127), (3, 257, 1)]
)
def test_extreme_sizes_give_the_reference_scores_under_sanitizers(
    classes: int, features: int, maximum: int
) -> None:
    chain = random_chain(0, classes=classes, features=features, maximum=maximum, largest=5_000)
    with host_program(chain, sanitize=True) as program:
        assert_equal_to_reference(program, chain, random_inputs(1, 50, chain))


@given(
    seed=st.integers(0, 10_000),
    classes=st.integers(2, 20),
    features=st.integers(1, 60),
    maximum=st.sampled_from([1, 15, 63, 100, 255]),
)
@settings(max_examples=7, deadline=None)
def test_random_models_give_the_reference_scores(
    seed: int, classes: int, features: int, maximum: int
) -> None:
    chain = random_chain(seed, classes=classes, features=features, maximum=maximum)
    with host_program(chain) as program:
        assert_equal_to_reference(program, chain, random_inputs(seed, 60, chain))


def test_a_term_takes_40_cycles_and_one_for_each_bit_that_inputs_lack() -> None:
    def cycles(features: int, maximum: int) -> int:
        (stage,) = random_chain(0, features=features, maximum=maximum, classes=2).own_stages
        assert isinstance(stage, IntegerNaiveBayes)
        return NaiveBayesKernel(stage, UNO_CORE).cycles

    for maximum, expected in ((255, 40), (127, 41), (15, 44)):
        assert cycles(21, maximum) - cycles(20, maximum) == 2 * expected
