"""Operators of ONNX as the layers of a `FloatNetwork`, folded into each other where possible."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import check_counts
from protonn_edge.conversion.networks import FloatNetwork
from protonn_edge.conversion.onnx_file import FLOATS, MOST_AXES, Node, load_graph
from protonn_edge.conversion.onnx_network import NetworkBuilder, Reader, reshaped
from protonn_edge.conversion.reading import LARGEST, StoredClassifier, refusing
from protonn_edge.errors import InputError
from protonn_edge.features.convolution.integers import SIDES, STRIDES, WEIGHT_BITS
from protonn_edge.features.convolution.train.layers import Convolution, Pooling, Rectifier
from protonn_edge.features.convolution.train.notation import ConvolutionLayout, PoolingLayout
from protonn_edge.features.convolution.train.rounding import Bits
from protonn_edge.training.points import Float32

_MOST_WINDOWS = 2**20  # values that a convolution's windows take of an image
_PER_AXIS = ("strides", "dilations")
_SAME = ("SAME_LOWER", "SAME_UPPER")


def load_network(source: Path | bytes, what: str, bits: int = 8) -> StoredClassifier:
    """Return the network in a file of ONNX, or in its contents, which an error calls `what`.

    Weights of its convolutions will have 8, 4 or 2 `bits`.
    """
    with refusing(what, "ONNX"):
        graph = load_graph(source, what)
        check_counts(features=(n := math.prod(graph.shape)))
        network = (builder := NetworkBuilder(graph, _OPERATORS)).network()
        if bits != 8:
            network = replace(network, bits=_bits(network, bits, what))
        name = what.removeprefix("the ")
        return StoredClassifier(name, network, n, np.array([], str), builder.classes)


def _bits(network: FloatNetwork, bits: int, what: str) -> Bits:
    """Return the bits of weights; only convolutions have kernels for fewer than 8."""
    convolves = any(isinstance(layer, Convolution) for layer in network.layers)
    if bits not in WEIGHT_BITS or not convolves:
        raise InputError(
            f"{what} cannot have weights of {bits} bits: those of Conv have 8, 4 or 2, and others "
            "8; leave bits out, or give a network with a Conv"
        )
    return replace(network.bits, weights=bits)


def _convolution(net: NetworkBuilder, node: Node) -> None:
    W, axes = net.constant(node, 1), net.places.ndim - 1
    sides = W.shape[2:]
    if len(sides) != axes or node.integers("kernel_shape", sides) != sides:
        raise node.unsupported(
            f"has weights of the shape {W.shape} and a window of "
            f"{node.integers('kernel_shape', sides)} for values of {net.places.shape}"
        )
    W = W[..., None] if axes == 1 else W
    net.as_image(node)
    channels, height, width = net.places.shape
    groups = node.number("group", 1)
    depthwise = groups == channels and W.shape[:2] == (channels, 1) and channels > 1
    if W.ndim != 4 or not (depthwise or (groups == 1 and W.shape[1] == channels)):
        raise node.unsupported(
            f"has weights of the shape {W.shape} for {channels} channels in {groups} groups",
            "use one group, or one for each channel with as many outputs",
        )
    layout = _layout(node, W.shape, axes, depthwise)
    shape = layout.side_of(height), layout.side_of(width), len(W)
    if min(shape) < 1:
        raise node.unsupported(f"takes a window larger than its image of {height}x{width}")
    if W[0].size * shape[0] * shape[1] > _MOST_WINDOWS:
        raise node.unsupported(
            f"takes windows of {W[0].size:,} values at {shape[0] * shape[1]:,} places",
            f"use smaller images, with a product up to {_MOST_WINDOWS:,}",
        )
    if net.linear:
        raise node.unsupported("follows a Conv without Relu", "put a Relu between them")
    bias = net.constant(node, 2) if any(node.inputs[2:]) else np.zeros(len(W))
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
    layer = Convolution(layout, wide.astype(np.float32), bias.astype(np.float32))
    net.append(node, layer, shape)
    net.rescale(np.ones(len(W)), np.zeros(len(W)))
    net.linear = True


def _layout(node: Node, shape: tuple[int, ...], axes: int, depthwise: bool) -> ConvolutionLayout:
    """Return kernel, stride and padding of a convolution, as far as the device has them."""
    sides = set(shape[2:])
    strides, apart = (set(node.integers(name, (1,) * axes, axes)) for name in _PER_AXIS)
    pads = set(node.integers("pads", (0,) * 2 * axes, 2 * axes))
    side, stride, how = min(sides), min(strides), node.text("auto_pad", "NOTSET")
    margin = (side - 1) // 2
    centred = stride == 1 or side == 1
    around = {"NOTSET": pads, "VALID": {0}}.get(how, {margin} if centred and how in _SAME else {-1})
    right = len(sides) == 1 and len(strides) == 1 and apart == {1} and around in ({0}, {margin})
    if not right or side not in SIDES or stride not in STRIDES:
        raise node.unsupported(
            f"has a window of {'x'.join(map(str, shape[2:]))}, strides {sorted(strides)}, pads "
            f"{sorted(pads)} ({how[:20]}) and dilations {sorted(apart)}",
            "use windows of 1x1, 3x3 or 5x5, a stride of 1 or 2, no dilation, and (k - 1) / 2 "
            "pixels of padding on all sides, or none",
        )
    return ConvolutionLayout(None if depthwise else shape[0], side, stride, around != {0})


def _relu(net: NetworkBuilder, node: Node) -> None:
    _rectify(net, node, None)


def _clip(net: NetworkBuilder, node: Node) -> None:
    low, high = (
        float(net.constant(node, place).item())
        if any(node.inputs[place : place + 1])
        else node.number(name, default)
        for place, name, default in ((1, "min", -math.inf), (2, "max", math.inf))
    )
    limited = high < LARGEST
    if low != 0 or high <= 0 or (limited and net.matrices):
        raise node.unsupported(
            f"limits values to {low:g}..{high:g}", "use a Relu, or behind Conv Clip from 0"
        )
    _rectify(net, node, high if limited else None)


def _rectify(net: NetworkBuilder, node: Node, high: float | None) -> None:
    """Clip values at 0 and `high`: in front of maxima, where the values are still sums."""
    behind = len(net.layers)
    while behind and isinstance(net.layers[behind - 1], Pooling):
        behind -= 1
    moved = bool((net.scale != 1).any() or net.shift.any())
    if moved or not (behind or net.matrices):
        raise node.unsupported("rectifies no Conv or Gemm", "put it right behind one of these")
    if not net.matrices and (net.linear or high is not None):
        pooled = net.layers[behind:]
        if any(isinstance(each, Pooling) and each.layout.average for each in pooled):
            raise node.unsupported("is behind an average", "put it before the average")
        last = net.layers[behind - 1]
        if isinstance(last, Rectifier):
            net.layers[behind - 1] = Rectifier(min(filter(None, (high, last.largest))))
        else:
            net.layers.insert(behind, Rectifier(high))
    net.linear = False


def _pooling(net: NetworkBuilder, node: Node) -> None:
    axes = net.places.ndim - 1
    net.as_image(node)
    _, height, width = net.places.shape
    window = node.integers("kernel_shape", (), axes)
    steps, apart = (node.integers(name, (1,) * axes, axes) for name in _PER_AXIS)
    pads, how = node.integers("pads", (0,) * 2 * axes, 2 * axes), node.text("auto_pad", "NOTSET")
    node.read.update({"count_include_pad", "storage_order"})  # of values around the image
    wide = (*window, 1) if axes == 1 else window
    cut = not node.number("ceil_mode", 0) and how in ("NOTSET", "VALID")  # the last rows
    plain = not any(pads) and set(apart) == {1} and min(wide) >= 1 and steps == window
    if not plain or not (cut or (height % wide[0], width % wide[1]) == (0, 0)):
        raise node.unsupported(
            f"has windows of {window} that move by {steps}, pads {pads} ({how[:20]}) or dilations",
            "use windows that move by their size, without padding",
        )
    _pool(net, node, "Average" in node.operator, (wide[0], wide[1]))


def _everywhere(net: NetworkBuilder, node: Node) -> None:
    innermost, reduces = False, node.operator == "ReduceMean"
    if reduces:
        rank = net.places.ndim + 1
        axes = _axes(net, node, rank)
        node.number("noop_with_empty_axes", 0)  # without axes, it is refused
        innermost = axes == list(range(1, rank - 1))  # the channels
        if rank < 3 or not (innermost or axes == list(range(2, rank))):
            raise node.unsupported(f"averages the axes {axes}", "average all pixels of a channel")
        net.places = np.moveaxis(net.places, -1, 0) if innermost else net.places
    net.as_image(node)
    _, height, width = net.places.shape
    _pool(net, node, "Max" not in node.operator, (height, width))
    if reduces and not node.number("keepdims", 1):
        net.places = net.places.reshape(-1)
    elif innermost:
        net.places = np.moveaxis(net.places, 0, -1)


def _pool(net: NetworkBuilder, node: Node, average: bool, window: tuple[int, int]) -> None:
    channels, height, width = net.places.shape
    scale, shift = (net.channels(node, each) for each in (net.scale, net.shift))
    if not average and (scale < 0).any():
        raise node.unsupported("is behind factors below 0", "normalize before the Relu")
    shape = height // window[0], width // window[1], channels
    if min(shape) < 1:
        raise node.unsupported(f"takes a window larger than its image of {height}x{width}")
    layout = PoolingLayout(average, window == (height, width), window)
    net.append(node, Pooling(layout), shape)
    net.rescale(scale, shift)


def _gemm(net: NetworkBuilder, node: Node) -> None:
    W = net.constant(node, 1)
    general = node.operator == "Gemm"
    turned, across = (general and node.number(name, 0) for name in ("transB", "transA"))
    W = W if turned else W.T
    plain = not across and net.places.ndim == 1 and node.inputs[0] == net.current
    if W.ndim != 2 or not plain or W.shape[1] != net.places.size:
        raise node.unsupported(
            f"multiplies values of the shape {net.places.shape} by {W.T.shape}",
            "flatten a point's values before it",
        )
    b = np.zeros(len(W))
    if general:
        factor, W = node.number("beta", 1), W * node.number("alpha", 1)
        if any(node.inputs[2:]):
            b = np.broadcast_to(net.constant(node, 2) * factor, (1, len(W)))[0]
    net.multiply(W, b)


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
    given = [net.constant(node, place) for place in (1, 2, 3, 4)]
    gain, offset, mean, variance = given
    spread = variance + node.number("epsilon", 1e-5)
    node.attribute("momentum")  # of training
    wrong = [each.shape for each in given if each.shape != net.places.shape[:1]]
    if wrong or (spread <= 0).any() or node.number("training_mode", 0):
        raise node.unsupported(
            "normalizes by a batch, by variances that are not above 0, or by other channels",
            "export the network in its mode for inference",
        )
    scale = gain / np.sqrt(spread)
    axes = (-1, *(1,) * (net.places.ndim - 1))
    _move(net, node, scale.reshape(axes), (offset - mean * scale).reshape(axes))


def _scaler(net: NetworkBuilder, node: Node) -> None:
    scale, offset = (np.array(node.attribute(name), np.float64) for name in ("scale", "offset"))
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


def _cast(net: NetworkBuilder, node: Node) -> None:  # noqa: ARG001
    node.attribute("saturate")
    if (to := node.number("to", 0)) not in FLOATS:
        raise node.unsupported(f"makes values of the type {to:g}", "compute with floats only")


def _dropout(net: NetworkBuilder, node: Node) -> None:
    node.read.update({"ratio", "seed", 1})  # of training
    if any(node.inputs[2:]) and net.numbers(node, 2, "b").any():
        raise node.unsupported("drops values", "export the network in its mode for inference")


def _reshaped(net: NetworkBuilder, node: Node) -> None:
    target = net.integers(node, 1, "shape")
    _lay(net, node, reshaped(node, net.places[None], target))


def _flattened(net: NetworkBuilder, node: Node) -> None:
    if node.number("axis", 1) != 1:
        raise node.unsupported("has another axis than 1", "keep points apart")
    _lay(net, node, net.places.reshape(1, -1))


def _lay(net: NetworkBuilder, node: Node, places: NDArray[np.int64]) -> None:
    """Take places in another shape, with an axis for a point."""
    if not 1 < places.ndim <= MOST_AXES or len(places) != 1:
        raise node.unsupported(
            f"lays values of {net.places.shape} as {places.shape}", "keep points apart"
        )
    net.places = places[0]


def _axes(net: NetworkBuilder, node: Node, rank: int) -> list[int]:
    """Return the axes that a node names, from 0 for the points, in order."""
    given = net.integers(node, 1, "axes")
    axes = sorted(axis % rank for axis in given)
    if len(set(axes)) < len(axes) or not all(-rank <= axis < rank for axis in given):
        raise node.unsupported(f"has the axes {given} of {rank}")
    return axes


def _squeezed(net: NetworkBuilder, node: Node) -> None:
    places = net.places[None]
    axes = _axes(net, node, places.ndim)
    ones = [axis for axis, size in enumerate(places.shape) if axis and size == 1]
    _lay(net, node, places.squeeze(tuple(axes or ones)))


def _unsqueezed(net: NetworkBuilder, node: Node) -> None:
    places = net.places[None]
    count = len(net.integers(node, 1, "axes"))
    _lay(net, node, np.expand_dims(places, tuple(_axes(net, node, places.ndim + count))))


def _transposed(net: NetworkBuilder, node: Node) -> None:
    axes = node.integers("perm", ())
    if sorted(axes) != list(range(net.places.ndim + 1)) or axes[0] != 0:
        raise node.unsupported(f"moves the axes as {axes}", "keep points in the first axis")
    net.places = net.places.transpose([axis - 1 for axis in axes[1:]])


def _linear_classifier(net: NetworkBuilder, node: Node) -> None:
    W, b = (np.array(node.attribute(name), np.float64) for name in ("coefficients", "intercepts"))
    node.attribute("multi_class")
    how = node.text("post_transform", "NONE")
    if net.places.ndim != 1 or len(b) < 2 or how not in ("NONE", "LOGISTIC", "SOFTMAX"):
        raise node.unsupported(
            f"takes values of {net.places.shape}, has {len(b)} scores, or makes {how[:20]} of them",
            "give a score for each class, and flat values",
        )
    net.multiply(W.reshape(len(b), net.places.size), b)
    net.decide(node.outputs[1] if len(node.outputs) > 1 else "").classify(node)


_OPERATORS: dict[str, Reader] = {
    "Conv": _convolution,
    **dict.fromkeys(("Add", "Div", "Mul", "Sub"), _affine),
    "BatchNormalization": _normalization,
    "Relu": _relu,
    "Clip": _clip,
    **dict.fromkeys(("AveragePool", "MaxPool"), _pooling),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "ReduceMean"), _everywhere),
    "Cast": _cast,
    "Dropout": _dropout,
    "Identity": _same,
    "Flatten": _flattened,
    "Reshape": _reshaped,
    "Squeeze": _squeezed,
    "Unsqueeze": _unsqueezed,
    "Transpose": _transposed,
    **dict.fromkeys(("Gemm", "MatMul"), _gemm),
    "ai.onnx.ml.LinearClassifier": _linear_classifier,
    "ai.onnx.ml.Scaler": _scaler,
}
