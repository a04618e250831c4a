"""A chain of ONNX nodes: their order, their constants, and the places of a point's values.

The network's values are tracked by their places among the device's values, which have the channels
of images innermost; so transposing and reshaping only move places, and cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.conversion.networks.onnx_decision import BEGINNINGS, Decision
from protonn_edge.extensions.conversion.networks.onnx_file import (
    FLOATS,
    MOST_VALUES,
    TYPES,
    Node,
    OnnxGraph,
)
from protonn_edge.extensions.conversion.reading import LARGEST
from protonn_edge.features.images.image_rows import MOST_IN_A_ROW, Margins
from protonn_edge.model.shapes import ImageShape, image_text
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, shortened

Float64 = NDArray[np.float64]
Reader = Callable[[Any, Node], None]
"""Processes a node that has the current values of an `OnnxChain` among its inputs."""

_MOST_LAYERS = 64
_LONGEST_SHAPE = 64
_MOST_FILLED = 2**16  # values of a constant that a node fills with one number
_BYTES = ("int8", "uint8")
_PAIRS = "quantize the network with quant_format=QuantFormat.QDQ"
_INSTEAD = {
    "QLinear": _PAIRS,
    "QGemm": _PAIRS,
    "TreeEnsemble": "convert the estimator of scikit-learn, XGBoost or LightGBM instead",
    "DynamicQuantize": "quantize the network with onnxruntime's quantize_static, or not at all",
}
"""What to do about operators, by a part of their names."""


class Window(NamedTuple):
    """How a window moves over an image."""

    sides: tuple[int, int]
    strides: tuple[int, int]
    places: tuple[int, int]  # rows and columns of the image that it gives
    margins: Margins = ((0, 0), (0, 0))


def check_apart(node: Node, window: Window) -> None:
    """Refuse windows that overlap, or have gaps between them."""
    if window.strides != window.sides:
        raise node.unsupported(
            f"has the kernel shape {window.sides} and the strides {window.strides}",
            "use strides equal to the kernel shape",
        )


class OnnxChain:
    """The nodes of a graph, in order, and the layers that they append.

    The form of a layer depends on the kind of network, whose class has methods for the operators of
    layers (`convolve`, `multiply`, `pool`) and of values (`rectify`, `move`).
    """

    types: tuple[int, ...] = FLOATS  # to which a Cast of the present values changes nothing
    longest = MOST_IN_A_ROW  # sides and channels of the first image

    def __init__(self, graph: OnnxGraph, readers: Mapping[str, Reader]) -> None:
        self.graph, self.constants, self._readers = graph, dict(graph.constants), readers
        self.current, self._given = graph.input, {graph.input, *graph.constants}
        self.places = np.arange(math.prod(graph.shape)).reshape(graph.shape)  # of present values
        self._shapes = {graph.input: self.places.shape}  # of all values in the chain
        self.order = np.arange(self.places.size)  # of the input's values for the device
        self.image: ImageShape | None = None  # the first layer's
        self.shape: ImageShape = (0, 0, 0)  # of the present image
        self.signal = False  # whether images are one pixel wide, and have one axis less
        self.flat = False  # whether images may follow no more
        self.layers: list[Any] = []
        self.decision: Decision | None = None
        self._folded = MOST_VALUES

    @property
    def classes(self) -> Array:
        """The labels (L,) that the network itself names, or else 0, 1 and so on."""
        labels = self.decision.labels if self.decision else None
        return np.arange(max(2, self.places.size)) if labels is None else np.array(labels)

    @property
    def plain(self) -> bool:
        """Whether the network ends in a single score as it is."""
        return self.places.size == 1 and self.decision is not None and self.decision.plain

    def walk(self) -> None:
        """Take all nodes; raises `InputError` with the one that has no counterpart."""
        for node in self.graph.nodes:
            self._add(node)
        decision = self.decision or self.decide(self.current)
        if not decision.decides(self.graph.outputs):
            raise InputError(
                f"{self.graph.what} ends with {self.current[:40]!r}, which is not one of its "
                "outputs; export the network with all scores, all probabilities or the label as "
                "output"
            )

    def _add(self, node: Node) -> None:
        """Add a node; an error of NumPy becomes a sentence with its name."""
        there = [name for name in node.outputs if name in self._given]
        if there or not node.outputs:
            raise node.unsupported(
                f"has no outputs, or repeats outputs of earlier nodes ({shortened(str(there), 40)})"
            )
        self._given.update(filter(None, node.outputs))
        try:
            self._take(node)
        except InputError:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            remedy = "export the network again, with a single point as the example"
            raise node.unsupported("cannot be applied to its inputs", remedy) from error

    def _take(self, node: Node) -> None:
        """Compute constants, such as the shapes that PyTorch computes, or the present values."""
        names = [name for name in node.inputs if name and name not in self.constants]
        strange = [name for name in names if name != self.current]
        shapes = self._shapes.keys() if node.operator == "Shape" and not self.decision else ()
        if all(name in shapes for name in names):
            self.fold(node)
        elif self.decision:
            self.decision.take(node, self.constants)
        elif strange:
            again = strange[0] in self._given
            raise node.unsupported(
                f"takes {strange[0][:40]!r}, which "
                + ("an earlier node already uses" if again else "no earlier node produces"),
                "use layers that form a single chain" if again else "export the network again",
            )
        elif node.operator in BEGINNINGS:
            self.decide(self.current).take(node, self.constants)
        else:
            reader = self._readers.get(node.operator)
            if reader is None or len(names) > 1:
                usual = "use layers of " + ", ".join(sorted({*self._readers, *BEGINNINGS}))
                remedies = (_INSTEAD[name] for name in _INSTEAD if name in node.operator)
                raise node.unsupported("has no counterpart on the device", next(remedies, usual))
            reader(self, node)
            node.check_read(self.current)
            self.current = node.outputs[0]
            self._shapes[self.current] = self.places.shape

    def decide(self, scores: str) -> Decision:
        """Take the present values as the scores of classes, under this name."""
        self.decision = Decision(self.graph.what, scores, self.places.shape)
        return self.decision

    def fold(self, node: Node) -> None:
        """Compute a constant of constants, or of the shape of a value."""
        compute = _CONSTANTS.get(node.operator)
        values = [self.constants[name] for name in node.inputs if name in self.constants]
        if node.operator == "Shape":
            shape = self._shapes.get(node.inputs[0])
            values = values[:1] if shape is None else [np.empty((1, *shape), "?")]
        self._folded -= sum(each.size for each in values)
        if compute is None or self._folded < 0:
            raise node.unsupported(
                "has only constants as inputs, but its result cannot be computed in advance",
                "simplify the network, for example with onnxsim",
            )
        node.read.update(range(len(node.inputs)))
        self.constants[node.outputs[0]] = compute(node, values)
        node.check_read("")

    def constant(self, node: Node, place: int) -> Float64:
        """Return an input of a node that is a constant, in floats."""
        numbers: Float64 = self.numbers(node, place, "fiu").astype(np.float64)
        if not (np.abs(numbers) <= LARGEST).all():
            raise node.unsupported(
                f"has an infinite or NaN number in input {place + 1}, or one above {LARGEST:g}",
                "train the network again",
            )
        return numbers

    def numbers(self, node: Node, place: int, kinds: str) -> Array:
        """Return an input that is a constant of one of NumPy's kinds."""
        node.read.add(place)
        name = node.inputs[place] if place < len(node.inputs) else ""
        if name not in self.constants or self.constants[name].dtype.kind not in kinds:
            raise node.unsupported(f"must have constant weights as input {place + 1}")
        return self.constants[name]

    def channels(self, node: Node, values: Float64) -> Float64:
        """Return the value of each channel, of values by place that are equal in each."""
        each = values.reshape(-1, self.shape[2])
        if (each != each[0]).any():
            raise node.unsupported(
                "has, or follows, factors or offsets that differ within a channel",
                "use one factor and one offset per channel",
            )
        channel_values: Float64 = each[0]
        return channel_values

    def as_image(self, node: Node) -> None:
        """Require an image, and lay its channels innermost if it is the input."""
        self.signal |= self.places.ndim == 2 and not self.layers
        if self.places.ndim == 2 and self.signal:
            self.places = self.places[..., None]
        if self.places.ndim != 3 or self.flat:
            raise node.unsupported(
                f"takes values of shape {self.places.shape}, which are not an image",
                "apply the node to images, before any Gemm or Flatten",
            )
        inner = np.moveaxis(self.places, 0, 2)
        moved = (inner.ravel() != np.arange(inner.size)).any()
        if self.image is not None:
            if moved or inner.shape != self.shape:
                raise node.unsupported(
                    f"takes an image ({image_text(self.shape)}) that comes from a Reshape or "
                    "Transpose",
                    "move the node before the Reshape or Transpose",
                )
            return
        if moved and len(self.graph.shape) == 1:
            raise node.unsupported(
                "takes an image whose channels are stored one after the other",
                "use images as input, or rows in which the channels of a pixel are adjacent",
            )
        self.image = self.shape = sized(node, inner.shape, self.longest)
        self.order = inner.ravel()
        self.places = np.moveaxis(np.arange(inner.size).reshape(inner.shape), 2, 0)

    def append(self, node: Node, layer: object, shape: ImageShape) -> None:
        """Append a layer with output of this shape: height, width and channels."""
        if len(self.layers) >= _MOST_LAYERS:
            text = f"follows {_MOST_LAYERS} layers, which is the limit"
            raise node.unsupported(text, "use fewer layers")
        self.layers.append(layer)
        self.lay_out(node, shape)

    def lay_out(self, node: Node, shape: ImageShape) -> None:
        """Set the shape of the present image."""
        self.shape = sized(node, shape)
        places = np.moveaxis(np.arange(math.prod(shape)).reshape(shape), 2, 0)
        self.places = places[..., 0] if self.signal else places


