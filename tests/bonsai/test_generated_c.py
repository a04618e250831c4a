"""The C of trees of gated sums: for shapes at the ends."""

from __future__ import annotations

import pytest
from bonsai_factory import (
    random_bonsai_chain,
    random_kernel_chain,
    tiny_bonsai_chain,
    tiny_kernel_chain,
)
from generated_programs import assert_equal_to_reference
from hypothesis import given, settings
from hypothesis import strategies as st
from model_factory import random_inputs

from protonn_edge.codegen.host import host_program
from protonn_edge.kinds.bonsai.kernels import Walk


@pytest.mark.parametrize(
    "chain",
    [
        tiny_bonsai_chain(),
        tiny_kernel_chain(),
        random_kernel_chain(0, features=1, depth=4, classes=2),
        random_kernel_chain(0, features=1_500, depth=1, classes=2, density=0.002),
        random_kernel_chain(0, features=100, depth=0, classes=255, largest=9),
    ],
)
def test_extreme_sizes_give_the_reference_scores_under_sanitizers(chain) -> None:
    with host_program(chain, sanitize=True) as program:
        assert_equal_to_reference(program, chain, random_inputs(1, 50, chain))


@given(
    seed=st.integers(0, 10_000),
    depth=st.integers(0, 4),
    classes=st.sampled_from([2, 3, 11]),
    density=st.sampled_from([0.0, 0.3, 1.0]),
    gate_shift=st.integers(3, 8),
)
@settings(max_examples=5, deadline=None)
def test_random_trees_give_the_reference_scores(seed: int, **tree) -> None:
    for chain in (random_bonsai_chain(seed, **tree), random_kernel_chain(seed, **tree)):
        with host_program(chain) as program:
            assert_equal_to_reference(program, chain, random_inputs(seed, 60, chain))


def test_a_weight_takes_14_cycles_and_19_in_a_sparse_row() -> None:
    sizes = {"n_rows": 3, "depth": 2, "weight_shift": 2, "gate_shift": 6, "signed": True}
    for n_inputs, sparse, weight in ((255, False, 14), (256, False, 15), (700, True, 19)):
        assert Walk(n_inputs, sparse=sparse, **sizes).cycles.weight == weight
