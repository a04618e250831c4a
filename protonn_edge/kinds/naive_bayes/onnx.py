"""The formula of Gaussian naive Bayes in ONNX."""

from __future__ import annotations

from protonn_edge.chain.onnx_graph import Values
from protonn_edge.kinds.naive_bayes.integers import TERM_SHIFT, IntegerNaiveBayes


def formula(x: Values, stage: IntegerNaiveBayes) -> Values:
    """Return the values of Gaussian naive Bayes, as `run` does."""
    distances = x.op("Unsqueeze", [1]) * (1 << stage.shift) - stage.means
    terms = (distances * distances * stage.weights) >> TERM_SHIFT
    return terms.op("ReduceSum", [2], keepdims=0) * -1 + stage.bias
