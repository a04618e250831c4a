"""What `train` does for a model that predicts a number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from protonn_edge.cli.command import Output
from protonn_edge.data.naming import Notice
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.learn.learner import Learner
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.policy.value.figures import ValueFigures, explained_share
from protonn_edge.policy.value.interval import predicted_by, with_interval
from protonn_edge.policy.value.rule import Value
from protonn_edge.system.arrays import Array
from protonn_edge.system.schema import JsonObject

Float64 = Array

_LEAST_R2 = 0.05


@dataclass(frozen=True)
class ValueStep:
    """The interval after a training."""

    needs_classes: ClassVar[bool] = False
    flag: ClassVar[str] = "the interval"

    tolerance: float | None = None  # of errors

    def prepare(self, learner: Learner, dataset: Dataset) -> None:
        """There is nothing to prepare."""

    def check(self, dataset: Dataset, *, floats_alone: bool) -> None:
        """There is nothing that could fail after the training."""

    def after(self, learner: Learner, dataset: Dataset, _out: Output) -> None:
        """Measure the interval on points that are held out."""
        model = with_interval(learner.model_, dataset)
        value = replace(value_of(model), tolerance=self.tolerance)
        learner.model_ = with_rules(model, value)


def value_of(model: Model) -> Value:
    """Return the rule of a model that predicts a number."""
    value = model.policy.find(Value)
    assert value is not None
    return value


def describe(model: Model, dataset: Dataset, out: Output) -> JsonObject:
    """Return the facts about a trained model for JSON, with a sentence."""
    value = value_of(model)
    record: JsonObject = {"n": len(dataset.y_test)}
    said = list[str]()
    for name, X, y, groups in (
        ("test", dataset.X_test, dataset.y_test, dataset.test_groups),
        ("train", dataset.X_train, dataset.y_train, None),
    ):
        if len(y):
            figures = ValueFigures.of(
                predicted_by(model, X), y[:, 0], value.offset, value.tolerance, groups
            )
            if name == "train":  # it has seen them, so nothing follows for new points
                figures = replace(figures, mae_interval=None)
            record[name] = figures.to_json()
            if name == ("test" if len(dataset.y_test) else "train"):
                out.notice(_no_better(figures.r2, "check the labels and features, or train longer"))
            said.append(f"{figures.sentence} on {len(y):,} {name} points")
            if name == "test" and value.interval_words:
                said.append(value.interval_words)
    if len(dataset.y_test):
        predicted, y_test = model.predict(dataset.X_test), dataset.y_test[:, 0]
        of_floats = ValueFigures.of(predicted, y_test, value.offset)
        record["float"] = of_floats.to_json()
    reason = why_floats_alone(model)
    sizes = {} if reason else _sizes(model)
    record |= {"value": value.described()["value"], "no_device": reason, **sizes}
    said += [f"{sizes['model_bytes']:,} B of int8 parameters"] if sizes else []
    return record | {"sentence": "; ".join(said)}


def unlearned(model: Model, dataset: Dataset, remedy: str) -> list[Notice]:
    """Return a warning if a model is no better than the mean on the test or training points."""
    X, y = (
        (dataset.X_test, dataset.y_test)
        if len(dataset.y_test)
        else (dataset.X_train, dataset.y_train)
    )
    return _no_better(explained_share(predicted_by(model, X), y[:, 0]), remedy)


def _no_better(r2: float | None, remedy: str) -> list[Notice]:
    if r2 is None or r2 > _LEAST_R2:
        return []
    text = f"the model is not clearly better than always answering the mean (R2 {r2:.3f}); {remedy}"
    return [Notice("chance", text, warning=True)]


def _sizes(model: Model) -> JsonObject:
    integers = quantize(model)
    return {"model_bytes": integers.model_bytes, "model_sha256": integers.model_sha256}
