"""Read a TensorFlow Lite file as a graph of ONNX's operators.

A value that is int8 in the file gets a QuantizeLinear and a DequantizeLinear. Scales have 64 bits,
because TensorFlow Lite computes their products in double precision. The numbers of fields,
operators and types come from its schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.conversion.networks.flatbuffer import FlatTable
from protonn_edge.extensions.conversion.networks.int8_network import INT8_ZERO
from protonn_edge.extensions.conversion.networks.onnx_file import (
    MOST_AXES,
    MOST_VALUES,
    Node,
    OnnxGraph,
)
from protonn_edge.extensions.conversion.reading import LARGEST
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InputError, counted

IDENTIFIER = b"TFL3"
_INPUT = "input"
_FLOAT32, _FLOAT16, _INT32, _UINT8, _INT8 = 0, 1, 2, 3, 9
_DTYPES = {_FLOAT32: "f4", _FLOAT16: "f2", _INT32: "i4", _INT8: "i1"}
_MOST_CHANNELS, _MOST_TENSORS = 65_535, 64  # of a tensor, and of an operator
_PERCEPTIBLE = 1e-6  # relative difference of scales
_PADDING = b"SAME_UPPER", b"VALID"
# Fused activations: the operators, and their attributes.
_ACTIVATIONS: dict[int, tuple[str, dict[str, float]]] = {
    0: ("Identity", {}),
    1: ("Relu", {}),
    2: ("Clip", {"min": -1.0, "max": 1.0}),
    3: ("Clip", {"min": 0.0, "max": 6.0}),
}


class _Tensor(NamedTuple):
    """A tensor, with its quantization."""

    name: str
    shape: tuple[int, ...]
    kind: int  # its type
    buffer: int
    scales: NDArray[np.float64]
    zeros: NDArray[np.int64]

    @classmethod
    def of(cls, table: FlatTable) -> _Tensor:
        """Return the tensor of a table."""
        shape, scaling = table.array(0, "i4", MOST_AXES).tolist(), table.table(4)
        scales, zeros = (scaling.array(2 + n, ("f4", "i8")[n], _MOST_CHANNELS) for n in (0, 1))
        numbers = table.number(1, "b"), table.number(2, "I")
        return cls(table.text(3)[:40], tuple(shape), *numbers, scales.astype(np.float64), zeros)

    @property
    def byte_scale(self) -> tuple[float, int]:
        """The scale of all values, and the byte of their zero point."""
        zero = int(self.zeros[0]) if self.zeros.size == 1 else -1
        zero += INT8_ZERO if self.kind == _INT8 else 0
        if self.scales.size != 1 or self.kind not in (_INT8, _UINT8) or not 0 <= zero <= 255:
            raise InputError(
                f"tensor {self.name!r} is not quantized to int8 with one scale and zero point; "
                "quantize the network with TensorFlow's converter, or export it as ONNX and "
                "convert the ONNX file"
            )
        return float(self.scales[0]), zero


class _Operator(NamedTuple):
    """An operator of a file, with the numbers of its tensors."""

    name: str
    inputs: list[int]  # at least three; -1 if there is none
    output: int
    options: FlatTable


def tflite_graph(content: bytes, what: str) -> OnnxGraph:
    """Return the graph in a file's contents; errors call it `what`."""
    model = FlatTable.root(content, IDENTIFIER, what)
    graphs = list(model.tables(2))
    inputs = _numbers(graphs[0], 1) if graphs else []
    check(
        len(graphs) == len(inputs) == 1,
        what,
        f"{counted(len(graphs), 'graph')}, {counted(len(inputs), 'input')}",
        "one of each",
    )
    tensors = [_Tensor.of(each) for each in graphs[0].tables(0)]
    net = _Translation(tensors, list(model.tables(4)), inputs[0])
    codes = [max(each.number(0, "b"), each.number(3, "i")) for each in model.tables(1)]
    for number, each in enumerate(graphs[0].tables(3)):
        code = codes[place] if (place := each.number(0, "I")) < len(codes) else -1
        net.add(number, code, each)
    outputs = tuple(net.value(number) for number in _numbers(graphs[0], 2))
    shape = net.tensor(inputs[0]).shape[1:]
    return OnnxGraph(what, _INPUT, shape, tuple(net.nodes), net.constants, outputs)


def _numbers(table: FlatTable, field: int) -> list[int]:
    """Return the numbers of the input or output tensors of a graph or an operator."""
    numbers: list[int] = table.array(field, "i4", _MOST_TENSORS).tolist()
    return numbers


