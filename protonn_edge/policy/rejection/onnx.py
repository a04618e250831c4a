"""The thresholds in integers, as ONNX."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.onnx_graph import Values
from protonn_edge.policy.rejection.rule import UNKNOWN, IntegerRejection


def judged(
    answer: Values, scores: Values, nearest: Callable[[], Values], chain: IntegerChain
) -> Values:
    """Return the answer to scores, `UNKNOWN` if a statistic is below its threshold."""
    least = chain.policy.find(IntegerRejection)
    if least is None:
        return answer
    best, largest = answer, scores.op("ReduceMax", [1])
    lowest = (
        chain.own_stages[-1].output.ends[0] if chain.n_classes > 1 else 0
    )  # a margin is above the second
    others = best.op("Equal", np.arange(chain.n_classes)).op("Where", lowest, scores)
    statistics = [(largest, least.score), (largest - others.op("ReduceMax", [1]), least.margin)]
    if least.rbf > 0:
        statistics.append((nearest(), least.rbf))
    for value, threshold in statistics:
        if threshold > 0:
            answer = value.op("Less", threshold).op("Where", UNKNOWN, answer)
    return answer
