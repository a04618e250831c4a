"""Write a model as ONNX, in integers: each stage's formula in standard operators."""

from __future__ import annotations

import json

from protonn_edge.extensions.conversion.onnx_graph import IntegerGraph, Values
from protonn_edge.model.formulas import NoFormula, Operand
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.nearness import NearestStage
from protonn_edge.model.quantization import quantize
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
    graph = IntegerGraph()
    before: Operand = Values(graph, "bytes").wide
    x = before
    try:
        for stage in (*chain.feature_stages, *chain.own_stages):
            before, x = x, stage.formula(x)
    except NoFormula as without:
        raise InputError(
            f"the model has the stage '{str(without).replace('_', ' ')}', which ONNX cannot "
            "express in integers; choose a model with other features"
        ) from None
    given = chain.quantizer
    scale = {"zero": given.zero.tolist(), "step": given.step.tolist(), "maximum": given.maximum}
    facts = {name: json.dumps(fact) for name, fact in (scale | {"classes": chain.classes}).items()}
    facts["model_sha256"] = chain.model_sha256
    outputs = {"class": (_class(x, before, chain), 1), "scores": (x, chain.n_classes)}
    return graph.content(chain.n_features, outputs, facts)


def _class(scores: Operand, before: Operand, chain: IntegerChain) -> Operand:
    def nearest() -> Operand:
        last = chain.own_stages[-1]
        assert isinstance(last, NearestStage)
        return last.nearest(before)

    answer: Operand = scores.op("ArgMax", axis=1)
    for rule in reversed(chain.policy.rules):  # so that the first one has the last word
        answer = rule.formula(answer, scores, nearest, chain.own_stages[-1].output)
    return answer
