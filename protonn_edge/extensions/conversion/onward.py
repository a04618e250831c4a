"""Write a model as ONNX, in integers: each stage's formula in standard operators.

The formula of a stage is in ``onnx.py`` of its folder; see `model.onnx_graph`.
"""

from __future__ import annotations

import json

from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.onnx_graph import IntegerGraph, Values
from protonn_edge.model.quantization import quantize
from protonn_edge.model.registry import module_of_stage
from protonn_edge.model.rule_kinds import rule_kinds
from protonn_edge.system.errors import InputError


def to_onnx(model: Model | IntegerChain) -> bytes:
    """Return the integer model as the content of an ONNX file, for other programs.

    The input "bytes", (n, features) uint8, is what a device receives, the result of
    `IntegerChain.quantize`. The outputs are int64: "scores", (n, L), and "class", (n, 1), the
    answer. All integers equal those of `IntegerChain.answers`.
    The metadata are the names of the classes, the model's hash, and the numbers that quantize
    features x: ``floor((x - zero) / step + 0.5)``, at least 0 and at most ``maximum``.

    Raises
    ------
    InputError
        If ONNX cannot express a stage, or the package onnx is missing.
    """
    chain = quantize(model) if isinstance(model, Model) else model
    before = x = Values(IntegerGraph(), "bytes").wide
    for stage in (*chain.feature_stages, *chain.own_stages):
        written = module_of_stage(stage.kind, "onnx")
        if written is None:
            raise InputError(
                f"the model has the stage '{stage.kind.replace('_', ' ')}', but ONNX cannot "
                "express the square roots and filters of this stage in integers; choose a model "
                "with other features"
            )
        before, x = x, written.formula(x, stage)
    given = chain.quantizer
    scale = {"zero": given.zero.tolist(), "step": given.step.tolist(), "maximum": given.maximum}
    facts = {name: json.dumps(fact) for name, fact in (scale | {"classes": chain.classes}).items()}
    facts["model_sha256"] = chain.model_sha256
    outputs = {"class": (_class(x, before, chain), 1), "scores": (x, chain.n_classes)}
    return x.graph.content(chain.n_features, outputs, facts)


def _class(scores: Values, before: Values, chain: IntegerChain) -> Values:
    def nearest() -> Values:
        last = chain.own_stages[-1]
        written = module_of_stage(last.kind, "onnx")
        assert written is not None
        of_last: Values = written.nearest(before, last)
        return of_last

    answer = scores.op("ArgMax", axis=1)
    for kind in rule_kinds():
        answer = kind.judged_in_onnx(answer, scores, nearest, chain)
    return answer
