"""A graph with pairs of QuantizeLinear and DequantizeLinear, imported as int8 layers.

A layer ends where its values are quantized again; its sums are of int8 values and weights. In ONNX,
values are real sums divided by a scale, with halves rounded to even. Here, they are integer sums
times a factor of 31 bits, with halves rounded up. The factor is that of onnxruntime's fused
operators; it has 24 bits, so nothing else is rounded. The results differ by one if a sum times the
factor is a half, or as close to a half as the precision of onnxruntime's floats. Networks of
TensorFlow Lite follow the arithmetic of its reference kernels, without differences.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.conversion.features.int8_layer.integers import (
    MOST_RIGHT,
    IntegerInt8Layer,
)
from protonn_edge.extensions.conversion.networks.int8_network import (
    INT8_ZERO,
    Int8Network,
    Pair,
)
from protonn_edge.extensions.conversion.networks.onnx_chain import (
    Float64,
    OnnxChain,
    Reader,
    Window,
    check_apart,
    check_plain,
)
from protonn_edge.extensions.conversion.networks.onnx_decision import Decision
from protonn_edge.extensions.conversion.networks.onnx_file import FLOATS, Node, OnnxGraph
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.shapes import ImageShape
from protonn_edge.system.errors import InputError, lacking

_TYPES = {"uint8": 2, "int8": 3}  # ONNX's numbers of types
_RANGE = 1e-30, 1e30  # of scales
_FINE = np.arange(64, 128)  # weights of values that are only scaled or moved; one suits the bias
_ALL = -math.inf, math.inf  # limits of real values that have none
_WHOLE = Window((1, 1), (1, 1), (1, 1))  # a window that does not move
_AXES_MATTER = "Conv", "AveragePool", "MaxPool", "Transpose", "Flatten", "Reshape"
_QUANTIZED = (
    "quantize the weights, inputs and outputs of all layers, as onnxruntime's quantize_static does"
)
_BEFORE = "apply the node to the points instead, and quantize the network without it"
Steps = NDArray[np.floating[Any]]


class TensorScale(NamedTuple):
    """How real values are bytes."""

    step: np.floating[Any]
    zero: int  # the byte of 0

    def byte(self, real: float, *, to_even: bool | None) -> int:
        """Return the byte of a real number, as QuantizeLinear rounds it."""
        steps = min(max(float(np.float32(real) / np.float32(self.step)), -256.0), 256.0)
        away = math.copysign(math.floor(abs(steps) + 0.5), steps)
        whole = int(np.rint(steps) if to_even else away)
        return min(max(whole + self.zero, 0), BYTE_MAXIMUM)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Real values that are sums of bytes, and not quantized yet."""

    shape: ImageShape  # of their input
    weights: NDArray[np.int8]
    units: Steps  # (out,): the real values of a step of the sums
    bias: Float64  # (out,)
    window: Window = _WHOLE  # how their window moves
    rounds_once: bool = True
    divisor: int = 1  # of the sums, which is not part of `units`

    def layer(self, given: int, made: TensorScale, limits: Pair) -> IntegerInt8Layer:
        """Return their layer; `given`, the zero point of its input, becomes part of the bias."""
        bias = np.rint(self.bias / self.units.astype(np.float64)).astype(np.int64)
        bias -= given * self.weights.astype(np.int64).sum(axis=(1, 2, 3))
        scales = (self.units / made.step).astype(np.float64).tolist()
        factors = np.array([factor_of(each, self.divisor) for each in scales])
        return IntegerInt8Layer(
            *(self.shape, self.weights, bias, factors[:, 0], factors[:, 1], made.zero, limits),
            stride=self.window.strides,
            margins=self.window.margins,
            padding_value=given,
            rounds_once=self.rounds_once,
        )


