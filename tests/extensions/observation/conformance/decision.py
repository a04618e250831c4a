"""Decisions that are observed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from chains import replace
from laws.conformance.decision import instance_of, with_wide_scores
from laws.conformance.instances import Instance
from model_factory import random_inputs, random_model, rejecting_some

from protonn_edge.extensions.observation.answers import ExpectedAnswers, IntegerExpected
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield decisions."""
    model = quantize(random_model(1, features=30, prototypes=20, classes=12))
    Q, many = random_inputs(8, 20, model), random_inputs(9, 200, model)
    yield instance_of("observed", observing(model, many), Q)
    strict = observing(rejecting_some(with_wide_scores(model), Q, 4), many)
    yield instance_of("observed, rejects by the margin, 32 bits", strict, Q)


def observing(model: IntegerChain, Q: np.ndarray) -> IntegerChain:
    """Return a chain that is observed and expects answers like those to points."""
    expected = ExpectedAnswers.of(model, Q)
    assert expected is not None
    return replace(model, expected=IntegerExpected.of(model, expected))
