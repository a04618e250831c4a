"""A tree of gated sums on chips of 32 bits: the rows of all nodes, level by level."""

from __future__ import annotations

from protonn_edge.codegen.kernels.words import ConstantTable, Words
from protonn_edge.extensions.research.kinds.bonsai.integers import IntegerBonsaiTree


def words(stage: IntegerBonsaiTree) -> Words:
    """Return weights and initial sums, and the table of the tanh."""
    about = "The hyperbolic tangent, in units of 1/127"
    tables = {"table": ConstantTable("int8_t", stage.table.reshape(-1, 16), about)}
    for name, sums in (
        ("gate", stage.gates),
        ("weight", stage.weights),
        ("branch", stage.branches),
    ):
        if len(sums):
            plural = f"{name}{'e' * (name == 'branch')}s"
            tables[plural] = ConstantTable(
                "int8_t", sums.weights, f"The {plural}, a row for each sum"
            )
            start = sums.bias[None]
            tables[f"{name}_starts"] = ConstantTable("int32_t", start, f"Initial sums of {plural}")
    return Words(tables)
