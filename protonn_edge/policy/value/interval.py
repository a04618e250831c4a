"""The interval around predicted numbers, from points that training held out."""

from __future__ import annotations

from dataclasses import replace

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.policy.value.figures import Interval
from protonn_edge.policy.value.rule import Value
from protonn_edge.system.arrays import Array

Float64 = Array


def with_interval(model: Model, dataset: Dataset) -> Model:
    """Return a model with its interval, if enough points are held out."""
    value = model.policy.find(Value)
    if value is None or not len(dataset.y_test):
        return model
    residuals = predicted_by(model, dataset.X_test) - dataset.y_test[:, 0]
    width, n_groups = Interval.of(residuals, dataset.test_groups)
    measured: Model = with_rules(model, replace(value, half_width=width, n_groups=n_groups))
    return measured


def predicted_by(model: Model, X: Array) -> Float64:
    """Return the numbers (n,) that integers, or else floats, predict for raw points (n, D)."""
    if why_floats_alone(model) is not None:
        return model.predict(X)
    integers = quantize(model)
    values = integers.policy.values(integers.scores(integers.quantize(X)))
    assert values is not None
    return values
