"""Read a network in ONNX: its nodes in order, and its constants, with checked sizes and types.

The package onnx parses the protocol buffers of a file in memory. External data, and references to
it, are refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protonn_edge.extensions.conversion.reading import LARGEST
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InputError, shortened
from protonn_edge.system.lazy import require

MOST_VALUES = 2**24  # of all constants
MOST_AXES = 8
_MOST_NODES = 2_000
_MOST_PARTS = 64  # inputs, outputs or attributes of a node
_MOST_LISTED = 2**20  # numbers of an attribute
_MOST_SHOWN = 40
# The types of constants, by their numbers in the format.
TYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 8: "text", 9: "?"}
TYPES |= {10: "f2", 11: "f8"}
FLOATS = (1, 10, 11)
_STANDARDS = ("", "ai.onnx", "ai.onnx.ml")  # domains of operators; the first two are one
_PAIR = "QuantizeLinear", "DequantizeLinear"  # onnxruntime has its own, which are the same
_TENSOR = 4  # the type of an attribute


@dataclass(frozen=True, eq=False)
class Node:
    """An operator, and the names of its inputs and outputs.

    `check_read` refuses attributes and inputs that no reader has used, because they could change
    the meaning of the node.
    """

    name: str
    operator: str  # with its domain and a dot before it, unless it is a standard operator
    inputs: tuple[str, ...]  # "" is a missing optional input
    outputs: tuple[str, ...]
    attributes: dict[str, object]
    read: set[str | int] = field(default_factory=set)  # names of attributes, places of inputs

    def attribute(self, name: str, default: object = None) -> Any:
        """Return an attribute of any type."""
        self.read.add(name)
        return self.attributes.get(name, default)

    def number(self, name: str, default: float) -> float:
        """Return an attribute that is a number."""
        value = self.attribute(name, default)
        if not isinstance(value, int | float):
            raise self.unsupported(f"has the attribute {name!r}, which is not a number")
        return value

    def integers(
        self, name: str, default: Iterable[int], count: int | None = None
    ) -> tuple[int, ...]:
        """Return an attribute that is a list of integers, `count` of them if it is given."""
        values = self.attribute(name, list(default))
        if not isinstance(values, list) or not all(isinstance(each, int) for each in values):
            raise self.unsupported(f"has the attribute {name!r}, which is not a list of integers")
        if count is not None and len(values) != count:
            raise self.unsupported(f"has {len(values)} values in {name!r} instead of {count}")
        return tuple(values)

    def text(self, name: str, default: str) -> str:
        """Return an attribute that is a text."""
        value = self.attribute(name, default)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    def check_read(self, present: str) -> None:
        """Refuse attributes and inputs, except `present`, that have no counterpart."""
        attributes = sorted(set(self.attributes) - self.read)
        places = [i for i, name in enumerate(self.inputs) if name not in ("", present)]
        inputs = [f"input {place + 1}" for place in places if place not in self.read]
        for each in (
            *(f"attribute {shortened(name, _MOST_SHOWN)!r}" for name in attributes),
            *inputs,
        ):
            raise self.unsupported(f"has the {each}, which has no counterpart", "remove it")

    def unsupported(self, has: str, remedy: str = "export the network again") -> InputError:
        """Return the error for a node without a counterpart."""
        return InputError(f"node {self.name!r} ({self.operator}) {has}; {remedy}")


@dataclass(frozen=True, eq=False)
class OnnxGraph:
    """The nodes of a network; each uses outputs of earlier nodes, or constants."""

    what: str  # the file
    input: str
    shape: tuple[int, ...]  # of a point, without the first axis, the batch axis
    nodes: tuple[Node, ...]
    constants: dict[str, Array]
    outputs: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse points without values, or with too many."""
        if not self.shape or len(self.shape) >= MOST_AXES or not _fits(self.shape, MOST_VALUES):
            raise InputError(
                f"{self.what} takes points of shape {shortened(str(self.shape), _MOST_SHOWN)}; "
                f"export the network with at most {MOST_VALUES:,} values per point in at most "
                f"{MOST_AXES} axes, all of fixed size except the first, the batch axis"
            )


