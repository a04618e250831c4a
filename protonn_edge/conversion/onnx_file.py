"""Read a network in ONNX: its nodes in order, and its constants, with checked sizes and types.

The package onnx parses the protocol buffers of a file that is in memory. Nothing else is read:
external data, and all that refers to it, is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.conversion.reading import LARGEST
from protonn_edge.errors import InputError, shortened
from protonn_edge.system.files import read_file
from protonn_edge.system.lazy import require

_LIMIT_BYTES = 64 * 2**20
_MOST_VALUES = 2**24  # of all constants
_MOST_NODES = 2_000
_MOST_SHOWN = 40
# The types of constants, by their numbers in the format.
_TYPES = {1: "f4", 2: "u1", 3: "i1", 6: "i4", 7: "i8", 8: "text", 9: "?", 10: "f2", 11: "f8"}
_TENSOR = 4  # the type of an attribute


@dataclass(frozen=True, eq=False)
class Node:
    """An operator, and the names of its inputs and outputs."""

    name: str
    operator: str
    inputs: tuple[str, ...]  # "" is an optional input that is left out
    outputs: tuple[str, ...]
    attributes: dict[str, Any]

    def number(self, name: str, default: float) -> float:
        """Return an attribute that is a number."""
        value = self.attributes.get(name, default)
        if not isinstance(value, int | float) or not abs(value) <= LARGEST:
            raise self.unsupported(f"has {name} that is no number")
        return value

    def integers(self, name: str, default: Iterable[int]) -> tuple[int, ...]:
        """Return an attribute that is a list of integers."""
        values = self.attributes.get(name, list(default))
        if not isinstance(values, list) or not all(isinstance(each, int) for each in values):
            raise self.unsupported(f"has {name} that are no integers")
        return tuple(values)

    def text(self, name: str, default: str) -> str:
        """Return an attribute that is a text."""
        value = self.attributes.get(name, default)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    def unsupported(self, has: str, remedy: str = "export the network again") -> InputError:
        """Return the error for a node that has no counterpart."""
        return InputError(f"node {self.name!r}, a {self.operator}, {has}; {remedy}")


@dataclass(frozen=True, eq=False)
class OnnxGraph:
    """The nodes of a network; each takes outputs of earlier nodes, or constants."""

    what: str  # the file
    input: str
    shape: tuple[int, ...]  # of a point, without the first axis, which counts the points
    nodes: tuple[Node, ...]
    constants: dict[str, NDArray[Any]]
    outputs: tuple[str, ...]


def load_graph(source: Path | bytes, what: str) -> OnnxGraph:
    """Return the graph in a file, or in its contents, which an error calls `what`."""
    require("onnx")
    import onnx  # noqa: PLC0415  (an extra)

    content = source if isinstance(source, bytes) else read_file(source, limit_bytes=_LIMIT_BYTES)
    graph = onnx.ModelProto.FromString(content).graph
    if graph.sparse_initializer or len(graph.node) > _MOST_NODES:
        raise InputError(
            f"{what} has {len(graph.node):,} nodes, up to {_MOST_NODES:,} are possible, or sparse "
            "weights; export a smaller network, with dense weights"
        )
    constants: dict[str, NDArray[Any]] = {}
    left = _MOST_VALUES
    for tensor in graph.initializer:
        constants[tensor.name] = _array(tensor, what, left)
        left -= constants[tensor.name].size
    nodes = []
    for number, each in enumerate(graph.node, 1):
        attributes = {}
        for given in each.attribute:
            if given.type == _TENSOR:
                attributes[given.name] = _array(given.t, what, left)
                left -= attributes[given.name].size
            else:
                attributes[given.name] = _plain(onnx.helper.get_attribute_value(given))
        name = shortened(each.name or f"{each.op_type} {number}", _MOST_SHOWN)
        operator = shortened(each.op_type, _MOST_SHOWN)
        nodes.append(Node(name, operator, tuple(each.input), tuple(each.output), attributes))
    inputs = [each for each in graph.input if each.name not in constants]
    if len(inputs) != 1:
        raise InputError(
            f"{what} has {len(inputs):,} inputs, the points are one; export a network with a "
            "single input"
        )
    outputs = tuple(each.name for each in graph.output)
    return OnnxGraph(
        what, inputs[0].name, _shape(inputs[0], what), tuple(nodes), constants, outputs
    )


def _plain(value: Any) -> Any:
    """Return a number, a text or a list of them; anything else becomes None."""
    if isinstance(value, int | float | bytes):
        return value
    return list(value) if isinstance(value, Iterable) else None


def _shape(value: Any, what: str) -> tuple[int, ...]:
    """Return the shape of a point."""
    axes = value.type.tensor_type.shape.dim
    sizes = tuple(int(axis.dim_value) for axis in axes[1:])
    if not sizes or min(sizes) < 1 or math.prod(sizes) > _MOST_VALUES:
        raise InputError(
            f"{what} takes points of the shape {shortened(str(sizes), _MOST_SHOWN)}; export it "
            "with fixed sizes of all axes but the first, which counts the points"
        )
    return sizes


def _array(tensor: Any, what: str, most: int) -> NDArray[Any]:
    """Return a constant, after checks of where it is, its type and its size."""
    from onnx import numpy_helper  # noqa: PLC0415

    name = shortened(tensor.name, _MOST_SHOWN)
    if tensor.data_location or tensor.external_data:
        raise InputError(
            f"{what} keeps the constant {name!r} in another file, and only {what} is read; export "
            "the network with its weights in the same file"
        )
    kind = _TYPES.get(tensor.data_type)
    if kind is None:
        raise InputError(
            f"{what} has the constant {name!r} of the type {tensor.data_type}; export the network "
            "with weights in floats"
        )
    size = math.prod(tensor.dims)
    if not 0 <= size <= most or any(axis < 0 for axis in tensor.dims):
        raise InputError(
            f"{what} has the constant {name!r} of {size:,} values, at most {most:,} are read; "
            "export a smaller network"
        )
    array: NDArray[Any] = np.asarray(numpy_helper.to_array(tensor))
    if array.dtype.kind == "f" and not (np.abs(array) <= LARGEST).all():
        raise InputError(
            f"{what} has the constant {name!r} with a number that is not finite; train the network "
            "again"
        )
    return array