class _Translation:
    """The nodes so far, and the names of their values."""

    def __init__(self, tensors: list[_Tensor], buffers: list[FlatTable], given: int) -> None:
        self.nodes: list[Node] = []
        self.constants: dict[str, Array] = {}
        self.where = "the input"  # in errors: the operator
        self.decided = False  # whether an operator decides between scores
        self.sources: dict[int, int] = {}  # of tensors in float32, those in float16, by number
        # Height and width of the present image. They are exchanged if it is one pixel high, and the
        # first one is a line: an image that is one pixel wide has the same bytes, but short rows.
        self.axes: tuple[int, ...] = ()
        self._line = False
        self._tensors, self._buffers, self._left = tensors, buffers, MOST_VALUES
        self._values = {given: _INPUT}
        self._scales: dict[str, tuple[float, int]] = {}  # of values that are bytes, by name
        self._round(given)

    def add(self, number: int, code: int, table: FlatTable) -> None:
        """Take the next operator, with its number in TensorFlow Lite."""
        name, take = _OPERATORS.get(code, (_NOT_READ.get(code, f"number {code}"), None))
        self.where = f"operator {number} ({name})"
        if code not in _OPERATORS:
            supported = ", ".join(name for name, take in _OPERATORS.values() if take)
            raise self.refused(f"is not among the supported operators ({supported})")
        if take is not None:
            inputs, outputs = _numbers(table, 1), _numbers(table, 2)
            if len(outputs) != 1:
                raise self.refused(f"has {len(outputs):,} outputs instead of one")
            operator = _Operator(name, [*inputs, -1, -1, -1], outputs[0], table.table(4))
            self._values[outputs[0]] = take(self, operator)
            if not self.decided:
                self._round(outputs[0])

    def _round(self, number: int) -> None:
        """Round a value to the bytes of its tensor, unless it already has these."""
        tensor, value = self.tensor(number), self._values[number]
        if tensor.kind != _FLOAT32 and self._scales.get(value) != tensor.byte_scale:
            step, zero = tensor.byte_scale
            scale = self.constant(np.float64(step)), self.constant(np.int8(zero - INT8_ZERO))
            value = self.node("QuantizeLinear", value, *scale)
            value = self._values[number] = self.node("DequantizeLinear", value, *scale)
            self._scales[value] = step, zero

    def node(self, operator: str, *inputs: str, **attributes: object) -> str:
        """Append a node, and return its output."""
        output = f"value {len(self.nodes)}"
        self.nodes.append(Node(self.where, operator, inputs, (output,), attributes))
        return output

    def constant(self, values: object) -> str:
        """Add a constant, and return its name."""
        name = f"constant {len(self.constants)}"
        self.constants[name] = np.asarray(values)
        return name

    def value(self, number: int) -> str:
        """Return the value of a tensor."""
        return self._values.get(number, f"tensor {number}")

    def reshaped(self, number: int, *shape: int) -> str:
        """Return the value of a tensor in a shape."""
        return self.node("Reshape", self.value(number), self.constant(np.array(shape, np.int64)))

    def refused(self, why: str) -> InputError:
        """Return the error for the operator."""
        return InputError(
            f"{self.where} {why}; build the network without this operator, or export the network "
            "as ONNX and convert the ONNX file"
        )

    def tensor(self, number: int) -> _Tensor:
        """Return a tensor of the operator."""
        if not 0 <= number < len(self._tensors):
            raise self.refused("refers to a missing input")
        return self._tensors[number]

    def stored(self, number: int) -> Array:
        """Return the numbers of a constant tensor."""
        tensor = self.tensor(self.sources.get(number, number))
        kind = np.dtype(f"<{_DTYPES.get(tensor.kind, 'f4')}")
        size = math.prod(tensor.shape)
        valid = tensor.kind in _DTYPES and tensor.buffer < len(self._buffers)
        if not valid or min(tensor.shape, default=1) < 1:
            raise self.refused("has weights or biases that are not constants of 8 to 32 bits")
        self._left -= size
        content = self._buffers[tensor.buffer].array(0, "u1", kind.itemsize * MOST_VALUES)
        if self._left < 0 or size * kind.itemsize != content.size:
            raise self.refused(
                f"has {content.size:,} bytes of values for the shape {tensor.shape}, or the "
                f"network has more than {MOST_VALUES:,} constant values"
            )
        numbers: Array = content.view(kind).reshape(tensor.shape)
        if kind.kind == "f" and not (np.abs(numbers) <= LARGEST).all():
            raise self.refused("has a number that is not finite")
        return numbers.astype(np.float32) if tensor.kind == _FLOAT16 else numbers

    def image(self, operator: _Operator) -> str:
        """Return the image that an operator takes, with its channels first."""
        number = operator.inputs[0]
        shape = self.tensor(number).shape
        shape = (1, *shape) if len(shape) == 3 else shape  # samples with channels
        if len(shape) != 4:
            raise self.refused(f"takes an input of shape {shape}, which is not an image")
        self._line = self._line if self.axes else 1 in shape[1:3]
        self.axes = (2, 1) if self._line and shape[1] == 1 else (1, 2)
        return self.node("Transpose", self.reshaped(number, *shape), perm=[0, 3, *self.axes])

    def from_image(self, value: str) -> str:
        """Return an image with its channels last."""
        return self.node("Transpose", value, perm=[0, *(axis + 1 for axis in self.axes), 1])

    def activated(self, value: str, code: int) -> str:
        """Return a value after a fused activation."""
        if code not in _ACTIVATIONS:
            raise self.refused(f"has the activation {code}, which is not ReLU, ReLU6 or none")
        name, limits = _ACTIVATIONS[code]
        return self.node(name, value, **limits)