class Int8Builder(OnnxChain):
    """A network of int8 layers; its present values are bytes, real ones, or sums."""

    longest = 0xFFFF  # each layer checks its own shape
    precision: type[np.floating[Any]] = np.float32  # of scales, and of their products
    to_even: bool | None = True  # how halves of inputs and limits are rounded; else away from 0
    rounds_once = True  # values of windows

    def __init__(self, graph: OnnxGraph, readers: Mapping[str, Reader]) -> None:
        super().__init__(graph, readers)
        self.first: TensorScale | None = None  # of the input
        self.given = TensorScale(self.precision(1), 0)  # of the present bytes
        self.pending: Node | None = None  # which made real values that are not quantized yet
        self.sums: _Sums | None = None  # that they are, if they are not those of bytes
        self.limits = _ALL  # of them
        self._steps: dict[str, Steps] = {}  # of constants, as they were in integers

    def network(self) -> Int8Network:
        """Return the network; raises `InputError` with the node that has no counterpart."""
        self.walk()
        if not self.layers or self.first is None:
            raise lacking(self.graph.what, "layers between its QuantizeLinear nodes", _QUANTIZED)
        step, zero = np.float32(self.first.step), self.first.zero
        pixels = PixelScale(float(-zero * step), step, self.to_even)
        output = float(self.given.step), self.given.zero
        return Int8Network(tuple(self.layers), pixels, *output, self.order)

    def decide(self, scores: str) -> Decision:
        """See `OnnxChain.decide`."""
        if self.pending is not None:
            raise self.pending.unsupported("outputs scores that are not quantized", _QUANTIZED)
        return super().decide(scores)

    def fold(self, node: Node) -> None:
        """See `OnnxChain.fold`; keep the scales of weights."""
        super().fold(node)
        if node.operator == "DequantizeLinear":
            steps = self.constants[node.inputs[1]].ravel().astype(self.precision)
            self._steps[node.outputs[0]] = steps
        elif node.inputs and node.inputs[0] in self._steps:  # in another shape
            self._steps[node.outputs[0]] = self._steps[node.inputs[0]]

    def finish(self, node: Node, made: TensorScale) -> None:
        """Append the layer of a node's values, which are quantized with this scale."""
        low, high = (made.byte(end, to_even=self.to_even) for end in self.limits)
        last = self.layers[-1] if self.layers else None
        if self.sums is None and made == self.given and isinstance(last, IntegerInt8Layer):
            least, most = (min(max(end, low), high) for end in last.limits)
            self.layers[-1] = replace(last, limits=(least, most))
        else:
            one = np.ones(self.places.size)
            sums = self.sums or self._scaled(node, one, 0 * one)
            with _naming(node):
                layer = sums.layer(self.given.zero, made, (low, high))
            places = self.places  # which may have another shape than the image
            self.append(node, layer, layer.output_shape)
            self.places = places
        self.pending, self.sums, self.limits = None, None, _ALL

    def _wait(self, node: Node, sums: _Sums, shape: ImageShape) -> None:
        """Take the sums of a node, which are quantized later, and their shape."""
        self.pending, self.sums = node, sums
        self.lay_out(node, shape)

    def convolve(self, node: Node, W: Float64, bias: Float64, window: Window) -> None:
        """See `NetworkBuilder.convolve`."""
        weights, units = self._weights(node, W)
        if weights.shape[3] < self.shape[2]:
            weights = _by_channel(weights, self.shape[2])
        sums = _Sums(self.shape, weights, units, bias, window, self.rounds_once)
        self._wait(node, sums, (*window.places, len(W)))

    def multiply(self, node: Node, W: Float64, b: Float64) -> None:
        """See `NetworkBuilder.multiply`."""
        weights, units = self._weights(node, W)
        if self.image is None:
            self.image = self.shape = 1, 1, W.shape[1]
        ours = np.zeros_like(weights)
        ours[:, self.places.ravel()] = weights
        sums = _Sums(self.shape, ours.reshape(-1, *self.shape), units, b)
        self._wait(node, sums, (1, 1, len(W)))
        self.places = np.arange(len(W))

    def pool(self, node: Node, average: bool, window: Window) -> None:
        """See `NetworkBuilder.pool`."""
        if average:
            _check_real(self, node)
            self.average(node, window, math.prod(window.sides))
            return
        _check_bytes(self, node)
        check_apart(node, window)
        with _naming(node):
            layer = IntegerPooling(self.shape, window.sides, "maximum", BYTE_MAXIMUM)
        self.append(node, layer, layer.output_shape)

    def average(self, node: Node, window: Window, area: int) -> None:
        """Take the averages of windows of `area` pixels."""
        self.add_up(node, window, self.given.step / self.precision(area))

    def add_up(self, node: Node, window: Window, unit: object, divisor: int = 1) -> None:
        """Take the sums of windows over `divisor`, by channel; a step of a sum is a `unit`."""
        channels = self.shape[2]
        weights, units = np.ones((channels, *window.sides, 1), np.int8), np.full(channels, unit)
        parts = self.shape, weights, units, np.zeros(channels), window, self.rounds_once
        self._wait(node, _Sums(*parts, divisor), (*window.places, channels))

    def rectify(self, node: Node, low: float, high: float) -> None:
        """Limit the present values."""
        if self.pending is None:
            _check_real(self, node)
        if not low <= high:
            raise node.unsupported(f"limits values to the empty range {low:g}..{high:g}")
        self.pending = self.pending or node
        least, most = (min(max(end, low), high) for end in self.limits)
        self.limits = least, most

    def move(self, node: Node, scale: Float64, shift: Float64) -> None:
        """See `NetworkBuilder.move`."""
        if self.pending is None:
            _check_real(self, node)
            self.pending, self.sums = node, self._scaled(node, scale, shift)
        elif self.sums is None or (scale != 1).any() or self.limits != _ALL:
            raise node.unsupported("changes values that are not quantized", _QUANTIZED)
        else:
            self.sums = replace(self.sums, bias=self.sums.bias + self.channels(node, shift))

    def _scaled(self, node: Node, scale: Float64, shift: Float64) -> _Sums:
        """Return the present values times factors plus shifts, by place, as sums."""
        if self.image is None and self.places.ndim > 1:
            turn = _coming_turn(self, node)
            self.places = self.places.transpose(turn)
            self.as_image(node)
            self.lay_out(node, self.shape)  # signals without an axis of pixels
            self.places = self.places.transpose(np.argsort(turn))
            scale, shift = scale[self.order], shift[self.order]
        elif self.image is None:
            self.image = self.shape = 1, 1, self.places.size
        factors, bias = self.channels(node, scale), self.channels(node, shift)
        steps = self.given.step * np.where(factors == 0, 1, np.abs(factors)).astype(self.precision)
        whole = bias / steps * _FINE[:, None]
        size = _FINE[np.abs(whole - np.rint(whole)).argmin(axis=0)]
        weights = (size * np.sign(factors)).astype(np.int8)[:, None, None, None]
        return _Sums(self.shape, weights, steps / size.astype(self.precision), bias)

    def _weights(self, node: Node, W: Float64) -> tuple[NDArray[np.int8], Steps]:
        """Return weights (out, ...) as they were before they were dequantized, and sums' units."""
        _check_real(self, node)
        steps = self._steps.get(node.inputs[1], np.zeros(1, self.precision))
        along = np.resize(steps, len(W)).reshape(-1, *(1,) * (W.ndim - 1))
        whole = W / along
        valid = steps.size in (1, len(W)) and bool((steps > _RANGE[0]).all())
        if not valid or (whole != np.rint(whole)).any() or np.abs(whole + 0.5).max() > INT8_ZERO:
            raise node.unsupported(
                "must have int8 weights with a single scale, or one scale per output",
                "run onnxruntime's quant_pre_process, then quantize_static with "
                "extra_options={'WeightSymmetric': True}",
            )
        return whole.astype(np.int8), along.ravel() * self.given.step