def sized(node: Node, shape: Sequence[int], most: int = MOST_IN_A_ROW) -> ImageShape:
    """Return the shape of an image, unless it is too large."""
    if max(shape) > most:
        raise node.unsupported(
            f"has an input or output of {' x '.join(f'{size:,}' for size in shape)}",
            f"use at most {most} rows, columns and channels",
        )
    height, width, channels = shape
    return height, width, channels


def _reshaped(node: Node, values: list[Array]) -> Array:
    """Return values in the shape that a Reshape asks for: 0 keeps an axis, -1 is what is left."""
    target = listed(node, values, "shape")
    if (node.number("allowzero", 0) and 0 in target) or min(target, default=0) < -1:
        raise ValueError
    sizes = [size or values[0].shape[axis] for axis, size in enumerate(target)]
    return np.asarray(values[0].reshape(sizes))


def listed(node: Node, values: list[Array], name: str) -> tuple[int, ...]:
    """Return integers that are an input in newer versions, and an attribute in older ones."""
    if len(values) < 2:
        return node.integers(name, ())
    if values[1].size > _LONGEST_SHAPE:
        raise node.unsupported(
            f"has {values[1].size:,} values in {name!r}, but the limit is {_LONGEST_SHAPE}",
            "use a shape of fewer axes",
        )
    return tuple(values[1].astype(np.int64).ravel().tolist())


