"""The C of each kind, for sizes at the ends and for random ones."""

from __future__ import annotations

import pytest
from generated_programs import assert_equal_to_reference
from kinds.kind import kind_of, kinds_with_models, pairs_of
from model_factory import random_inputs

from protonn_edge.codegen.host import host_program


@pytest.mark.parametrize(("kind", "number"), pairs_of("extremes", kinds_with_models()))
def test_extreme_sizes_give_the_reference_scores_under_sanitizers(kind: str, number: int) -> None:
    own = kind_of(kind)
    chain = own.random_chain(0, **own.extremes[number])
    with host_program(chain, sanitize=True) as program:
        assert_equal_to_reference(program, chain, random_inputs(1, 50, chain))
