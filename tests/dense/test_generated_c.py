"""The C of networks: for random sizes."""

from __future__ import annotations

from dense_factory import random_chain, tiny_chain
from generated_programs import assert_equal_to_reference
from hypothesis import given, settings
from hypothesis import strategies as st
from model_factory import random_inputs

from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import every_plan, make_plan, plans


def test_each_matrix_has_kernels_of_its_own() -> None:
    chain = tiny_chain()
    every = list(every_plan(chain))
    ways = {tuple(plan.choices[name] for name in ("dense", "dense_2", "linear")) for plan in every}
    assert len(ways) == 3 * 3 * 4  # the last one's weights fit half a byte
    assert {plan.choices["dense"] for plan in plans(chain, kernel="masked")} == {"masked"}
    assert make_plan(chain, kernel="masked").kernel == "masked"


def test_plans_give_the_reference_scores_under_sanitizers() -> None:
    chain = tiny_chain()
    for plan in list(every_plan(chain))[::17]:
        with host_program(chain, plan, sanitize=True) as program:
            assert_equal_to_reference(program, chain, random_inputs(0, 100, chain))


@given(
    seed=st.integers(0, 10_000),
    rows=st.sampled_from([1, 3, 11]),
    features=st.integers(1, 60),
    hidden=st.sampled_from([(1,), (255,), (13, 4)]),
    bits=st.sampled_from([16, 24]),
    multiplier=st.sampled_from([1, 20, 255]),
)
@settings(max_examples=5, deadline=None)
def test_random_networks_give_the_reference_scores(
    seed: int, rows: int, features: int, hidden: tuple[int, ...], bits: int, multiplier: int
) -> None:
    layers = len(hidden)
    chain = random_chain(
        seed,
        features=features,
        hidden=hidden,
        rows=rows,
        bits=(bits, *[24] * layers),
        largest=[8] * (layers + 1),
        multipliers=[multiplier] * layers,
        density=0.5,
    )
    with host_program(chain) as program:
        assert_equal_to_reference(program, chain, random_inputs(seed, 60, chain))