def _flattened(node: Node, values: list[Array]) -> Array:
    first = values[0].shape[: int(node.number("axis", 1))]
    return np.asarray(values[0].reshape(math.prod(first), -1))


def _squeezed(node: Node, values: list[Array]) -> Array:
    """Leave out the named axes, or all of size 1 but the batch axis."""
    ones = [axis for axis, size in enumerate(values[0].shape) if axis and size == 1]
    return np.asarray(values[0].squeeze(listed(node, values, "axes") or tuple(ones)))


def _unsqueezed(node: Node, values: list[Array]) -> Array:
    return np.expand_dims(values[0], listed(node, values, "axes"))


def _transposed(node: Node, values: list[Array]) -> Array:
    return np.asarray(values[0].transpose(node.integers("perm", range(values[0].ndim)[::-1])))


MOVING: dict[str, Callable[[Node, list[Array]], Array]] = {
    "Flatten": _flattened,
    "Identity": lambda _, values: values[0],
    "Reshape": _reshaped,
    "Squeeze": _squeezed,
    "Transpose": _transposed,
    "Unsqueeze": _unsqueezed,
}
"""Operators that move values of points or of a constant; the first axis is the batch."""


def _constant(node: Node, _values: list[Array]) -> Array:
    for name in ("value", "value_int", "value_float", "value_ints", "value_floats"):
        if (value := node.attribute(name)) is not None and np.size(value):
            return np.asarray(value)
    raise node.unsupported("has no value")


