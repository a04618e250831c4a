"""Read an int8 network of _TensorFlow Lite: its layers, exactly as its reference kernels compute.

The numbers of fields, operators and types are those of _TensorFlow Lite's schema. The network must
be a chain of the operators in `_OPERATORS`, for one input and one output.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.conversion.flatbuffer import FlatTable
from protonn_edge.conversion.int8_network import INT8_ZERO, Int8Network
from protonn_edge.conversion.reading import StoredClassifier
from protonn_edge.errors import InputError
from protonn_edge.features.convolution.stage import Layer
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.images.image_rows import ImageShape
from protonn_edge.features.int8_layer.integers import MOST_RIGHT, IntegerInt8Layer
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.system.files import read_file

_FLOAT32, _INT32, _UINT8, _INT8 = 0, 2, 3, 9
_DTYPES = {_FLOAT32: "f4", _INT32: "i4", _INT8: "i1"}
_SAME = 0  # padding
_ACTIVATIONS = {0: (None, None), 1: (0.0, None), 2: (-1.0, 1.0), 3: (0.0, 6.0)}
_LIMIT_BYTES = 16 * 2**20
_MOST_WEIGHTS = 2**20
_PERCEPTIBLE = 1e-6  # relative difference of scales

Pair = tuple[int, int]


class _Tensor(NamedTuple):
    """A tensor, with its quantization."""

    table: FlatTable
    shape: tuple[int, ...]
    kind: int  # its type
    scales: NDArray[np.float32]
    zeros: NDArray[np.int64]

    @classmethod
    def of(cls, table: FlatTable) -> _Tensor:
        scaling = table.table(4) or FlatTable(table.content, table.place)
        given = table.table(4) is not None
        scales = scaling.array(2, "f4") if given else np.zeros(0, np.float32)
        zeros = scaling.array(3, "i8") if given else np.zeros(0, np.int64)
        return cls(table, tuple(table.array(0, "i4").tolist()), table.number(1, "b"), scales, zeros)

    @property
    def scale(self) -> np.float32:
        """The scale of all values."""
        if self.scales.size != 1 or self.zeros.size != 1 or self.kind not in (_INT8, _UINT8):
            raise InputError(
                f"tensor {self.table.text(3)[:40]!r} is not quantized to int8 with one scale; "
                "quantize the network with _TensorFlow's converter, or write it as ONNX and "
                "convert that"
            )
        if not 1e-30 < float(self.scales[0]) < 1e30:
            raise InputError(f"tensor {self.table.text(3)[:40]!r} has a scale out of range")
        return np.float32(self.scales[0])

    @property
    def zero(self) -> int:
        """The zero point as a byte, 0..255."""
        zero = int(self.zeros[0]) + (INT8_ZERO if self.kind == _INT8 else 0)
        if not 0 <= zero <= 255:
            raise InputError(f"tensor {self.table.text(3)[:40]!r} has a zero point out of range")
        return zero


def load_tflite(path: Path) -> StoredClassifier:
    """Return the classifier in a file (.tflite); its labels are 0, 1, ..."""
    try:
        network = read_network(read_file(path, limit_bytes=_LIMIT_BYTES))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    names, labels = np.array([], str), np.arange(network.n_classes)
    return StoredClassifier(str(path), network, network.n_inputs, names, labels)


def read_network(content: bytes) -> Int8Network:
    """Return the network of a file; `InputError` names an operator that cannot be taken."""
    model = FlatTable.root(content, b"TFL3")
    graphs = list(model.tables(2))
    if len(graphs) != 1:
        raise InputError(f"the file has {len(graphs):,} graphs; give a network with one")
    codes = [max(each.number(0, "b"), each.number(3, "i")) for each in model.tables(1)]
    tensors = [_Tensor.of(each) for each in graphs[0].tables(0)]
    chain = _Chain(tensors, list(model.tables(4)), graphs[0].array(1, "i4").tolist())
    operators = list(graphs[0].tables(3))
    for number, operator in enumerate(operators):
        code = operator.number(0, "I")
        chain.add(number, codes[code] if code < len(codes) else -1, operator)
    return chain.network(graphs[0].array(2, "i4").tolist())


@dataclass
class _Chain:
    """The operators so far."""

    tensors: list[_Tensor]
    buffers: list[FlatTable]
    inputs: list[int]
    layers: list[Layer] = field(default_factory=list)
    decided: str = ""  # the operator that makes a decision of scores
    scores: int = -1  # the tensor before it
    where: str = ""  # the operator in errors

    def __post_init__(self) -> None:
        if len(self.inputs) != 1:
            raise InputError(f"the network has {len(self.inputs)} inputs; give one with one input")
        self.first = self.inputs[0]
        self.same = {self.first}  # the tensors with the values so far

    def add(self, number: int, code: int, operator: FlatTable) -> None:
        """Take the next operator."""
        name, take = _OPERATORS.get(code, (f"number {code}", None))
        self.where = f"operator {number} ({name})"
        if name in _OF_SHAPES:
            return
        inputs, outputs = operator.array(1, "i4").tolist(), operator.array(2, "i4").tolist()
        if not self.same.issuperset(inputs[:1]) or not inputs or len(outputs) != 1:
            raise self.refused("does not continue a chain of operators")
        if take is None:
            known = ", ".join(name for name, _ in _OPERATORS.values() if name not in _OF_SHAPES)
            raise self.refused(f"is not one of {known}")
        if self.decided and name != "DEQUANTIZE":
            raise self.refused(f"comes after {self.decided}, which must be the last one")
        take(self, inputs, outputs[0], operator.table(4) or FlatTable(b"\x04\0\x04\0\x04\0\0\0", 4))
        self.same = {*(self.same if take is _unchanged else ()), outputs[0]}

    def refused(self, why: str) -> InputError:
        """Return the error for the operator."""
        return InputError(
            f"{self.where} {why}; build the network without it, or write it as ONNX and convert "
            "that"
        )

    def tensor(self, number: int) -> _Tensor:
        """Return a tensor of the operator."""
        if not 0 <= number < len(self.tensors):
            raise self.refused("has an input that is missing")
        return self.tensors[number]

    def constant(self, number: int, kind: int) -> NDArray[Any]:
        """Return the numbers of a tensor of a type that the file has."""
        tensor = self.tensor(number)
        if tensor.kind == _FLOAT32:
            raise InputError(
                f"{self.where} computes in floats; quantize the network to int8 with TensorFlow's "
                "converter, or write it as ONNX and convert that"
            )
        place = tensor.table.number(2, "I")
        if tensor.kind != kind or place >= len(self.buffers) or min(tensor.shape, default=1) < 1:
            raise self.refused("has numbers that are not int8 weights or biases of 32 bits")
        numbers = self.buffers[place].array(0, "u1")
        if math.prod(tensor.shape) > _MOST_WEIGHTS:
            raise self.refused(f"has more than {_MOST_WEIGHTS:,} weights")
        if math.prod(tensor.shape) * np.dtype(_DTYPES[kind]).itemsize != numbers.size:
            raise self.refused("has fewer or more numbers than its shape")
        found: NDArray[Any] = numbers.view(f"<{_DTYPES[kind]}").reshape(tensor.shape)
        return found

    def network(self, outputs: list[int]) -> Int8Network:
        """Return the network, whose output is that of the last operator."""
        if len(outputs) != 1 or outputs[0] not in self.same or not self.layers:
            raise InputError("the network is not a chain of layers with one output")
        given = self.tensor(self.first)
        result = self.tensor(self.scores if self.decided else outputs[0])
        step, zero = float(given.scale), given.zero
        if step % 1:
            step *= 1 - 2.0**-25  # halves are rounded away from 0, as single precision does
        pixels = PixelScale(-zero * step, step)
        return Int8Network(tuple(self.layers), pixels, float(result.scale), result.zero)

    def image(self, number: int) -> tuple[ImageShape, bool]:
        """Return the shape of an image, and whether its height and width are exchanged.

        An image one pixel high is one pixel wide here: it is stored alike, and has short rows.
        """
        dimensions = self.tensor(number).shape
        if len(dimensions) != 4 or dimensions[0] != 1 or min(dimensions) < 1:
            raise self.refused(f"takes the shape {dimensions}, which is not an image's")
        height, width, channels = dimensions[1:]
        turned = width, height, channels
        if not self.layers:
            return (turned, True) if height == 1 else (dimensions[1:], False)
        made = self.layers[-1].output_shape
        if made != dimensions[1:] and (height != 1 or made != turned):
            raise self.refused(f"takes an image of another shape than {made}, before it")
        return made, made != dimensions[1:]

    def same_scale(self, number: int, other: int) -> None:
        """Refuse an operator that would scale values."""
        one, two = self.tensor(number), self.tensor(other)
        if abs(one.scale / two.scale - 1) > _PERCEPTIBLE or one.zero != two.zero:
            raise self.refused("changes the scale of values")

    def limits(self, code: int, number: int) -> Pair:
        """Return the lowest and the highest byte after a fused activation."""
        if code not in _ACTIVATIONS:
            raise self.refused(f"has the activation number {code}; use ReLU, ReLU6 or none")
        tensor, ends = self.tensor(number), []
        for real, end in zip(_ACTIVATIONS[code], (0, 255), strict=True):
            byte = end
            if real is not None:
                byte = tensor.zero + _rounded(float(np.float32(real) / tensor.scale))
            ends.append(min(max(byte, 0), 255))
        return ends[0], ends[1]


def _input(chain: _Chain, inputs: list[int], output: int, _: FlatTable) -> None:
    """Take QUANTIZE: of the input."""
    if inputs[0] != chain.first or chain.layers:
        raise chain.refused("is not the first one")
    if chain.tensor(inputs[0]).kind != _FLOAT32:
        chain.same_scale(inputs[0], output)
    chain.first = output


def _unchanged(chain: _Chain, inputs: list[int], output: int, _: FlatTable) -> None:
    """Take RESHAPE and its like."""
    chain.same_scale(inputs[0], output)


def _decision(chain: _Chain, inputs: list[int], _: int, __: FlatTable) -> None:
    """Take what makes a decision of scores, which keeps their order, or changes their type."""
    if not chain.decided:
        chain.scores = inputs[0]
    chain.decided = chain.where


def _rectified(chain: _Chain, inputs: list[int], output: int, _: FlatTable) -> None:
    """Take an activation of its own: it narrows the limits of the layer before it."""
    chain.same_scale(inputs[0], output)
    if not chain.layers or not isinstance(chain.layers[-1], IntegerInt8Layer):
        raise chain.refused("does not follow a layer with weights")
    low, high = chain.limits(3 if "RELU6" in chain.where else 1, output)
    last = chain.layers[-1]
    limits = max(low, last.limits[0]), min(high, last.limits[1])
    chain.layers[-1] = replace(last, limits=limits)


def _dense(chain: _Chain, inputs: list[int], output: int, options: FlatTable) -> None:
    """Take FULLY_CONNECTED."""
    weights = chain.constant(_at(inputs, 1), _INT8)
    size = weights.shape[-1]
    shape = chain.layers[-1].output_shape if chain.layers else (1, 1, size)
    if weights.ndim != 2 or math.prod(shape) != size or options.number(1, "b"):
        raise chain.refused(f"has weights of the shape {weights.shape} for {shape} values")
    if math.prod(chain.tensor(inputs[0]).shape) != size:
        raise chain.refused("computes several points at once")
    parts = shape, weights.reshape(-1, *shape), (1, 1), options.number(0, "b")
    chain.layers.append(replace(_layer(chain, inputs, output, parts), rounds_once=True))


def _convolution(chain: _Chain, inputs: list[int], output: int, options: FlatTable) -> None:
    """Take CONV_2D and DEPTHWISE_CONV_2D."""
    depthwise = "DEPTHWISE" in chain.where
    shape, turned = chain.image(inputs[0])
    weights = chain.constant(_at(inputs, 1), _INT8)
    if weights.ndim != 4 or (depthwise and len(weights) != 1):
        raise chain.refused(f"has weights of the shape {weights.shape}")
    if depthwise:
        weights = _by_channel(chain, weights[0], shape[2])
    first = 5 if depthwise else 4
    if (options.number(first, "i", 1), options.number(first + 1, "i", 1)) != (1, 1):
        raise chain.refused("has windows with gaps (dilation)")
    stride = options.number(2, "i"), options.number(1, "i")
    if turned:
        weights, stride = weights.swapaxes(1, 2), stride[::-1]
    activation = options.number(4 if depthwise else 3, "b")
    same = options.number(0, "b") == _SAME
    chain.layers.append(
        _layer(chain, inputs, output, (shape, weights, stride, activation), same=same)
    )


def _by_channel(chain: _Chain, weights: NDArray[Any], channels: int) -> NDArray[Any]:
    """Return weights (h, w, out) as (out, h, w, 1), or with zeros for several outputs a channel."""
    wide = np.moveaxis(weights, -1, 0)[..., None]
    each, rest = divmod(len(wide), channels)
    if rest or not each:
        raise chain.refused(f"has {len(wide):,} outputs for {channels:,} channels")
    if each == 1:
        return wide
    full = np.zeros((*wide.shape[:3], channels), np.int8)
    for o, own in enumerate(wide):
        full[o, :, :, o // each] = own[..., 0]
    return full


def _pooling(chain: _Chain, inputs: list[int], output: int, options: FlatTable) -> None:
    """Take MAX_POOL_2D and AVERAGE_POOL_2D."""
    chain.same_scale(inputs[0], output)
    shape, turned = chain.image(inputs[0])
    stride = options.number(2, "i"), options.number(1, "i")
    window = options.number(4, "i"), options.number(3, "i")
    if turned:
        stride, window = stride[::-1], window[::-1]
    if not all(1 <= side <= most for side, most in zip(window, shape[:2], strict=True)):
        raise chain.refused(f"has windows of {window[0]}x{window[1]} pixels")
    if options.number(0, "b") == _SAME and any(map(any, _margins(shape, window, stride))):
        raise chain.refused("pools with padding")
    limits = chain.limits(options.number(5, "b"), output)
    if "MAX" in chain.where:
        if stride != window or limits != (0, 255):
            raise chain.refused("has windows that overlap, or an activation")
        chain.layers.append(IntegerPooling(shape, window, "maximum", 255))
        return
    area, channels, zero = math.prod(window), shape[2], chain.tensor(output).zero
    full = np.ones(channels, np.int64)
    # More than 2^31 / area, so that halves are rounded away from the byte 128, which is 0.
    layer = IntegerInt8Layer(
        shape,
        np.ones((channels, *window, 1), np.int8),
        -INT8_ZERO * area * full,
        (2**31 // area + 1) * full if area > 1 else (2**31 - 1) * full,
        0 * full,
        INT8_ZERO,
        limits,
        stride,
        padding_value=zero,
        rounds_once=True,
    )
    chain.layers.append(layer)


_Parts = tuple[ImageShape, NDArray[Any], Pair, int]


def _layer(
    chain: _Chain, inputs: list[int], output: int, parts: _Parts, *, same: bool = False
) -> IntegerInt8Layer:
    """Return a layer of a shape, weights, stride and activation."""
    shape, weights, stride, activation = parts
    given, made, own = (chain.tensor(n) for n in (inputs[0], output, _at(inputs, 1)))
    if own.scales.size not in (1, len(weights)) or own.zeros.any() or min(stride) < 1:
        raise chain.refused("has weights with zero points, or steps of 0")
    if not ((own.scales > 1e-30) & (own.scales < 1e30)).all():
        raise chain.refused("has weights with a scale out of range")
    bias = np.zeros(len(weights), np.int64)
    if len(inputs) > 2 and inputs[2] >= 0:
        bias = bias + chain.constant(inputs[2], _INT32).ravel()
    # In double precision, as the reference computes them.
    real = np.float64(given.scale) * own.scales.astype(np.float64) / np.float64(made.scale)
    scales = [_multiplier(each) for each in np.broadcast_to(real, len(weights)).tolist()]
    folded = given.zero * weights.astype(np.int64).sum(axis=(1, 2, 3))
    margins = _margins(shape, weights.shape[1:3], stride) if same else ((0, 0), (0, 0))
    return IntegerInt8Layer(
        shape,
        weights,
        bias - folded,
        np.array([multiplier for multiplier, _ in scales]),
        np.array([shift for _, shift in scales]),
        made.zero,
        chain.limits(activation, output),
        stride,
        margins,
        given.zero,
    )


def _multiplier(real: float) -> Pair:
    """Return a factor as a multiplier of 31 bits and a shift to the right."""
    fraction, exponent = math.frexp(real)
    multiplier = _rounded(fraction * 2**31)
    if multiplier == 2**31:
        multiplier, exponent = multiplier // 2, exponent + 1
    return (1, MOST_RIGHT) if exponent < -MOST_RIGHT else (multiplier, -exponent)


def _margins(shape: ImageShape, window: tuple[int, ...], stride: Pair) -> tuple[Pair, Pair]:
    """Return the padding on each side with which every pixel, or every second one, has a window."""
    pairs = []
    for size, side, step in zip(shape[:2], window, stride, strict=True):
        total = max((-(-size // step) - 1) * step + side - size, 0)
        pairs.append((total // 2, total - total // 2))
    return pairs[0], pairs[1]


def _rounded(number: float) -> int:
    """Return a number rounded to nearest, halves away from 0."""
    return math.floor(abs(number) + 0.5) * (1 if number >= 0 else -1)


def _at(inputs: list[int], place: int) -> int:
    return inputs[place] if place < len(inputs) else -1


_OF_SHAPES = ("SHAPE", "STRIDED_SLICE", "PACK")  # they compute the shapes that RESHAPE has anyway
_Take = Callable[[_Chain, list[int], int, FlatTable], None]
_OPERATORS: dict[int, tuple[str, _Take | None]] = {
    1: ("AVERAGE_POOL_2D", _pooling),
    3: ("CONV_2D", _convolution),
    4: ("DEPTHWISE_CONV_2D", _convolution),
    6: ("DEQUANTIZE", _decision),
    9: ("FULLY_CONNECTED", _dense),
    14: ("LOGISTIC", _decision),
    17: ("MAX_POOL_2D", _pooling),
    19: ("RELU", _rectified),
    21: ("RELU6", _rectified),
    22: ("RESHAPE", _unchanged),
    25: ("SOFTMAX", _decision),
    43: ("SQUEEZE", _unchanged),
    45: ("STRIDED_SLICE", None),
    56: ("ARG_MAX", _decision),
    70: ("EXPAND_DIMS", _unchanged),
    77: ("SHAPE", None),
    83: ("PACK", None),
    114: ("QUANTIZE", _input),
}
"""By their numbers: their names, and what takes them."""
