"""A network that grows node by node, from a graph in ONNX.

An axis of the network is followed by the places of its values among those of the device, whose
images have the channels innermost; so transposing and reshaping move places, and cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.conversion.networks import MOST_HIDDEN, FloatNetwork
from protonn_edge.conversion.onnx_file import Node, OnnxGraph
from protonn_edge.errors import InputError
from protonn_edge.features.convolution.train.layers import Layer
from protonn_edge.features.images.image_rows import ImageShape

Float64 = NDArray[np.float64]
Reader = Callable[["NetworkBuilder", Node], None]
"""Takes a node that has the builder's present values among its inputs."""


class NetworkBuilder:
    """A network that grows node by node."""

    def __init__(self, graph: OnnxGraph, readers: Mapping[str, Reader]) -> None:
        self.graph, self.constants, self._readers = graph, dict(graph.constants), readers
        self.current, self.past = graph.input, set[str]()
        n = math.prod(graph.shape)
        self.places = np.arange(n).reshape(graph.shape)  # of the present values
        self.order = np.arange(n)  # of the input's values for the device
        # The present values are these times `scale` plus `shift`, by place, as far as it is not
        # folded into a layer.
        self.scale, self.shift = np.ones(n), np.zeros(n)
        self.before = np.ones(1), np.zeros(1)  # of the first layer's channels: scale and shift
        self.image: ImageShape | None = None
        self.depth = 1  # channels of the present image
        self.signal = False  # whether images are one pixel wide, and have one axis less
        self.layers: list[Layer] = []
        self.matrices: list[tuple[Float64, Float64]] = []
        self.linear = False  # whether the last layer's sums are not rectified yet
        self.labels: NDArray[Any] | None = None
        self.ended = False

    @property
    def classes(self) -> NDArray[Any]:
        """The labels (L,) that the network itself names, or else 0, 1 and so on."""
        return np.arange(max(2, self.places.size)) if self.labels is None else self.labels

    def network(self) -> FloatNetwork:
        """Return the network; raises `InputError` with the node that has no counterpart."""
        for node in self.graph.nodes:
            self._add(node)
        if self.current not in self.graph.outputs and not self.ended:
            raise InputError(
                f"{self.graph.what} ends with {self.current[:40]!r}, which is no output of it; "
                "export the network again"
            )
        if not (self.matrices and self.linear):
            self.multiply(np.eye(self.places.size), np.zeros(self.places.size))
        if len(self.matrices) > MOST_HIDDEN + 1:
            raise InputError(
                f"{self.graph.what} has {len(self.matrices) - 1} hidden layers of Gemm or MatMul, "
                f"{MOST_HIDDEN} are possible; train a network with fewer"
            )
        weights = tuple(W.astype(np.float32) for W, _ in self.matrices)
        biases = tuple(b.astype(np.float32) for _, b in self.matrices)
        scale, shift = (each.astype(np.float32) for each in self.before)
        layers = tuple(self.layers)
        return FloatNetwork(layers, self.image, weights, biases, self.order, scale, shift)

    def _add(self, node: Node) -> None:
        """Add a node, or compute constants, such as the shapes that PyTorch computes."""
        unknown = [
            name
            for name in node.inputs
            if name and name not in self.constants and name != self.current
        ]
        if self.ended:
            self.decide(node)
        elif unknown:
            again = unknown[0] in self.past
            raise node.unsupported(
                f"takes {unknown[0][:40]!r}, which "
                + ("other nodes took already" if again else "no node before it gives"),
                "export a network that is one chain of layers" if again else "export it again",
            )
        elif self.current not in node.inputs or node.operator == "Shape":
            self._fold(node)
        else:
            reader = self._readers.get(node.operator)
            if reader is None or node.inputs.count(self.current) > 1:
                raise node.unsupported(
                    "has no counterpart", f"use layers of {', '.join(sorted(self._readers))}"
                )
            reader(self, node)
            self.past.add(self.current)
            self.current = node.outputs[0] if node.outputs else ""

    def decide(self, node: Node) -> None:
        """Take a node that only makes labels or probabilities of the scores."""
        if node.operator not in _DECISIONS:
            raise node.unsupported("is behind the decision", "end the network with its scores")
        listed = node.attributes.get("classlabels_strings") or node.attributes.get(
            "classlabels_int64s"
        )
        if node.operator == "ArrayFeatureExtractor" and node.inputs[0] in self.constants:
            listed = self.constants[node.inputs[0]].ravel().tolist()
        self._label(listed)

    def _label(self, listed: Any) -> None:
        classes = max(2, self.places.size)
        if listed and len(listed) == classes:
            texts = [
                each.decode("utf-8", "replace") if isinstance(each, bytes) else each
                for each in listed
            ]
            self.labels = np.array(texts)

    def _fold(self, node: Node) -> None:
        """Compute a constant of constants, and of the shape."""
        compute = _CONSTANTS.get(node.operator)
        values = [self.constants.get(name) for name in node.inputs]
        if node.operator == "Shape":
            values = [np.array([1, *self.places.shape])]
        if compute is None or len(node.outputs) != 1:
            raise node.unsupported(
                "computes with constants alone", "simplify the network, as onnxsim does"
            )
        self.constants[node.outputs[0]] = compute(node, values)

    def constant(self, node: Node, place: int) -> Float64:
        """Return an input of a node that is a constant, in floats."""
        name = node.inputs[place] if place < len(node.inputs) else ""
        if name not in self.constants or self.constants[name].dtype.kind not in "fiu":
            raise node.unsupported(f"has no weights as input {place + 1}")
        return self.constants[name].astype(np.float64)

    def integers(self, node: Node, place: int, name: str) -> tuple[int, ...]:
        """Return integers that are an input in newer versions, and an attribute in older ones."""
        if place < len(node.inputs) and node.inputs[place]:
            return tuple(self.constant(node, place).astype(np.int64).ravel().tolist())
        return node.integers(name, ())

    def channels(self, node: Node, values: Float64) -> Float64:
        """Return the value of each channel, of values by place that are equal in each."""
        each = values.reshape(-1, self.depth)
        if (each != each[0]).any():
            raise node.unsupported("needs values that differ in a channel", "use one per channel")
        found: Float64 = each[0]
        return found

    def as_image(self, node: Node) -> None:
        """Require an image, and lay its channels innermost if it is the input."""
        self.signal |= self.places.ndim == 2 and not self.layers
        if self.places.ndim == 2 and self.signal:
            self.places = self.places[..., None]
        if self.places.ndim != 3 or self.matrices:
            raise node.unsupported(
                f"takes values of the shape {self.places.shape}", "use it on images, before Gemm"
            )
        inner = np.moveaxis(self.places, 0, 2)
        if self.image is None:
            height, width, self.depth = inner.shape
            self.image, flat = (height, width, self.depth), inner.ravel()
            self.scale, self.shift = self.scale[flat], self.shift[flat]
            self.order = self.order[flat]
            self.places = np.moveaxis(np.arange(inner.size).reshape(inner.shape), 2, 0)
        elif (inner.ravel() != np.arange(inner.size)).any():
            raise node.unsupported("takes a transposed image", "use it before the axes move")

    def append(self, layer: Layer, shape: ImageShape) -> None:
        """Append a layer with output of this shape: height, width and channels."""
        self.layers.append(layer)
        self.depth = shape[2]
        places = np.moveaxis(np.arange(math.prod(shape)).reshape(shape), 2, 0)
        self.places = places[..., 0] if self.signal else places

    def rescale(self, scale: Float64, shift: Float64) -> None:
        """Set the factors and shifts of channels that are to be folded."""
        pixels = self.places.size // self.depth
        self.scale, self.shift = np.tile(scale, pixels), np.tile(shift, pixels)

    def multiply(self, W: Float64, b: Float64) -> None:
        """Append the matrix W (out, in) for present values, or join it with the one before it."""
        ours = np.zeros_like(W)
        ours[:, self.places.ravel()] = W
        b = b + ours @ self.shift
        ours = ours * self.scale
        if self.matrices and self.linear:
            before, bias = self.matrices.pop()
            ours, b = ours @ before, ours @ bias + b
        self.matrices.append((ours, b))
        self.linear, self.places = True, np.arange(len(b))
        self.scale, self.shift = np.ones(len(b)), np.zeros(len(b))