def load_graph(content: bytes, what: str) -> OnnxGraph:
    """Return the graph in a file's contents; errors call it `what`."""
    require("onnx")
    import onnx  # an extra

    model = onnx.ModelProto.FromString(content)
    graph = model.graph
    redefined = any(each.domain in _STANDARDS for each in model.functions)
    if graph.sparse_initializer or redefined or len(graph.node) > _MOST_NODES:
        few = len(graph.node) <= _MOST_NODES
        raise InputError(
            f"{what} has {'sparse weights or custom operators' if few else 'too many nodes'}; "
            f"export a network of at most {_MOST_NODES:,} nodes with dense weights and standard "
            "operators"
        )
    constants: dict[str, Array] = {}
    left = MOST_VALUES
    for tensor in graph.initializer:
        constants[tensor.name] = _array(tensor, what, left)
        left -= constants[tensor.name].size
    nodes = []
    for number, each in enumerate(graph.node, 1):
        node = _node(each, number)
        for given in each.attribute:
            if given.type == _TENSOR:
                value = _array(given.t, what, left)
                left -= value.size
            else:
                value = _plain(onnx.helper.get_attribute_value(given), given.name, node)
            node.attributes[given.name] = value
        nodes.append(node)
    inputs = [each for each in graph.input if each.name not in constants]
    if len(inputs) != 1:
        raise InputError(
            f"{what} has {len(inputs):,} inputs, but only networks with one input are supported; "
            "export a network whose only input is the points (in Keras, with Rescaling instead of "
            "Normalization)"
        )
    outputs = tuple(each.name for each in graph.output)
    return OnnxGraph(
        what, inputs[0].name, _shape(inputs[0], what), tuple(nodes), constants, outputs
    )


def _node(given: Any, number: int) -> Node:
    """Return a node without its attributes."""
    pair = given.domain == "com.microsoft" and given.op_type in _PAIR
    standard = given.domain in _STANDARDS[:2] or pair
    operator = given.op_type if standard else f"{given.domain}.{given.op_type}"
    name = given.name or f"{given.op_type} {number}"
    name, operator = (shortened(str(each), _MOST_SHOWN) for each in (name, operator))
    parts = len(given.input), len(given.output), len(given.attribute)
    node = Node(
        name, operator, tuple(given.input[:_MOST_PARTS]), tuple(given.output[:_MOST_PARTS]), {}
    )
    if max(parts) > _MOST_PARTS:
        raise node.unsupported(
            f"has {max(parts):,} inputs, outputs or attributes, but the limit is {_MOST_PARTS:,}"
        )
    return node


def _plain(value: Any, name: str, node: Node) -> Any:
    """Return a number, a text or a list of them; anything else becomes None."""
    if isinstance(value, bytes):
        return value
    alone = isinstance(value, int | float)
    if not alone and not isinstance(value, Iterable):
        return None
    values = [value] if alone else value[:_MOST_LISTED]
    numbers = [each for each in values if isinstance(each, int | float)]
    long = not alone and len(value) > _MOST_LISTED
    largest = np.inf if name in ("min", "max") else LARGEST
    if long or not all(abs(each) <= largest for each in numbers):
        raise node.unsupported(
            f"has the attribute {shortened(name, _MOST_SHOWN)!r} with more than {_MOST_LISTED:,} "
            "numbers, or with a number that is not finite"
        )
    return value if alone else list(values)


def _shape(value: Any, what: str) -> tuple[int, ...]:
    """Return the shape of a point."""
    kind = value.type.tensor_type
    sizes = tuple(int(axis.dim_value) for axis in kind.shape.dim[1 : MOST_AXES + 1])
    check(
        TYPES.get(kind.elem_type, "text") not in ("text", "?"),
        f"input of {what}",
        kind.elem_type,
        "an ONNX type of numbers",
    )
    return sizes


def _fits(sizes: Sequence[int], most: int) -> bool:
    """Return whether an array is not empty, and has at most `most` values."""
    return all(0 < size <= most for size in sizes) and math.prod(sizes) <= most


def _array(tensor: Any, what: str, most: int) -> Array:
    """Return a constant, after checks of its file, type and size."""
    from onnx import numpy_helper

    name = shortened(tensor.name, _MOST_SHOWN)
    check(
        not (tensor.data_location or tensor.external_data),
        name,
        "another file",
        "the weights in the same file",
        "export the network with external_data=False",
    )
    kind = TYPES.get(tensor.data_type)
    check(
        kind is not None,
        f"constant {name!r} of {what}",
        tensor.data_type,
        "an ONNX type of numbers",
    )
    sizes = tuple(tensor.dims[: MOST_AXES + 1])
    fits = len(sizes) <= MOST_AXES and _fits(sizes, most)
    check(
        fits, f"constant {name!r} of {what}", sizes, f"at most {most:,} values in {MOST_AXES} axes"
    )
    array: Array = np.asarray(numpy_helper.to_array(tensor))
    # A single number may be a limit that a Clip never reaches.
    largest = np.inf if array.size == 1 else LARGEST
    fits = array.dtype.kind != "f" or bool((np.abs(array) <= largest).all())
    check(fits, f"constant {name!r} of {what}", "others", f"numbers of at most {LARGEST:g}")
    return array