class TfliteBuilder(Int8Builder):
    """The same for networks of TensorFlow Lite, exactly as its reference kernels compute them."""

    precision = np.float64
    to_even = None
    rounds_once = False

    def _scaled(self, node: Node, scale: Float64, shift: Float64) -> _Sums:
        if self.image is None and self.places.ndim > 1:  # here, channels are innermost
            raise node.unsupported("changes values of the input", "move the node after a layer")
        return super()._scaled(node, scale, shift)

    def average(self, node: Node, window: Window, area: int) -> None:
        """Take averages, which have the scale of their inputs, or means."""
        if node.operator != "AveragePool":
            self.add_up(node, window, self.given.step, divisor=area)
            return
        # More than 2^31 / area, to round halves away from 0 (the byte 128); the difference
        # is too small to change the rounding of another sum.
        bits = max(0, 2 * area.bit_length() - 23)
        multiplier = 2 ** (31 + bits) // area + 1 if area > 1 else 2**31 - 1
        weights = np.ones((self.shape[2], *window.sides, 1), np.int8)
        bias, multipliers, shifts = (
            np.full(len(weights), number) for number in (-INT8_ZERO * area, multiplier, bits)
        )
        parts = self.shape, weights, bias, multipliers, shifts, INT8_ZERO, (0, BYTE_MAXIMUM)
        with _naming(node):
            layer = IntegerInt8Layer(*parts, stride=window.strides, rounds_once=True)
        self.append(node, layer, layer.output_shape)