# What may follow the decision: these keep the order of the scores, or make labels of them.
_DECISIONS = {
    *("ArgMax", "ArrayFeatureExtractor", "Cast", "Concat", "Identity", "LinearClassifier"),
    *("Normalizer", "Reshape", "Softmax", "Sub", "ZipMap"),
}


def _constant(node: Node, values: list[Any]) -> NDArray[Any]:  # noqa: ARG001
    for name in ("value", "value_int", "value_float", "value_ints", "value_floats"):
        if node.attributes.get(name) is not None:
            return np.asarray(node.attributes[name])
    raise node.unsupported("has no value")


def _gathered(node: Node, values: list[Any]) -> NDArray[Any]:
    places = values[1].astype(np.int64)
    return np.asarray(np.take(values[0], places, axis=int(node.number("axis", 0))))


def _joined(node: Node, values: list[Any]) -> NDArray[Any]:
    if sum(each.size for each in values) > _LONGEST_SHAPE:
        raise node.unsupported("joins large constants", "export the network with folded constants")
    return np.concatenate(values, axis=int(node.number("axis", 0)))


def _unsqueezed(node: Node, values: list[Any]) -> NDArray[Any]:
    axes = values[1].ravel().tolist() if len(values) > 1 else list(node.integers("axes", ()))
    return np.expand_dims(values[0], tuple(axes))


_LONGEST_SHAPE = 64
_CONSTANTS: dict[str, Callable[[Node, list[Any]], NDArray[Any]]] = {
    "Cast": lambda _, values: values[0],
    "Concat": _joined,
    "Constant": _constant,
    "Gather": _gathered,
    "Identity": lambda _, values: values[0],
    "Reshape": lambda _, values: values[0].reshape(values[1].ravel().tolist()),
    "Shape": lambda _, values: values[0],
    "Transpose": lambda node, values: values[0].transpose(node.integers("perm", ())),
    "Unsqueeze": _unsqueezed,
}
