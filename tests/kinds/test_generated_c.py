"""The C of each kind, for sizes at the ends and for random ones."""

from __future__ import annotations

import numpy as np
import pytest
from generated_programs import assert_equal_to_reference
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds.kind import kind_of, kinds_with_models, pairs_of
from model_factory import random_inputs

from protonn_edge.codegen.host import host_program
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import InputError


@pytest.mark.parametrize(("kind", "number"), pairs_of("extremes", kinds_with_models()))
def test_extreme_sizes_give_the_reference_scores_under_sanitizers(kind: str, number: int) -> None:
    own = kind_of(kind)
    chain = own.random_chain(0, **own.extremes[number])
    with host_program(chain, sanitize=True) as program:
        assert_equal_to_reference(program, chain, random_inputs(1, 50, chain))


@pytest.mark.parametrize("kind", kinds_with_models())
@given(seed=st.integers(0, 10_000))
@settings(max_examples=3, deadline=None)
def test_random_sizes_give_the_reference_scores(kind: str, seed: int) -> None:
    chain = drawn_chain(kind, np.random.default_rng(seed))
    with host_program(chain) as program:
        assert_equal_to_reference(program, chain, random_inputs(seed, 60, chain))


def drawn_chain(kind: str, rng: np.random.Generator) -> IntegerChain:
    """Return a random chain of a kind; some numbers that are drawn are those of no chain."""
    while True:
        n, classes = int(rng.choice([1, 7, 60, 255, 256, 300])), int(rng.choice([2, 3, 4, 11, 26]))
        try:
            return kind_of(kind).drawn(rng, n, classes, 63)
        except InputError:
            continue
