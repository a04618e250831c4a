"""A network in floats, a `FloatNetwork`, that grows layer by layer from a graph in ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from protonn_edge.extensions.conversion.networks.networks import MOST_HIDDEN, FloatNetwork
from protonn_edge.extensions.conversion.networks.onnx_chain import (
    Float64,
    OnnxChain,
    Reader,
    Window,
    check_apart,
)
from protonn_edge.extensions.conversion.networks.onnx_file import Node, OnnxGraph
from protonn_edge.extensions.conversion.reading import LARGEST
from protonn_edge.features.convolution.integers import SIDES, STRIDES
from protonn_edge.features.convolution.train.layers import Convolution, Pooling, Rectifier
from protonn_edge.features.convolution.train.notation import ConvolutionLayout, PoolingLayout
from protonn_edge.kinds.dense.integers import MOST_UNITS
from protonn_edge.model.checks import only_zeros
from protonn_edge.model.integer_stage import check_counts
from protonn_edge.system.errors import InputError

_MOST_PRODUCTS = 2**32  # of all matrices that are joined


class NetworkBuilder(OnnxChain):
    """A network in floats; its layers are folded into each other where possible."""

    def __init__(self, graph: OnnxGraph, readers: Mapping[str, Reader]) -> None:
        super().__init__(graph, readers)
        n = self.places.size
        # The present values are the layers' values times `scale` plus `shift`, by place, except
        # for what is folded into a layer.
        self.scale, self.shift = np.ones(n), np.zeros(n)
        self.before = np.ones(1), np.zeros(1)  # of the first layer's channels: scale and shift
        self.matrices: list[tuple[Float64, Float64]] = []
        self.linear = False  # whether the last layer's sums are not rectified yet
        self._products = _MOST_PRODUCTS

    def network(self) -> FloatNetwork:
        """Return the network; raises `InputError` that names a node without a counterpart."""
        self.walk()
        check_counts(classes=self.places.size)
        if not (self.matrices and self.linear):
            self.multiply(None, np.eye(self.places.size), np.zeros(self.places.size))
        weights = tuple(W.astype(np.float32) for W, _ in self.matrices)
        if not all(W.any() for W in weights):
            raise only_zeros(
                f"a matrix of {self.graph.what}",
                "train the network again, and export its trained weights",
            )
        biases = tuple(b.astype(np.float32) for _, b in self.matrices)
        scale, shift = (each.astype(np.float32) for each in self.before)
        layers = tuple(self.layers)
        return FloatNetwork(layers, self.image, weights, biases, self.order, scale, shift)

    def as_image(self, node: Node) -> None:
        """See `OnnxChain.as_image`."""
        first = self.image is None
        super().as_image(node)
        if first:
            self.scale, self.shift = self.scale[self.order], self.shift[self.order]

    def convolve(self, node: Node, W: Float64, bias: Float64, window: Window) -> None:
        """Append a convolution with weights W (out, h, w, channels), or 1 channel if depthwise."""
        channels, depthwise = self.shape[2], W.shape[3] < self.shape[2]
        if depthwise and len(W) != channels:
            raise node.unsupported(
                f"is depthwise and has {len(W)} outputs for {channels} channels",
                "use one output for each channel",
            )
        layout = _layout(node, W, window, depthwise=depthwise)
        if self.linear:
            raise node.unsupported("follows a Conv without a Relu in between", "add a Relu")
        scale, shift = (self.channels(node, each) for each in (self.scale, self.shift))
        if not self.layers:  # the first layer may pad its image
            self.before, scale, shift = (scale, shift), np.ones(channels), np.zeros(channels)
        if layout.padded and shift.any():
            raise node.unsupported(
                "has zero padding, but a normalization after the Relu has shifted its input",
                "normalize before the Relu",
            )
        per_channel = (len(W), 1, 1, 1) if depthwise else (1, 1, 1, channels)
        bias = bias + (W * shift.reshape(per_channel)).sum(axis=(1, 2, 3))
        W = W * scale.reshape(per_channel)
        layer = Convolution(layout, W.astype(np.float32), bias.astype(np.float32))
        self.append(node, layer, (*window.places, len(W)))
        self._rescale(np.ones(len(W)), np.zeros(len(W)))
        self.linear = True

    def pool(self, node: Node, average: bool, window: Window) -> None:
        """Append averages, or maxima, of windows that do not overlap."""
        check_apart(node, window)
        scale, shift = (self.channels(node, each) for each in (self.scale, self.shift))
        if not average and (scale < 0).any():
            raise node.unsupported(
                "takes the maximum of values that were multiplied by negative factors",
                "normalize before the Relu",
            )
        layout = PoolingLayout(average, window.sides == self.shape[:2], window.sides)
        self.append(node, Pooling(layout), (*window.places, self.shape[2]))
        self._rescale(scale, shift)

    def rectify(self, node: Node, low: float, high: float) -> None:
        """Clip values at 0 and `high`, before any maximum pooling, where values are still sums."""
        limited = high < LARGEST
        if low != 0 or high <= 0 or (limited and self.matrices):
            raise node.unsupported(
                f"limits values to {low:g}..{high:g}", "use a Relu, or a Clip from 0 after a Conv"
            )
        behind = len(self.layers)
        while behind and isinstance(self.layers[behind - 1], Pooling):
            behind -= 1
        moved = bool((self.scale != 1).any() or self.shift.any())
        if moved or not (behind or self.matrices):
            raise node.unsupported("follows no Conv or Gemm", "move the node after one of these")
        if not self.matrices and (self.linear or limited):
            if any(each.layout.average for each in self.layers[behind:]):
                raise node.unsupported("follows an average pooling", "move the node before it")
            last, most = self.layers[behind - 1], high if limited else None
            if isinstance(last, Rectifier):
                self.layers[behind - 1] = Rectifier(min(filter(None, (most, last.largest))))
            else:
                self.layers.insert(behind, Rectifier(most))
        self.linear = False

    def move(self, node: Node, scale: Float64, shift: Float64) -> None:
        """Multiply the present values by `scale` and add `shift`, both by place."""
        last = self.layers[-1] if self.layers else None
        if self.matrices and self.linear:
            W, b = self.matrices[-1]
            self.matrices[-1] = W * scale[:, None], b * scale + shift
        elif self.linear and isinstance(last, Convolution):
            factors, shifts = (
                self.channels(node, row).astype(np.float32) for row in (scale, shift)
            )
            weights = last.weights * factors[:, None, None, None]
            biases = last.biases * factors + shifts
            self.layers[-1] = replace(last, weights=weights, biases=biases)
        else:
            self.scale, self.shift = self.scale * scale, self.shift * scale + shift

    def _rescale(self, scale: Float64, shift: Float64) -> None:
        """Set the factors and shifts of channels that later layers must fold in."""
        pixels = self.places.size // len(scale)
        self.scale, self.shift = np.tile(scale, pixels), np.tile(shift, pixels)

    def multiply(self, _node: Node | None, W: Float64, b: Float64) -> None:
        """Append the matrix W (out, in), or join it with one that is right before it."""
        joined = bool(self.matrices and self.linear)
        if len(W) > MOST_UNITS or len(self.matrices) > MOST_HIDDEN + joined:
            raise InputError(
                f"{self.graph.what} has a Gemm or MatMul with {len(W):,} outputs after "
                f"{len(self.matrices) - joined} hidden layers; use at most {MOST_UNITS} outputs "
                f"and {MOST_HIDDEN} hidden layers"
            )
        if joined:
            before, bias = self.matrices.pop()
            self._products -= len(W) * before.size
            if self._products < 0:
                raise InputError(
                    f"{self.graph.what} has large matrices without a Relu between them; multiply "
                    "the matrices before you export the network"
                )
        ours = np.zeros_like(W)
        ours[:, self.places.ravel()] = W
        b = b + ours @ self.shift
        ours = ours * self.scale
        if joined:
            ours, b = ours @ before, ours @ bias + b
        self.matrices.append((ours, b))
        self.linear = self.flat = True
        self.places = np.arange(len(b))
        self.scale, self.shift = np.ones(len(b)), np.zeros(len(b))


def _layout(node: Node, W: Float64, window: Window, *, depthwise: bool) -> ConvolutionLayout:
    """Return kernel, stride and padding of a convolution, if the device supports them."""
    height, width = W.shape[1:3]
    stride, across = window.strides
    around = tuple(((side - 1) // 2,) * 2 for side in (height, width))
    padded = any(map(any, window.margins))
    alike = stride == across and (not padded or window.margins == around)
    if not alike or not {height, width} <= {*SIDES} or stride not in STRIDES:
        raise node.unsupported(
            f"has a kernel of {height}x{width}, strides {list(window.strides)} and pads "
            f"{window.margins}",
            "use a kernel with sides of 1, 3 or 5, a stride of 1 or 2, and either no padding or "
            "(side - 1) / 2 pixels of padding on all sides",
        )
    return ConvolutionLayout(None if depthwise else len(W), (height, width), stride, padded)
