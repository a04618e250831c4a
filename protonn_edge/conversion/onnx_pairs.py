"""Operators of quantized values (onnxruntime's QOperator format) as operators between pairs.

Each becomes a DequantizeLinear of its inputs, the operator on real values, and a QuantizeLinear.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from protonn_edge.conversion.onnx_file import Node

_PAIR = "QuantizeLinear", "DequantizeLinear"
# How many inputs of an operator have a scale and a zero point.
_SCALED = dict.fromkeys(("Add", "Conv", "Gemm", "MatMul", "Mul"), 2)
_SCALED |= dict.fromkeys(("AveragePool", "GlobalAveragePool", "Sigmoid", "Softmax"), 1)


def with_pairs(nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Return nodes in which only QuantizeLinear and DequantizeLinear have scales of values."""
    return tuple(part for node in nodes for part in _parts(node))


def _parts(node: Node) -> Iterator[Node]:
    def part(operator: str, inputs: Iterable[str], output: str, **attributes: Any) -> Node:
        return Node(node.name, operator, tuple(inputs), (output,), attributes)

    name = node.operator.removeprefix("com.microsoft.")
    operator = name.removeprefix("Q").removeprefix("Linear")
    scales_bias = node.attributes.get("alpha", 1) != 1  # unlike alpha of Gemm
    if operator == name or operator not in _SCALED or scales_bias or not node.outputs:
        yield replace(node, operator=name) if name in _PAIR else node
        return
    made, inputs, scaled = node.outputs[0], node.inputs, _SCALED[operator]
    attributes = {name: each for name, each in node.attributes.items() if name != "opset"}
    if not attributes.get("channels_last", 1):
        del attributes["channels_last"]
    values, rest = [f"{made} input {place}" for place in range(scaled)], inputs[3 * scaled :]
    outputs_first = operator == "Conv" or attributes.get("transB")
    for place, value in enumerate(values):
        triple = inputs[3 * place : 3 * place + 3]
        yield part("DequantizeLinear", triple, value, axis=0 if outputs_first else 1)
    bias, scale = (rest[:1], rest[1:]) if operator == "Gemm" else (rest[2:], rest[:2])
    if any(bias):  # in steps of the sums
        values += [f"{made} bias"]
        yield part("Mul", (inputs[1], inputs[4]), f"{made} unit")
        yield part("DequantizeLinear", (*bias, f"{made} unit"), values[-1], axis=0)
    yield part(operator, values, f"{made} real", **attributes)
    yield part("QuantizeLinear", (f"{made} real", *scale), made)
