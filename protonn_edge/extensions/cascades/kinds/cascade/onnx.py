"""The formula of a cascade in ONNX: both models compute, and one of their scores is chosen."""

from __future__ import annotations

from protonn_edge.extensions.cascades.kinds.cascade.integers import (
    IntegerCascade,
    PartStages,
)
from protonn_edge.model.onnx_graph import Values
from protonn_edge.model.registry import module_of_stage
from protonn_edge.system.errors import InputError


def formula(x: Values, stage: IntegerCascade) -> Values:
    """Return the scores of a cascade, as `run` does."""
    first, second = (_scores(x, part) for part in (stage.first, stage.second))
    n = len(stage.output.low)
    largest = first.op("ReduceMax", [1])
    best = first.op("ArgMax", axis=1).op("Equal", list(range(n)))
    others = best.op("Where", stage.first.output.ends[0], first)
    sure = first * stage.first_factor
    unsure = second * stage.second_factor
    if stage.adds:
        unsure = unsure + sure
    lead = largest - others.op("ReduceMax", [1])
    return lead.op("Less", stage.margin).op("Where", unsure, sure)


def _scores(x: Values, part: PartStages) -> Values:
    """Return the scores of one of the models."""
    for stage in part.stages:
        written = module_of_stage(stage.kind, "onnx")
        if written is None:
            raise InputError(
                f"a model of the cascade has the stage '{stage.kind.replace('_', ' ')}', which "
                "ONNX cannot express in integers; choose a model with other features"
            )
        x = written.formula(x, stage)
    return x
