"""The C of networks: for random sizes."""

from __future__ import annotations

from dense_factory import tiny_chain

from protonn_edge.codegen.planner import every_plan, make_plan, plans


def test_each_matrix_has_kernels_of_its_own() -> None:
    chain = tiny_chain()
    every = list(every_plan(chain))
    ways = {tuple(plan.choices[name] for name in ("dense", "dense_2", "linear")) for plan in every}
    assert len(ways) == 2 * 2 * 3  # the last one's weights fit half a byte
    assert {plan.choices["dense"] for plan in plans(chain, kernel="unrolled")} == {"unrolled"}
    assert make_plan(chain, kernel="unrolled").kernel == "unrolled"
