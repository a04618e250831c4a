"""The C of linear models: for sizes at the ends."""

from __future__ import annotations

import pytest
from generated_programs import assert_equal_to_reference
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_factory import random_chain, tiny_chain
from model_factory import random_inputs

from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import every_plan


@pytest.mark.parametrize("rows", [1, 3])
def test_every_plan_gives_the_reference_scores_under_sanitizers(rows: int) -> None:
    chain = tiny_chain(rows)
    for plan in every_plan(chain):
        with host_program(chain, plan, sanitize=True) as program:
            assert_equal_to_reference(program, chain, random_inputs(0, 100, chain))


@pytest.mark.parametrize(
    ("rows", "features", "bits"), [(1, 1, 16), (1, 1_500, 24), (255, 16, 24), (4, 257, 32)]
)
def test_extreme_sizes_give_the_reference_scores_under_sanitizers(
    rows: int, features: int, bits: int
) -> None:
    chain = random_chain(0, rows=rows, features=features, bits=bits)
    with host_program(chain, sanitize=True) as program:
        assert_equal_to_reference(program, chain, random_inputs(1, 50, chain))


@given(
    seed=st.integers(0, 10_000),
    rows=st.sampled_from([1, 3, 4, 11, 26]),
    features=st.integers(1, 60),
    bits=st.sampled_from([16, 24, 32]),
    density=st.sampled_from([0.0, 0.2, 1.0]),
)
@settings(max_examples=7, deadline=None)
def test_random_models_give_the_reference_scores(
    seed: int, rows: int, features: int, bits: int, density: float
) -> None:
    chain = random_chain(seed, rows=rows, features=features, bits=bits, density=density, largest=8)
    with host_program(chain) as program:
        assert_equal_to_reference(program, chain, random_inputs(seed, 60, chain))
