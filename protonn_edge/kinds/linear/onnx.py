"""The formula of linear scores in ONNX."""

from __future__ import annotations

from protonn_edge.kinds.linear.integers import IntegerLinear
from protonn_edge.model.onnx_graph import Values


def formula(x: Values, stage: IntegerLinear) -> Values:
    """Return the values of linear scores, as `run` does."""
    sums = x.product(stage.weights) + stage.bias
    return sums if stage.n_outputs == stage.n_sums else sums @ [[-1, 1]]