def _gathered(node: Node, values: list[Array]) -> Array:
    if values[0].ndim != 1 or max(each.size for each in values) > _LONGEST_SHAPE:
        raise node.unsupported("gathers values other than the sizes of axes")
    return np.asarray(np.take(values[0], values[1].astype(np.int64), int(node.number("axis", 0))))


def _sliced(node: Node, values: list[Array]) -> Array:
    sizes, *given = values  # starts, ends, axes and steps
    whole = len(given) > 1 and all(node.inputs) and all(each.size == 1 for each in given)
    if sizes.ndim != 1 or not whole:
        raise node.unsupported("slices values other than the sizes of axes")
    start, end, *others = (int(each.item()) for each in given)
    return np.asarray(sizes[start : end : others[1] if len(others) > 1 else 1])


def _shape(node: Node, values: list[Array]) -> Array:
    ends = node.attribute("start", 0), node.attribute("end")
    return np.array(values[0].shape)[slice(*ends)]


def _filled(node: Node, values: list[Array]) -> Array:
    number = np.asarray(node.attribute("value", np.zeros(1, np.float32)))
    sizes = values[0].ravel().tolist()
    if not 0 <= math.prod(sizes) <= _MOST_FILLED or number.size != 1:
        raise node.unsupported(
            f"must fill at most {_MOST_FILLED:,} places with one number, but has the shape "
            f"{sizes[:8]}"
        )
    return np.full(sizes, number.item(), number.dtype)


def _product(node: Node, values: list[Array]) -> Array:
    """Return a product or quotient, as PyTorch has for the scales and integers of biases."""
    one, other = values
    if math.prod(np.broadcast_shapes(one.shape, other.shape)) > max(one.size, other.size):
        raise node.unsupported(
            "multiplies constants whose product would have more values than either"
        )
    return np.asarray(one / other if node.operator == "Div" else one * other)


def _dequantized(node: Node, values: list[Array]) -> NDArray[np.float64]:
    whole, scale, zero = _scaled(node, values)
    numbers: NDArray[np.float64] = (whole.astype(np.float64) - zero) * scale
    if whole.dtype.kind not in "iu" or not (np.abs(numbers) <= LARGEST).all():
        raise node.unsupported("dequantizes values that are not integers, or not finite")
    return numbers


def _quantized(node: Node, values: list[Array]) -> Array:
    kind = values[2].dtype if len(values) > 2 else np.dtype(np.uint8)
    real, scale, zero = _scaled(node, values)
    if kind.name not in _BYTES or real.dtype.kind != "f":
        raise node.unsupported("does not quantize floats to int8 or uint8", "quantize to 8 bits")
    ends = np.iinfo(kind)
    steps = np.rint(real / scale.astype(np.float32)) + zero
    return np.asarray(steps.clip(ends.min, ends.max).astype(kind))


def _scaled(node: Node, values: list[Array]) -> tuple[Array, ...]:
    """Return numbers, and their scales and zero points along their axis."""
    numbers, *given = values
    check_plain(node)
    axis = int(node.number("axis", 1)) % max(numbers.ndim, 1)
    along = [-1 if each == axis else 1 for each in range(numbers.ndim)]
    parts = [each.reshape(along if each.size > 1 else ()).astype(np.float64) for each in given]
    return numbers, parts[0], parts[1] if len(parts) > 1 else np.zeros(())


def check_plain(node: Node) -> None:
    """Refuse a QuantizeLinear or DequantizeLinear of blocks, or of other types."""
    node.attribute("saturate")  # of floats with 8 bits
    if any(node.number(name, 0) for name in ("block_size", "output_dtype", "precision")):
        raise node.unsupported(
            "sets block_size, output_dtype or precision",
            "leave these out",
        )


_CONSTANTS = {
    # A Squeeze of a constant may leave out its first axis, too.
    **{name: take for name, take in MOVING.items() if take is not _squeezed},
    "Cast": lambda node, values: values[0].astype(TYPES[int(node.number("to", 0))]),
    "Concat": lambda node, values: np.concatenate(values, axis=int(node.number("axis", 0))),
    "Constant": _constant,
    "ConstantOfShape": _filled,
    "DequantizeLinear": _dequantized,
    "Div": _product,
    "Gather": _gathered,
    "Mul": _product,
    "QuantizeLinear": _quantized,
    "Shape": _shape,
    "Slice": _sliced,
}
