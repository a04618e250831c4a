"""The facts that `train` prints about a model that predicts sets of labels."""

from __future__ import annotations

from typing import Any

from protonn_edge.cli.command import Output
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.model.head import matrices_of, paper_bytes
from protonn_edge.model.model import Model
from protonn_edge.model.policy import Policy
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.model.rule_kinds import described
from protonn_edge.policy.label_sets.figures import LabelFigures
from protonn_edge.system.arrays import Array
from protonn_edge.system.schema import JsonObject


def describe(model: Model, dataset: Dataset, out: Output) -> JsonObject:  # noqa: ARG001
    """Return the facts about a trained model for JSON, with a sentence."""
    reason = why_floats_alone(model)
    integers = None if reason else quantize(model)
    record: JsonObject = {"n": len(dataset.y_test), "no_device": reason}
    record |= described(model.policy)
    record["paper_bytes"] = paper_bytes(matrices_of(model.head).values())
    size = f"{record['paper_bytes']:,} B by the ProtoNN paper's count, in floats only"
    if integers is not None:
        record |= {"model_bytes": integers.model_bytes, "model_sha256": integers.model_sha256}
        size = f"{integers.model_bytes:,} B of int8 parameters"
    said = list[str]()
    for name, X, y in (
        ("test", dataset.X_test, dataset.y_test),
        ("train", dataset.X_train, dataset.y_train),
    ):
        if not len(y):
            continue
        figures = _figures(model.policy, model.scores(X), y)
        if integers is not None:
            record[f"{name}_float"] = figures.to_json()
            figures = _figures(integers.policy, integers.scores(integers.quantize(X)), y)
        record[name] = figures.to_json()
        said.append(f"{figures.ranking} on {len(y):,} {name} points")
    return record | {"sentence": "; ".join([*said, size])}


def _figures(policy: Policy[Any], scores: Array, known: Array) -> LabelFigures:
    chosen = policy.values(scores)
    assert chosen is not None
    return LabelFigures.of(scores, chosen, known)