def _weights(net: _Translation, operator: _Operator, *axes: int) -> str:
    """Return the weights of an operator, with their axes in this order."""
    tensor, numbers = net.tensor(operator.inputs[1]), net.stored(operator.inputs[1])
    if numbers.ndim != len(axes):
        raise net.refused(f"has weights of shape {numbers.shape}, but must have {len(axes)} axes")
    name = net.constant(numbers.transpose(axes))
    if tensor.kind != _INT8:
        return name
    scaling = net.constant(tensor.scales), net.constant(tensor.zeros)
    return net.node("DequantizeLinear", name, *scaling, axis=0)


def _biases(net: _Translation, operator: _Operator, outputs: int) -> list[str]:
    """Return the biases of an operator, if it has some."""
    given, weights, number, *_ = operator.inputs
    if number < 0:
        return []
    biases = net.stored(number).ravel()
    if biases.size != outputs:
        raise net.refused(f"has {biases.size:,} biases for {outputs:,} outputs")
    if biases.dtype.kind == "i":  # steps of the sums
        biases = biases * (net.tensor(given).byte_scale[0] * net.tensor(weights).scales)
    return [net.constant(biases)]


def _sides(net: _Translation, operator: _Operator, *fields: int, default: int = 0) -> list[int]:
    """Return two numbers of an operator's options, for height and width, for an image."""
    return [operator.options.number(fields[axis - 1], "i", default) for axis in net.axes]


def _moves(net: _Translation, operator: _Operator) -> dict[str, object]:
    padding = _PADDING[operator.options.number(0, "b") != 0]
    return {"strides": _sides(net, operator, 2, 1), "auto_pad": padding}


def _check_scale(net: _Translation, operator: _Operator) -> None:
    """Refuse an operator that would scale bytes."""
    ends = net.tensor(operator.inputs[0]), net.tensor(operator.output)
    if _FLOAT32 not in {tensor.kind for tensor in ends}:
        (given, zero), (made, other) = (tensor.byte_scale for tensor in ends)
        if zero != other or not abs(given - made) <= _PERCEPTIBLE * made:
            raise net.refused("changes the scale of values")


def _unchanged(net: _Translation, operator: _Operator) -> str:
    """Take an operator that keeps values, perhaps in another shape or type."""
    _check_scale(net, operator)
    return net.value(operator.inputs[0])


def _dequantized(net: _Translation, operator: _Operator) -> str:
    """Take DEQUANTIZE: of a value, or of weights or biases in float16."""
    number = operator.inputs[0]
    if net.tensor(number).kind != _FLOAT16:
        return _unchanged(net, operator)
    net.sources[operator.output] = number
    return net.value(number)


def _decision(net: _Translation, operator: _Operator) -> str:
    """Take an operator that decides between scores, or keeps their order."""
    number, axes = operator.inputs[0], {}
    if operator.name == "ARG_MAX":
        axes = {"axis": net.stored(operator.inputs[1]).item()}
    scores = net.value(number) if net.decided else net.reshaped(number, *net.tensor(number).shape)
    net.decided = True
    return net.node(_DECISIONS[operator.name], scores, **axes)


