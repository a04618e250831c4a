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

from protonn_edge.avr.cores import UNO_CORE
from protonn_edge.codegen.host import host_program
from protonn_edge.kernels.kernel import kernels_of


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
    for features, density, weight in ((255, 1.0, 14), (256, 1.0, 15), (700, 0.02, 19)):
        stage = random_kernel_chain(
            0, features=features, depth=2, density=density, largest=9
        ).stages[0]
        (kernel,) = kernels_of(stage, UNO_CORE)
        assert kernel.cycles.weight == weight
