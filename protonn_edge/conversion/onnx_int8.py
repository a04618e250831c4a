"""A network in ONNX with pairs of QuantizeLinear and DequantizeLinear: int8 layers as they are.

A layer is made where its values are quantized again; its sums are those of int8 values and weights.
In ONNX, its values are real sums divided by a scale, halves rounded to even. Here they are whole
sums times a factor of 31 bits, halves rounded up. The factor is the one that onnxruntime's fused
operators have: it has 24 bits, so that nothing else is rounded. Both differ by one if a sum times
the factor is a half, or within the precision of onnxruntime's floats of one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import check_counts
from protonn_edge.conversion.int8_network import (
    INT8_ZERO,
    Int8Network,
    Pair,
    by_channel,
    int8_layer,
    narrowed,
)
from protonn_edge.conversion.onnx_chain import Float64, OnnxChain, Reader, Window, check_plain
from protonn_edge.conversion.onnx_decision import Decision
from protonn_edge.conversion.onnx_file import FLOATS, Node, OnnxGraph
from protonn_edge.errors import InputError
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.images.image_rows import ImageShape
from protonn_edge.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.features.pooling.integers import IntegerPooling

_TYPES = {"uint8": 2, "int8": 3}  # ONNX's numbers of types
_RANGE = 1e-30, 1e30  # of scales
_FINE = np.arange(64, 128)  # weights of values that are only scaled or moved; one suits the bias
_ALL = -math.inf, math.inf  # limits of real values that have none
_QUANTIZED = "quantize its weights, inputs and outputs, as onnxruntime's quantize_static does"
Float32 = NDArray[np.float32]


class Scale(NamedTuple):
    """How real values are bytes."""

    step: np.float32
    zero: int  # the byte of 0

    def byte(self, real: float) -> int:
        """Return the byte of a real number, as QuantizeLinear rounds it."""
        steps = float(np.rint(np.float32(real) / self.step))
        return int(min(max(steps + self.zero, 0.0), 255.0))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Real values that are sums of bytes, and not quantized yet."""

    shape: ImageShape  # of their input
    weights: NDArray[np.int8]
    units: Float32  # (out,): the real values of a step of the sums
    bias: Float64  # (out,)
    others: dict[str, Any] = field(default_factory=dict)  # fields of the layer