def _rectified(net: _Translation, operator: _Operator) -> str:
    code = 3 if operator.name == "RELU6" else 1
    return net.activated(_unchanged(net, operator), code)


def _dense(net: _Translation, operator: _Operator) -> str:
    weights = _weights(net, operator, 0, 1)
    outputs, size = net.tensor(operator.inputs[1]).shape
    if operator.options.number(1, "b"):
        raise net.refused("has weights in a shuffled format")
    flat = net.reshaped(operator.inputs[0], 1, size)
    value = net.node("Gemm", flat, weights, *_biases(net, operator, outputs), transB=1)
    return net.activated(value, operator.options.number(0, "b"))


def _convolution(net: _Translation, operator: _Operator) -> str:
    """Take CONV_2D; its weights are (out, h, w, in)."""
    image, shape = net.image(operator), net.tensor(operator.inputs[1]).shape
    weights = _weights(net, operator, 0, 3, *net.axes)
    biases, apart = _biases(net, operator, shape[0]), _sides(net, operator, 5, 4, default=1)
    value = net.node("Conv", image, weights, *biases, dilations=apart, **_moves(net, operator))
    return net.activated(net.from_image(value), operator.options.number(3, "b"))


def _depthwise(net: _Translation, operator: _Operator) -> str:
    """Take DEPTHWISE_CONV_2D; its weights are (1, h, w, out)."""
    image, shape = net.image(operator), net.tensor(operator.inputs[1]).shape
    weights = _weights(net, operator, 3, 0, *net.axes)
    biases, apart = _biases(net, operator, shape[3]), _sides(net, operator, 6, 5, default=1)
    more = {"group": net.tensor(operator.inputs[0]).shape[-1], "dilations": apart}
    value = net.node("Conv", image, weights, *biases, **more, **_moves(net, operator))
    return net.activated(net.from_image(value), operator.options.number(4, "b"))


def _pooling(net: _Translation, operator: _Operator) -> str:
    _check_scale(net, operator)
    image, name = net.image(operator), _POOLING[operator.name]
    window = _sides(net, operator, 4, 3)
    value = net.node(name, image, kernel_shape=window, **_moves(net, operator))
    return net.activated(net.from_image(value), operator.options.number(5, "b"))


def _mean(net: _Translation, operator: _Operator) -> str:
    rank = len(net.tensor(operator.inputs[0]).shape)
    axes = net.stored(operator.inputs[1]).ravel() % rank
    if {*axes.tolist()} != {*range(1, rank - 1)}:
        raise net.refused("does not average all pixels of an image")
    return net.from_image(net.node("GlobalAveragePool", net.image(operator)))


_Take = Callable[[_Translation, _Operator], str]
"""Appends the nodes of an operator, and returns their value."""

_POOLING = {"AVERAGE_POOL_2D": "AveragePool", "MAX_POOL_2D": "MaxPool"}
_DECISIONS = {"LOGISTIC": "Sigmoid", "SOFTMAX": "Softmax", "ARG_MAX": "ArgMax"}
_OPERATORS: dict[int, tuple[str, _Take | None]] = {
    1: ("AVERAGE_POOL_2D", _pooling),
    3: ("CONV_2D", _convolution),
    4: ("DEPTHWISE_CONV_2D", _depthwise),
    6: ("DEQUANTIZE", _dequantized),
    9: ("FULLY_CONNECTED", _dense),
    14: ("LOGISTIC", _decision),
    17: ("MAX_POOL_2D", _pooling),
    19: ("RELU", _rectified),
    21: ("RELU6", _rectified),
    22: ("RESHAPE", _unchanged),
    25: ("SOFTMAX", _decision),
    40: ("MEAN", _mean),
    43: ("SQUEEZE", _unchanged),
    45: ("STRIDED_SLICE", None),
    56: ("ARG_MAX", _decision),
    70: ("EXPAND_DIMS", _unchanged),
    77: ("SHAPE", None),
    83: ("PACK", None),
    114: ("QUANTIZE", _unchanged),
}
"""Names and readers of operators, by number; others compute shapes that RESHAPE contains."""

_NOT_READ = {
    0: "ADD",
    2: "CONCATENATION",
    18: "MUL",
    28: "TANH",
    34: "PAD",
    39: "TRANSPOSE",
    41: "SUB",
    42: "DIV",
    44: "UNIDIRECTIONAL_SEQUENCE_LSTM",
    98: "LEAKY_RELU",
}
"""Names of others that networks often have, by number."""
