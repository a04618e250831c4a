"""The formula of a tree of gated sums in ONNX."""

from __future__ import annotations

from protonn_edge.extensions.research.kinds.bonsai.integers import (
    PRODUCT_SHIFT,
    IntegerBonsaiTree,
    Sums,
)
from protonn_edge.model.onnx_graph import Values


def formula(x: Values, stage: IntegerBonsaiTree) -> Values:
    """Return the values of a tree of gated sums, as `run` does."""

    def sums(rows: Sums) -> Values:
        return x.product(rows.weights, signed=stage.signed) + rows.bias

    gates = (sums(stage.gates) >> stage.gate_shift).op("Clip", -128, 127) + 128
    upper = sums(stage.weights) >> stage.weight_shift
    values = (upper * x.graph.constant(stage.table).op("Gather", gates)) >> PRODUCT_SHIFT
    node = ways = x.op("ReduceMax", [1]) * 0
    for _ in range(stage.depth):
        node = node * 2 + 1 + (sums(stage.branches).op("GatherElements", node, axis=1) > -1)
        ways = ways.op("Concat", node, axis=1)
    by_node = values.op("Reshape", [-1, stage.n_nodes, stage.n_rows])
    met = by_node.op("GatherND", ways.op("Unsqueeze", [2]), batch_dims=1)
    scores = met.op("ReduceSum", [1], keepdims=0)
    return scores if stage.n_rows > 1 else scores @ [[-1, 1]]
