"""The integers of each kind: what each step of the way there costs, and that there is one way."""

from __future__ import annotations

import numpy as np
import pytest
from kinds.kind import kind_of, kinds_with_models
from model_factory import random_points

from protonn_edge.chain.policy import with_rules
from protonn_edge.datasets.naming import NO_CLASS
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.precision.model import float_build
from protonn_edge.policy.rejection.rule import Rejection
from protonn_edge.quantization import quantize, stage_losses

every_kind = pytest.mark.parametrize("kind", kinds_with_models())


@every_kind
def test_the_error_of_each_step_is_told(kind: str) -> None:
    own = kind_of(kind)
    model = own.random_model(3)
    X = random_points(3, 300, 12).astype(np.float32)
    losses = stage_losses(model, X, model.predict(X))
    assert tuple(loss.stage for loss in losses) == tuple(own.steps)
    assert losses[0].accuracy == 1
    assert losses[-1].accuracy > 0.95


@every_kind
def test_thresholds_are_those_of_the_float_model(kind: str) -> None:
    model = kind_of(kind).random_model(3)
    X = random_points(3, 300, 12)
    highest = np.sort(model.scores(X), axis=1)
    score = max(0.0, float(np.quantile(highest[:, -1], 0.1)))
    margin = float(np.quantile(highest[:, -1] - highest[:, -2], 0.1))
    model = with_rules(model, Rejection(score=score, rbf=0, margin=margin))
    integers = quantize(model)
    answers, expected = integers.predict(integers.quantize(X)), model.predict(X)
    assert np.mean(answers == expected) > 0.95
    assert 0 < np.mean(answers == NO_CLASS) < 0.5


@every_kind
def test_there_are_no_float_builds(kind: str) -> None:
    model = kind_of(kind).random_model()
    with pytest.raises(InputError, match=f"no float builds of {model.head.kind} models"):
        float_build(model)
