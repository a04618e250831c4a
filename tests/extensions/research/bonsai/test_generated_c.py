"""The C of trees of gated sums: for shapes at the ends."""

from __future__ import annotations

from extensions.research.bonsai_factory import (
    random_kernel_chain,
)

from protonn_edge.chips.cores import UNO_CORE
from protonn_edge.codegen.kernels.kernel import kernels_of


def test_a_weight_takes_14_cycles_and_19_in_a_sparse_row() -> None:
    for features, density, weight in ((255, 1.0, 14), (256, 1.0, 15), (700, 0.02, 19)):
        stage = random_kernel_chain(
            0, features=features, depth=2, density=density, largest=9
        ).stages[0]
        (kernel,) = kernels_of(stage, UNO_CORE)
        assert kernel.cycles.weight == weight
