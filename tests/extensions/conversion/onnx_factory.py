"""Small networks in ONNX, made node by node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'protonn-edge[onnx]'")
RNG = np.random.default_rng(0)


def numbers(*shape: int) -> np.ndarray:
    """Return random float32 weights."""
    return RNG.normal(size=shape).astype(np.float32)


def node(operator: str, inputs: str, output: str, **attributes: Any) -> Any:
    """Return a node; its inputs are names between spaces."""
    return onnx.helper.make_node(operator, inputs.split(" "), [output], output, **attributes)


def stated(text: str) -> dict[str, Any]:
    """Return what ``name=value, ...`` states."""
    return dict(eval(f"dict({text})", {"np": np, "numbers": numbers}))


def written(text: str) -> list[Any]:
    """Return the nodes of ``Operator inputs > outputs : attributes; ...``."""
    made = []
    for each in text.split("; "):
        line, _, attributes = each.partition(" : ")
        (name, *inputs), outputs = line.split(" > ")[0].split(), line.split(" > ")[1].split()
        domain, _, operator = name.rpartition(".")
        given = stated(attributes)
        made.append(
            onnx.helper.make_node(operator, inputs, outputs, outputs[-1], domain=domain, **given)
        )
    return made


def network(
    nodes: Sequence[Any], shape: Sequence[int | str], output: str = "y", **constants: Any
) -> bytes:
    """Return a network of points of this shape, x."""
    value, kind = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    tensors = [
        onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()
    ]
    points, scores = value("x", kind, ["n", *shape]), value(output, kind, None)
    graph = onnx.helper.make_graph(nodes, "network", [points], [scores], tensors)
    versions = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    model = onnx.helper.make_model(graph, opset_imports=versions, ir_version=9)
    return bytes(model.SerializeToString())


def perceptron(weights: Sequence[np.ndarray], biases: Sequence[np.ndarray]) -> bytes:
    """Return matrices (in, out) with ReLU between them, as scikit-learn's MLPClassifier has."""
    nodes, constants, present = [], {}, "x"
    for number, (W, b) in enumerate(zip(weights, biases, strict=True)):
        constants |= {f"W{number}": np.float32(W), f"b{number}": np.float32(b)}
        nodes += [
            node("MatMul", f"{present} W{number}", f"p{number}"),
            node("Add", f"p{number} b{number}", f"s{number}"),
            node("Relu", f"s{number}", f"r{number}"),
        ]
        present = f"r{number}"
    nodes[-1] = node("Softmax", f"s{len(weights) - 1}", "y")
    return network(nodes, (len(weights[0]),), **constants)
