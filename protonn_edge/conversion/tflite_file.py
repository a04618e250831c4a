"""Read a TensorFlow Lite file: its tensors, and the chain that its operators form.

The numbers of fields, operators and types come from TensorFlow Lite's schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.conversion.flatbuffer import FlatTable
from protonn_edge.conversion.int8_network import INT8_ZERO, Int8Network, Pair
from protonn_edge.errors import InputError
from protonn_edge.features.convolution.stage import Layer
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.images.image_rows import ImageShape
from protonn_edge.quantization import check_counts

LIMIT_BYTES = 16 * 2**20
FLOAT32, INT32, _UINT8, INT8 = 0, 2, 3, 9
_DTYPES = {FLOAT32: "f4", INT32: "i4", INT8: "i1"}
_ACTIVATIONS = {0: (None, None), 1: (0.0, None), 2: (-1.0, 1.0), 3: (0.0, 6.0)}
_MOST_WEIGHTS = 2**20  # weights of all layers; also values of an image
_MOST_AXES, _MOST_CHANNELS, _MOST_TENSORS = 8, 65_535, 64  # of a tensor, and of an operator
_PERCEPTIBLE = 1e-6  # relative difference of scales
_RESHAPES = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS")


class Tensor(NamedTuple):
    """A tensor, with its quantization."""

    table: FlatTable
    shape: tuple[int, ...]
    kind: int  # its type
    scales: NDArray[np.float32]
    zeros: NDArray[np.int64]

    @classmethod
    def of(cls, table: FlatTable) -> Tensor:
        """Return the tensor of a table."""
        shape, scaling = table.array(0, "i4", _MOST_AXES).tolist(), table.table(4)
        scales, zeros = (scaling.array(2 + n, ("f4", "i8")[n], _MOST_CHANNELS) for n in (0, 1))
        return cls(table, tuple(shape), table.number(1, "b"), scales, zeros)

    @property
    def scale(self) -> np.float32:
        """The scale of all values."""
        if self.scales.size != 1 or self.zeros.size != 1 or self.kind not in (INT8, _UINT8):
            raise InputError(
                f"tensor {self.table.text(3)[:40]!r} is not quantized to int8 with one scale; "
                "quantize the network with TensorFlow's converter, or write it as ONNX and "
                "convert that"
            )
        if not 1e-30 < float(self.scales[0]) < 1e30:
            raise InputError(f"tensor {self.table.text(3)[:40]!r} has a scale out of range")
        return np.float32(self.scales[0])

    @property
    def zero(self) -> int:
        """The zero point as a byte, 0..255."""
        zero = int(self.zeros[0]) + (INT8_ZERO if self.kind == INT8 else 0)
        if not 0 <= zero <= 255:
            raise InputError(f"tensor {self.table.text(3)[:40]!r} has a zero point out of range")
        return zero


def tensors_of(table: FlatTable, field: int) -> list[int]:
    """Return the numbers of the input or output tensors of a graph or an operator."""
    numbers: list[int] = table.array(field, "i4", _MOST_TENSORS).tolist()
    return numbers


@dataclass
class Chain:
    """The operators so far."""

    tensors: list[Tensor]
    buffers: list[FlatTable]
    inputs: list[int]
    operators: Mapping[int, tuple[str, Take | None]]  # names and readers, by number
    layers: list[Layer] = field(default_factory=list)
    decided: str = ""  # the operator that decides between scores
    scores: int = -1  # the tensor before it
    where: str = ""  # the operator in errors
    left: int = _MOST_WEIGHTS  # weights that may follow

    def __post_init__(self) -> None:
        if len(self.inputs) != 1:
            raise InputError(
                f"the network has {len(self.inputs)} inputs; use one with a single input"
            )
        self.first = self.inputs[0]
        self.same = {self.first}  # the tensors that hold the current values

    def add(self, number: int, code: int, operator: FlatTable) -> None:
        """Take the next operator."""
        name, take = self.operators.get(code, (f"number {code}", None))
        self.where = f"operator {number} ({name})"
        if take is None and code in self.operators:
            return
        inputs, outputs = tensors_of(operator, 1), tensors_of(operator, 2)
        if not self.same.issuperset(inputs[:1]) or not inputs or len(outputs) != 1:
            raise self.refused("does not continue a chain of operators")
        if take is None:
            known = ", ".join(name for name, take in self.operators.values() if take)
            raise self.refused(f"is not one of {known}")
        if self.decided and name != "DEQUANTIZE":
            raise self.refused(f"comes after {self.decided}, which must be the last one")
        take(self, inputs, outputs[0], operator.table(4))
        if self.layers and self.layers[-1].n_outputs > _MOST_WEIGHTS:
            raise self.refused(f"gives more than {_MOST_WEIGHTS:,} values")
        self.same = {*(self.same if name in _RESHAPES else ()), outputs[0]}

    def refused(self, why: str) -> InputError:
        """Return the error for the operator."""
        return InputError(
            f"{self.where} {why}; build the network without it, or write it as ONNX and convert "
            "that"
        )

    def tensor(self, number: int) -> Tensor:
        """Return a tensor of the operator."""
        if not 0 <= number < len(self.tensors):
            raise self.refused("has an input that is missing")
        return self.tensors[number]

    def constant(self, number: int, kind: int) -> NDArray[Any]:
        """Return the numbers of a constant tensor of this type."""
        tensor = self.tensor(number)
        if tensor.kind == FLOAT32:
            raise InputError(
                f"{self.where} computes in floats; quantize the network to int8 with TensorFlow's "
                "converter, or write it as ONNX and convert that"
            )
        place = tensor.table.number(2, "I")
        if tensor.kind != kind or place >= len(self.buffers) or min(tensor.shape, default=1) < 1:
            raise self.refused("has weights that are not int8, or biases that are not int32")
        self.reserve(math.prod(tensor.shape))
        numbers = self.buffers[place].array(0, "u1", LIMIT_BYTES)
        if math.prod(tensor.shape) * np.dtype(_DTYPES[kind]).itemsize != numbers.size:
            raise self.refused("has a number of values that does not match its shape")
        found: NDArray[Any] = numbers.view(f"<{_DTYPES[kind]}").reshape(tensor.shape)
        return found

    def reserve(self, weights: int) -> None:
        """Count the weights of an operator; refuse it if the network has too many."""
        self.left -= weights
        if self.left < 0:
            raise self.refused(f"exceeds the limit of {_MOST_WEIGHTS:,} weights in all")

    def network(self, outputs: list[int]) -> Int8Network:
        """Return the network, with the output of the last operator."""
        if len(outputs) != 1 or outputs[0] not in self.same or not self.layers:
            raise InputError("the network is not a chain of layers with one output")
        given = self.tensor(self.first)
        result = self.tensor(self.scores if self.decided else outputs[0])
        pixels = PixelScale(float(-given.zero * given.scale), given.scale)
        network = Int8Network(tuple(self.layers), pixels, float(result.scale), result.zero)
        check_counts(features=network.n_inputs, classes=network.n_classes)
        return network

    def image(self, number: int) -> tuple[ImageShape, bool]:
        """Return the shape of an image, and whether its height and width are exchanged.

        An image one pixel high becomes one pixel wide, which has the same bytes but short rows.
        """
        dimensions = self.tensor(number).shape
        if len(dimensions) == 3:  # samples with channels
            dimensions = (dimensions[0], 1, *dimensions[1:])
        if len(dimensions) != 4 or dimensions[0] != 1 or min(dimensions) < 1:
            raise self.refused(f"takes an input of shape {dimensions}, which is not an image")
        if math.prod(dimensions) > _MOST_WEIGHTS:
            raise self.refused(f"takes an image of more than {_MOST_WEIGHTS:,} values")
        height, width, channels = dimensions[1:]
        turned = width, height, channels
        if not self.layers:
            return (turned, True) if height == 1 else (dimensions[1:], False)
        made = self.layers[-1].output_shape
        if made != dimensions[1:] and (height != 1 or made != turned):
            raise self.refused(f"takes an image that differs from the previous one, {made}")
        return made, made != dimensions[1:]

    def stride(self, options: FlatTable, *, turned: bool) -> Pair:
        """Return the rows and pixels by which a window moves."""
        down, across = options.number(2, "i"), options.number(1, "i")
        if min(down, across) < 1:
            raise self.refused(f"moves its windows by {down}x{across} pixels")
        return (across, down) if turned else (down, across)

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
                byte = tensor.zero + rounded(float(np.float32(real) / tensor.scale))
            ends.append(min(max(byte, 0), 255))
        return ends[0], ends[1]


Take = Callable[[Chain, list[int], int, FlatTable], None]
"""Takes an operator with these inputs and this output into a chain."""


def rounded(number: float) -> int:
    """Return a number rounded to nearest, halves away from 0."""
    return math.floor(abs(number) + 0.5) * (1 if number >= 0 else -1)
