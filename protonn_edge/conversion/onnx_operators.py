"""Operators of ONNX as the layers of a `FloatNetwork`, folded into each other where possible."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from protonn_edge.conversion.boosters import refusing
from protonn_edge.conversion.onnx_file import Node, load_graph
from protonn_edge.conversion.onnx_network import NetworkBuilder, Reader
from protonn_edge.conversion.reading import StoredClassifier
from protonn_edge.features.convolution.integers import SIDES, STRIDES
from protonn_edge.features.convolution.train.layers import Convolution, Pooling, Rectifier
from protonn_edge.features.convolution.train.notation import ConvolutionLayout, PoolingLayout
from protonn_edge.quantization import check_counts
from protonn_edge.training.points import Float32


def load_network(source: Path | bytes, what: str) -> StoredClassifier:
    """Return the network in a file of ONNX, or in its contents, which an error calls `what`."""
    with refusing(what, "ONNX"):
        graph = load_graph(source, what)
        network = (builder := NetworkBuilder(graph, _OPERATORS)).network()
        n, classes = math.prod(graph.shape), builder.classes
        check_counts(features=n, classes=len(classes))
        return StoredClassifier(what, network, n, np.array([], str), classes)


def _convolution(net: NetworkBuilder, node: Node) -> None:
    W = net.constant(node, 1)
    if W.ndim == 3 and net.places.ndim == 2:
        W = W[..., None]
    net.as_image(node)
    channels, height, width = net.places.shape
    groups = node.number("group", 1)
    depthwise = groups == channels and W.shape[:2] == (channels, 1) and channels > 1
    if W.ndim != 4 or not (depthwise or (groups == 1 and W.shape[1] == channels)):
        raise node.unsupported(
            f"has weights of the shape {W.shape} for {channels} channels in {groups} groups",
            "use one group, or one for each channel with as many outputs",
        )
    layout = _layout(node, W.shape, depthwise)
    shape = layout.side_of(height), layout.side_of(width), len(W)
    if min(shape) < 1:
        raise node.unsupported(f"takes a window larger than its image of {height}x{width}")
    if net.linear:
        raise node.unsupported("follows a Conv without Relu", "put a Relu between them")
    bias = net.constant(node, 2) if len(node.inputs) > 2 else np.zeros(len(W))
    if bias.shape != (len(W),):
        raise node.unsupported(f"has {bias.size} biases for {len(W)} channels")
    scale, shift = (net.channels(node, each) for each in (net.scale, net.shift))
    if not net.layers:  # which may pad its image
        net.before, scale, shift = (scale, shift), np.ones(channels), np.zeros(channels)
    if layout.padded and shift.any():
        raise node.unsupported(
            "pads values that a normalization behind a Relu moved", "normalize before the Relu"
        )
    wide = np.moveaxis(W, 1, 3)
    per_channel = (len(W), 1, 1, 1) if depthwise else (1, 1, 1, channels)
    bias = bias + (wide * shift.reshape(per_channel)).sum(axis=(1, 2, 3))
    wide = wide * scale.reshape(per_channel)
    net.append(Convolution(layout, wide.astype(np.float32), bias.astype(np.float32)), shape)
    net.rescale(np.ones(len(W)), np.zeros(len(W)))
    net.linear = True


def _layout(node: Node, shape: tuple[int, ...], depthwise: bool) -> ConvolutionLayout:
    """Return kernel, stride and padding of a convolution, as far as the device has them."""
    sides, axes = set(shape[2:]), len(shape) - 2
    strides, apart = (set(node.integers(name, (1,) * axes)) for name in ("strides", "dilations"))
    side, stride = min(sides), min(strides, default=1)
    how = node.text("auto_pad", "NOTSET")
    margin = (side - 1) // 2
    same = how.startswith("SAME") and (stride == 1 or side == 1)
    around = {margin} if same else set(node.integers("pads", (0,) * 2 * axes))
    around = {0} if how == "VALID" else around
    right = len(sides) == 1 and len(strides) <= 1 and apart <= {1} and around in ({0}, {margin})
    if not right or side not in SIDES or stride not in STRIDES or (how[:4] == "SAME") != same:
        raise node.unsupported(
            f"has a window of {'x'.join(map(str, shape[2:]))}, strides {sorted(strides)}, pads "
            f"{sorted(around)} ({how}) and dilations {sorted(apart)}",
            "use windows of 1x1, 3x3 or 5x5, a stride of 1 or 2, no dilation, and (k - 1) / 2 "
            "pixels of padding on all sides, or none",
        )
    return ConvolutionLayout(None if depthwise else shape[0], side, stride, around != {0})


def _relu(net: NetworkBuilder, node: Node) -> None:
    _clip(net, node, 0.0, math.inf)


def _clip(net: NetworkBuilder, node: Node, low: float | None = None, high: float = 0.0) -> None:
    if low is None:
        ends = [
            float(net.constant(node, place))
            if place < len(node.inputs) and node.inputs[place]
            else node.number(name, default)
            for place, name, default in ((1, "min", -1e30), (2, "max", 1e30))
        ]
        low, high = ends[0], ends[1] if ends[1] < 1e30 else math.inf
    limited = math.isfinite(high)
    if low != 0 or high <= 0 or (limited and net.matrices):
        raise node.unsupported(
            f"limits values to {low:g}..{high:g}", "use a Relu, or behind Conv Clip from 0"
        )
    moved = bool((net.scale != 1).any() or net.shift.any())
    if moved or not (net.layers or net.matrices):
        raise node.unsupported("rectifies no Conv or Gemm", "put it right behind one of these")
    if net.matrices:
        net.linear = False
        return
    behind = len(net.layers)
    while net.linear and isinstance(net.layers[behind - 1], Pooling):  # its largest value moves
        behind -= 1
        if net.layers[behind].layout.average:  # type: ignore[attr-defined]
            raise node.unsupported("is behind an average", "put it before the average")
    if net.linear or limited:
        net.layers.insert(behind, Rectifier(high if limited else None))
    net.linear = False


def _pooling(net: NetworkBuilder, node: Node) -> None:
    net.as_image(node)
    _, height, width = net.places.shape
    window = node.integers("kernel_shape", ())
    steps = node.integers("strides", (1,) * len(window))
    if len(window) == 1:
        window, steps = (*window, 1), (*steps, 1)
    plain = not any(node.integers("pads", ())) and set(node.integers("dilations", ())) <= {1}
    whole = not node.number("ceil_mode", 0) or (height % window[0], width % window[1]) == (0, 0)
    if len(window) != 2 or steps != window or not (plain and whole) or min(window) < 1:
        raise node.unsupported(
            f"has windows of {window} that move by {steps}, or padding",
            "use windows that move by their size, without padding",
        )
    _pool(net, node, "Average" in node.operator, (window[0], window[1]))


def _everywhere(net: NetworkBuilder, node: Node) -> None:
    if node.operator == "ReduceMean":
        count = net.places.ndim + 1
        axes = sorted(axis % count for axis in net.integers(node, 1, "axes"))
        if axes == list(range(1, count - 1)) and count > 2:  # the channels are last
            net.places = np.moveaxis(net.places, -1, 0)
        elif axes != list(range(2, count)):
            raise node.unsupported(f"averages the axes {axes}", "average all pixels of a channel")
    net.as_image(node)
    _, height, width = net.places.shape
    _pool(net, node, "Max" not in node.operator, (height, width))
    if node.operator == "ReduceMean" and not node.number("keepdims", 1):
        net.places = net.places.reshape(-1)


def _pool(net: NetworkBuilder, node: Node, average: bool, window: tuple[int, int]) -> None:
    channels, height, width = net.places.shape
    scale, shift = (net.channels(node, each) for each in (net.scale, net.shift))
    if not average and (scale < 0).any():
        raise node.unsupported("is behind factors below 0", "normalize before the Relu")
    shape = height // window[0], width // window[1], channels
    if min(shape) < 1:
        raise node.unsupported(f"takes a window larger than its image of {height}x{width}")
    net.append(Pooling(PoolingLayout(average, window == (height, width), window)), shape)
    net.rescale(scale, shift)


def _gemm(net: NetworkBuilder, node: Node) -> None:
    W = net.constant(node, 1)
    turned = node.number("transB", 0) if node.operator == "Gemm" else 0
    W = W if turned else W.T
    plain = not node.number("transA", 0) and net.places.ndim == 1 and node.inputs[0] == net.current
    if W.ndim != 2 or not plain or W.shape[1] != net.places.size:
        raise node.unsupported(
            f"multiplies values of the shape {net.places.shape} by {W.T.shape}",
            "flatten a point's values before it",
        )
    b = np.zeros(len(W))
    if node.operator == "Gemm" and len(node.inputs) > 2:
        b = net.constant(node, 2).ravel()
        if b.shape not in ((1,), (len(W),)):
            raise node.unsupported(f"has {b.size} biases for {len(W)} sums")
        b = np.zeros(len(W)) + b * node.number("beta", 1)
    net.multiply(W * node.number("alpha", 1), b)


def _affine(net: NetworkBuilder, node: Node) -> None:
    """Take a sum with, or product by, constants."""
    which = int(node.inputs[0] == net.current)
    value = net.constant(node, which)
    kind = node.operator
    if which == 0 and kind == "Div":
        raise node.unsupported("divides by values", "multiply instead")
    scale: Any = {"Mul": value, "Div": 1 / np.where(value == 0, np.nan, value)}.get(kind, 1.0)
    shift: Any = {"Add": value, "Sub": -value}.get(kind, 0.0)
    if kind == "Sub" and which == 0:
        scale, shift = -1.0, value
    _move(net, node, scale, shift)


def _normalization(net: NetworkBuilder, node: Node) -> None:
    gain, offset, mean, variance = (net.constant(node, place) for place in (1, 2, 3, 4))
    scale = gain / np.sqrt(np.abs(variance) + max(node.number("epsilon", 1e-5), 1e-12))
    axes = (-1, *(1,) * (net.places.ndim - 1))
    _move(net, node, scale.reshape(axes), (offset - mean * scale).reshape(axes))


def _scaler(net: NetworkBuilder, node: Node) -> None:
    scale, offset = (np.array(node.attributes.get(name)) for name in ("scale", "offset"))
    _move(net, node, scale, -offset * scale)


def _move(net: NetworkBuilder, node: Node, scale: Any, shift: Any) -> None:
    """Take factors and shifts that fit the present values."""
    n = net.places.size
    numbers = np.empty((2, n))
    try:
        for row, given in zip(numbers, (scale, shift), strict=True):
            wide = np.broadcast_to(given, (1, *net.places.shape))
            row[net.places.ravel()] = wide.ravel()
    except ValueError as error:
        raise node.unsupported(f"does not fit values of {net.places.shape}") from error
    if not np.isfinite(numbers).all():
        raise node.unsupported("has factors that are not finite")
    last = net.layers[-1] if net.layers else None
    if net.matrices and net.linear:
        W, b = net.matrices[-1]
        net.matrices[-1] = W * numbers[0][:, None], b * numbers[0] + numbers[1]
    elif net.linear and isinstance(last, Convolution):
        factors, shifts = (net.channels(node, row).astype(np.float32) for row in numbers)
        weights: Float32 = last.weights * factors[:, None, None, None]
        net.layers[-1] = Convolution(last.layout, weights, last.biases * factors + shifts)
    else:
        net.scale, net.shift = net.scale * numbers[0], net.shift * numbers[0] + numbers[1]


def _same(net: NetworkBuilder, node: Node) -> None:
    """Take an operator without an effect on answers."""


def _reshaped(net: NetworkBuilder, node: Node) -> None:
    target = net.integers(node, 1, "shape")
    sizes = [
        net.places.shape[axis] if size == 0 and 0 <= axis < net.places.ndim else size
        for axis, size in enumerate(target[1:])
    ]
    _laid(net, node, sizes if target and target[0] in (-1, 0, 1) else [])


def _flattened(net: NetworkBuilder, node: Node) -> None:
    _laid(net, node, [-1] if node.number("axis", 1) == 1 else [])


def _laid(net: NetworkBuilder, node: Node, sizes: list[int]) -> None:
    try:
        if not sizes:
            raise ValueError
        net.places = net.places.reshape(sizes)
    except ValueError as error:
        raise node.unsupported(
            f"lays values of {net.places.shape} as {tuple(sizes)}", "keep points apart"
        ) from error


def _squeezed(net: NetworkBuilder, node: Node) -> None:
    axes, shape = net.integers(node, 1, "axes"), [1, *net.places.shape]
    if node.operator == "Unsqueeze":
        for axis in sorted(axis % (len(shape) + len(axes)) for axis in axes):
            shape.insert(axis, 1)
    else:
        out = {axis % len(shape) for axis in axes} or {
            axis for axis, size in enumerate(shape) if axis and size == 1
        }
        shape = [size for axis, size in enumerate(shape) if axis not in out]
    _laid(net, node, shape[1:] if len(shape) > 1 and shape[0] == 1 else [])


def _transposed(net: NetworkBuilder, node: Node) -> None:
    axes = node.integers("perm", ())
    if sorted(axes) != list(range(net.places.ndim + 1)) or axes[0] != 0:
        raise node.unsupported(f"moves the axes as {axes}", "keep points in the first axis")
    net.places = net.places.transpose([axis - 1 for axis in axes[1:]])


def _decision(net: NetworkBuilder, node: Node) -> None:
    if net.places.size != max(net.places.shape):
        raise node.unsupported(f"decides on values of {net.places.shape}", "give scores of classes")
    net.ended = True


def _linear_classifier(net: NetworkBuilder, node: Node) -> None:
    W = np.array(node.attributes.get("coefficients"), np.float64).reshape(-1, net.places.size)
    net.multiply(W, np.array(node.attributes.get("intercepts"), np.float64).reshape(len(W)))
    net.ended = True
    net.decide(node)


_OPERATORS: dict[str, Reader] = {
    "Conv": _convolution,
    **dict.fromkeys(("Add", "Div", "Mul", "Sub"), _affine),
    "BatchNormalization": _normalization,
    "Relu": _relu,
    "Clip": _clip,
    **dict.fromkeys(("AveragePool", "MaxPool"), _pooling),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "ReduceMean"), _everywhere),
    **dict.fromkeys(("Cast", "Dropout", "Identity"), _same),
    "Flatten": _flattened,
    "Reshape": _reshaped,
    **dict.fromkeys(("Squeeze", "Unsqueeze"), _squeezed),
    "Transpose": _transposed,
    **dict.fromkeys(("Gemm", "MatMul"), _gemm),
    **dict.fromkeys(("ArgMax", "LogSoftmax", "Sigmoid", "Softmax"), _decision),
    "LinearClassifier": _linear_classifier,
    "Scaler": _scaler,
}
