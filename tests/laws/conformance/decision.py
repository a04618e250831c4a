"""The decision: with and without each statistic that rejects, on scores of 16 and of 32 bits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from chains import numbers_of, replace
from laws.conformance.instances import Instance
from model_factory import random_inputs, random_model, rejecting_some

from protonn_edge.model.decision import IntegerDecision
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.rule import IntegerRejection

_UNKNOWN = 255


def instances() -> Iterator[Instance]:
    """Yield decisions."""
    model = quantize(random_model(1, features=30, prototypes=20, classes=12))
    Q = random_inputs(8, 20, model)
    yield instance_of("largest", model, Q)
    yield instance_of("rejects by all", rejecting_some(model, Q, 7), Q)
    wide = with_wide_scores(model)
    yield instance_of("rejects by the margin, 32 bits", rejecting_some(wide, Q, 4), Q)


def with_wide_scores(model: IntegerChain) -> IntegerChain:
    """Return the chain with scores of 32 bits."""
    wide = replace(model, labels=np.sign(numbers_of(model)["labels"]) * np.int8(127))
    wide = replace(wide, prototypes=np.repeat(numbers_of(wide)["prototypes"][:, :1], 20, axis=1))
    assert wide.own_stages[-1].output.bits == 32
    return wide


def instance_of(name: str, model: IntegerChain, Q: np.ndarray) -> Instance:
    """Return the instance of a chain's decision."""
    stage = model.stages[-1]
    assert isinstance(stage, IntegerDecision)
    low, high = stage.scores.low, stage.scores.high
    extremes = np.where(np.eye(len(low), dtype=bool), high, low)
    return Instance(name, model, stage, Q, np.concatenate([extremes, [low, 0 * low]]))


def reference(stage: IntegerDecision, point: list[int]) -> list[int]:
    """Return the class of scores, for a point that is near a prototype."""
    winner = 0
    for label, score in enumerate(point):
        if score > point[winner]:
            winner = label
    second = max(score for label, score in enumerate(point) if label != winner)
    limits = stage.policy.find(IntegerRejection)
    if limits is not None and (
        point[winner] < limits.score or point[winner] - second < limits.margin
    ):
        return [_UNKNOWN]
    return [winner]