class Int8Builder(OnnxChain):
    """A network of int8 layers; its present values are bytes, real ones, or sums."""

    def __init__(self, graph: OnnxGraph, readers: Mapping[str, Reader]) -> None:
        super().__init__(graph, readers)
        self.first: Scale | None = None  # of the input
        self.given = Scale(np.float32(1), 0)  # of the present bytes
        self.pending: Node | None = None  # which made real values that are not quantized yet
        self.sums: _Sums | None = None  # that they are, if they are not those of bytes
        self.limits = _ALL  # of them
        self._steps: dict[str, Float32] = {}  # of constants, as they were in integers

    def network(self) -> Int8Network:
        """Return the network; raises `InputError` with the node that has no counterpart."""
        self.walk()
        if not self.layers or self.first is None:
            raise InputError(
                f"{self.graph.what} has no layers between its QuantizeLinear nodes; {_QUANTIZED}"
            )
        step, zero = self.first
        pixels = PixelScale(float(-zero * step), step, to_even=True)
        output = float(self.given.step), self.given.zero
        network = Int8Network(tuple(self.layers), pixels, *output, self.order)
        check_counts(features=network.n_inputs, classes=network.n_classes)
        return network

    def decide(self, scores: str) -> Decision:
        """See `OnnxChain.decide`."""
        if self.pending is not None:
            raise self.pending.unsupported("gives scores that are not quantized", _QUANTIZED)
        return super().decide(scores)

    def fold(self, node: Node) -> None:
        """See `OnnxChain.fold`; keep the scales of weights."""
        super().fold(node)
        if node.operator == "DequantizeLinear":
            steps = self.constants[node.inputs[1]].ravel().astype(np.float32)
            self._steps[node.outputs[0]] = steps
        elif node.inputs and node.inputs[0] in self._steps:  # in another shape
            self._steps[node.outputs[0]] = self._steps[node.inputs[0]]

    def finish(self, node: Node, made: Scale) -> None:
        """Append the layer of a node's values, which are quantized with this scale."""
        limits = made.byte(self.limits[0]), made.byte(self.limits[1])
        last = self.layers[-1] if self.layers else None
        if self.sums is None and made == self.given and isinstance(last, IntegerInt8Layer):
            self.layers[-1] = narrowed(last, limits)
        else:
            one = np.ones(self.places.size)
            sums = self.sums or self._scaled(node, one, 0 * one)
            bias = np.rint(sums.bias / sums.units.astype(np.float64)).astype(np.int64)
            scales = (sums.units / made.step).astype(np.float64)
            parts = sums.shape, sums.weights, bias, scales, (self.given.zero, made.zero)
            with _naming(node):
                layer = int8_layer(*parts, limits=limits, rounds_once=True, **sums.others)
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
            weights = by_channel(weights, self.shape[2])
        moves = {"stride": window.strides, "margins": window.margins}
        sums = _Sums(self.shape, weights, units, bias, moves)
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

    def pool(self, node: Node, average: bool, window: Pair, places: Pair) -> None:
        """See `NetworkBuilder.pool`."""
        self._check_real(node)
        shape, channels = (*places, self.shape[2]), self.shape[2]
        if not average:
            with _naming(node):
                layer = IntegerPooling(self.shape, window, "maximum", 255)
            self.append(node, layer, shape)
            return
        weights = np.ones((channels, *window, 1), np.int8)
        units = np.full(channels, self.given.step / np.float32(math.prod(window)))
        moves = {"stride": window}
        self._wait(node, _Sums(self.shape, weights, units, np.zeros(channels), moves), shape)

    def rectify(self, node: Node, low: float, high: float) -> None:
        """Limit the present values."""
        if self.pending is None:
            self._check_real(node)
        if not low <= high:
            raise node.unsupported(f"limits values to {low:g}..{high:g}")
        self.pending = self.pending or node
        least, most = (min(max(end, low), high) for end in self.limits)
        self.limits = least, most

    def move(self, node: Node, scale: Float64, shift: Float64) -> None:
        """See `NetworkBuilder.move`."""
        if self.pending is None:
            self._check_real(node)
            self.pending, self.sums = node, self._scaled(node, scale, shift)
        elif self.sums is None or (scale != 1).any() or self.limits != _ALL:
            raise node.unsupported("changes values that are not quantized", _QUANTIZED)
        else:
            self.sums = replace(self.sums, bias=self.sums.bias + self.channels(node, shift))

    def _scaled(self, node: Node, scale: Float64, shift: Float64) -> _Sums:
        """Return the present values times factors plus shifts, by place, as sums."""
        if self.image is None and self.places.ndim > 1:
            self.as_image(node)
            self.lay_out(node, self.shape)  # signals without an axis of pixels
            scale, shift = scale[self.order], shift[self.order]
        elif self.image is None:
            self.image = self.shape = 1, 1, self.places.size
        factors, bias = self.channels(node, scale), self.channels(node, shift)
        steps = self.given.step * np.where(factors == 0, 1, np.abs(factors)).astype(np.float32)
        whole = bias / steps * _FINE[:, None]
        size = _FINE[np.abs(whole - np.rint(whole)).argmin(axis=0)]
        weights = (size * np.sign(factors)).astype(np.int8)[:, None, None, None]
        return _Sums(self.shape, weights, steps / size.astype(np.float32), bias)

    def _weights(self, node: Node, W: Float64) -> tuple[NDArray[np.int8], Float32]:
        """Return weights (out, ...) as they were before they were dequantized, and sums' units."""
        self._check_real(node)
        steps = self._steps.get(node.inputs[1], np.zeros(1, np.float32))
        along = np.resize(steps, len(W)).reshape(-1, *(1,) * (W.ndim - 1))
        whole = W / along
        known = steps.size in (1, len(W)) and bool((steps > _RANGE[0]).all())
        if not known or (whole != np.rint(whole)).any() or np.abs(whole + 0.5).max() > INT8_ZERO:
            raise node.unsupported(
                "has weights that are not int8, with one scale or one for each output", _QUANTIZED
            )
        return whole.astype(np.int8), along.ravel() * self.given.step

    def _check_real(self, node: Node) -> None:
        """Refuse a layer whose input is not dequantized."""
        if self.first is None or self.types != FLOATS or self.pending is not None:
            raise node.unsupported("takes values that are not quantized", _QUANTIZED)


@contextmanager
def _naming(node: Node) -> Iterator[None]:
    """Make the refusal of a layer name its node."""
    try:
        yield
    except InputError as error:
        why = str(error).partition(";")[0].removeprefix("the integer model ")
        raise node.unsupported(why, "use smaller images, windows or weights") from error


def _quantize(net: Int8Builder, node: Node) -> None:
    """Take a QuantizeLinear: it makes bytes of the input, or of the last layer's sums."""
    made, types = _scale(net, node)
    if net.types != FLOATS:
        raise node.unsupported("quantizes integers", "leave it out")
    if net.first is None:
        net.first = made
    elif net.pending is not None or made != net.given:
        net.finish(net.pending or node, made)
    net.given, net.types = made, types


def _dequantize(net: Int8Builder, node: Node) -> None:
    """Take a DequantizeLinear: it makes real values of bytes."""
    if _scale(net, node) != (net.given, net.types):
        raise node.unsupported(
            "has another scale or type than the QuantizeLinear before it, or follows none",
            "begin the network with QuantizeLinear, and dequantize with the same scale",
        )
    net.types = FLOATS


def _scale(net: Int8Builder, node: Node) -> tuple[Scale, tuple[int, ...]]:
    """Return the scale of a QuantizeLinear or DequantizeLinear, and its type of integers."""
    check_plain(node)
    node.attribute("axis")  # of several scales
    step = net.numbers(node, 1, "f")
    zero = net.numbers(node, 2, "iu") if any(node.inputs[2:]) else np.zeros(1, np.uint8)
    kind = zero.dtype.name
    if step.size != 1 or zero.size != 1 or kind not in _TYPES:
        raise node.unsupported("has several scales, or not 8 bits", "quantize to int8 or uint8")
    if not _RANGE[0] < step.item() < _RANGE[1]:
        raise node.unsupported(f"has the scale {step.item():g}", "quantize the network again")
    byte = zero.item() + (INT8_ZERO if kind == "int8" else 0)
    return Scale(np.float32(step.item()), byte), (_TYPES[kind],)


QUANTIZATION: dict[str, Reader] = {"QuantizeLinear": _quantize, "DequantizeLinear": _dequantize}
