"""A graph of ONNX that computes in integers, and its values, which formulas compute with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protonn_edge.model.formulas import IntArray, Operand, SlidingWindow
from protonn_edge.system.arrays import Array
from protonn_edge.system.lazy import require

_OPSET, _IR_VERSION = 18, 8  # from 2022, so that older programs can read the files
_BYTE, _WIDE = 2, 7  # ONNX's numbers of uint8 and int64
_MIDDLE = 128  # added to a signed byte to make it unsigned


@dataclass(eq=False)
class IntegerGraph:
    """A graph with an input of bytes, in which all other values have 64 bits."""

    nodes: list[tuple[str, list[str], str, dict[str, Any]]] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)

    def constant(self, values: object, bits: type = np.int64) -> Values:
        """Return a constant."""
        name = f"constant_{len(self.constants)}"
        self.constants[name] = np.asarray(values).astype(bits)
        return Values(self, name)

    def content(
        self, n_inputs: int, outputs: dict[str, tuple[Operand, int]], facts: dict[str, str]
    ) -> bytes:
        """Return the file: the input "bytes", outputs with their sizes by name, and metadata."""
        require("onnx")
        from onnx import helper, numpy_helper  # an extra

        made = [helper.make_node(kind, ins, [out], **more) for kind, ins, out, more in self.nodes]
        made += [
            helper.make_node("Identity", [value.name], [name])
            for name, (value, _) in outputs.items()
            if isinstance(value, Values)
        ]
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            made,
            "protonn-edge",
            [value("bytes", _BYTE, ["n", n_inputs])],
            [value(name, _WIDE, ["n", size]) for name, (_, size) in outputs.items()],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        opsets = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        model.producer_name = "protonn-edge"
        helper.set_model_props(model, facts)
        content: bytes = model.SerializeToString(deterministic=True)
        return content


@dataclass(frozen=True, eq=False)
class Values(Operand):
    """The outputs of a node, for n points."""

    graph: IntegerGraph
    name: str

    def op(self, operator: str, *others: object, **attributes: object) -> Values:
        """Add a node with this value as its first operand; numbers and arrays become constants."""
        graph, name = self.graph, f"value_{len(self.graph.nodes)}"
        given = (each if isinstance(each, Values) else graph.constant(each) for each in others)
        names = [self.name, *(each.name for each in given)]
        graph.nodes.append((operator, names, name, attributes))
        return Values(graph, name)

    def constant(self, values: object) -> Values:
        """Add a constant."""
        return self.graph.constant(values)

    def __rshift__(self, bits: object) -> Values:
        """Shift and round down; ONNX rounds quotients towards 0, and cannot shift signed values."""
        divisor = 1 << np.asarray(bits, np.int64)
        return (self - self.op("Mod", divisor)).op("Div", divisor)

    def product(self, weights: Array, *, signed: bool = False) -> Values:
        """Return W x for bytes (n, D) and weights W (d, D)."""
        values, zero = (self + _MIDDLE, _MIDDLE) if signed else (self, 0)
        return values._sums("MatMulInteger", weights.T, zero)

    def window_sums(self, weights: Array, bias: IntArray, windows: SlidingWindow) -> Values:
        """Return sums over windows; ONNX has the channels first."""
        (above, below), (left, right) = windows.margins
        images, around = self.op("Transpose", perm=[0, 3, 1, 2]), windows.around
        sums = images._sums(
            "ConvInteger",
            weights.transpose(0, 3, 1, 2),
            around,
            strides=[*windows.stride],
            pads=[above, left, below, right],
            group=len(weights) if windows.depthwise else 1,
        )
        start = bias + around * weights.sum(axis=(1, 2, 3), dtype=np.int64)
        return sums.op("Transpose", perm=[0, 2, 3, 1]).op("Add", start)

    def _sums(self, operator: str, weights: Array, zero: int, **more: object) -> Values:
        """Return sums of weights times (bytes - `zero`); `zero` also pads images.

        The weights are unsigned and centred at 128, because some processors saturate sums of
        products of unsigned and signed bytes.
        """
        numbers = weights.astype(np.int64) + _MIDDLE, zero, _MIDDLE
        unsigned = (self.graph.constant(each, np.uint8) for each in numbers)
        return self.op("Cast", to=_BYTE).op(operator, *unsigned, **more).wide