def factor_of(real: float, divisor: int = 1) -> Pair:
    """Return a factor as a multiplier of 31 bits, halves rounded up, and a shift to the right.

    The multiplier is divided by `divisor` and rounded down.
    """
    fraction, exponent = math.frexp(real)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, exponent = multiplier // 2, exponent + 1
    if exponent < -MOST_RIGHT:
        multiplier, exponent = 1, -MOST_RIGHT
    bits = min(divisor.bit_length() - 1, MOST_RIGHT + exponent)
    return (multiplier << bits) // divisor, bits - exponent


def _by_channel(weights: NDArray[np.int8], channels: int) -> NDArray[np.int8]:
    """Return weights (out, h, w, 1), or with zeros for several outputs of each channel."""
    out = len(weights)
    own = np.arange(out)[:, None] * channels // out == np.arange(channels)
    return weights if out == channels else weights * own[:, None, None].astype(np.int8)


def _coming_turn(net: Int8Builder, node: Node) -> list[int]:
    """Return the order of axes that the next Transpose makes, if layers of images follow it."""
    axes, nodes = list(range(net.places.ndim)), net.graph.nodes
    axis_nodes = (each for each in nodes[nodes.index(node) :] if each.operator in _AXES_MATTER)
    first, second = (*axis_nodes, node, node)[:2]
    turn = [axis - 1 for axis in first.integers("perm", ())[1:]]
    of_images = second.operator in _AXES_MATTER[:3] and sorted(turn) == axes
    return turn if of_images else axes


def _check_bytes(net: Int8Builder, node: Node) -> None:
    """Refuse a layer whose input has no bytes; limits of bytes at 0 need no QuantizeLinear."""
    if net.pending is not None and net.sums is None and {*net.limits} <= {0.0, math.inf}:
        net.finish(net.pending, net.given)
    if net.first is None:
        raise node.unsupported("comes before the first QuantizeLinear", _BEFORE)
    if net.pending is not None:
        raise node.unsupported("takes values that are not quantized", _QUANTIZED)


def _check_real(net: Int8Builder, node: Node) -> None:
    """Refuse a layer whose input is not dequantized."""
    _check_bytes(net, node)
    if net.types != FLOATS:
        raise node.unsupported("takes values that are not dequantized", _QUANTIZED)


@contextmanager
def _naming(node: Node) -> Iterator[None]:
    """Make the refusal of a layer name its node."""
    try:
        yield
    except InputError as error:
        why = str(error).partition(";")[0].removeprefix("the integer model ")
        raise node.unsupported(
            why, "use smaller images or kernels, or weights of smaller magnitude"
        ) from error


def _quantize(net: Int8Builder, node: Node) -> None:
    """Take a QuantizeLinear: it makes bytes of the input, or of the last layer's sums."""
    made, types = _scale(net, node)
    if net.types != FLOATS:
        raise node.unsupported("quantizes values that are already integers", "remove the node")
    if net.first is None:
        net.first = made
    elif net.pending is not None or made != net.given:
        net.finish(net.pending or node, made)
    net.given, net.types = made, types


def _dequantize(net: Int8Builder, node: Node) -> None:
    """Take a DequantizeLinear: it makes real values of bytes."""
    if _scale(net, node) != (net.given, net.types):
        raise node.unsupported(
            "does not follow a QuantizeLinear of the same scale and type",
            "begin the network with QuantizeLinear, and dequantize with its scale and type",
        )
    net.types = FLOATS


def _scale(net: Int8Builder, node: Node) -> tuple[TensorScale, tuple[int, ...]]:
    """Return the scale of a QuantizeLinear or DequantizeLinear, and its type of integers."""
    check_plain(node)
    node.attribute("axis")  # of several scales
    step = net.numbers(node, 1, "f")
    zero = net.numbers(node, 2, "iu") if any(node.inputs[2:]) else np.zeros(1, np.uint8)
    kind = zero.dtype.name
    if step.size != 1 or zero.size != 1 or kind not in _TYPES:
        raise node.unsupported(
            "has several scales, or values that do not have 8 bits",
            "quantize to int8 or uint8 with one scale",
        )
    if not _RANGE[0] < step.item() < _RANGE[1]:
        raise node.unsupported(
            f"has the scale {step.item():g}, but the limits are {_RANGE[0]:g} and {_RANGE[1]:g}",
            "quantize the network again",
        )
    byte = zero.item() + (INT8_ZERO if kind == "int8" else 0)
    return TensorScale(net.precision(step.item()), byte), (_TYPES[kind],)


QUANTIZATION: dict[str, Reader] = {"QuantizeLinear": _quantize, "DequantizeLinear": _dequantize}
