"""ONNX's operators, converted to layers of a float or an int8 network."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from protonn_edge.extensions.conversion.networks.int8_network import Pair
from protonn_edge.extensions.conversion.networks.onnx_chain import (
    MOVING,
    Reader,
    Window,
    listed,
    sized,
)
from protonn_edge.extensions.conversion.networks.onnx_file import MOST_AXES, Node
from protonn_edge.extensions.conversion.networks.onnx_int8 import Int8Builder
from protonn_edge.extensions.conversion.networks.onnx_network import NetworkBuilder
from protonn_edge.extensions.conversion.reading import LARGEST
from protonn_edge.model.shapes import ImageShape
from protonn_edge.system.arrays import Array

_MOST_WINDOWS = 2**20  # values in all windows of a convolution
_PER_AXIS = ("strides", "dilations")
_PADDINGS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")

Builder: TypeAlias = NetworkBuilder | Int8Builder


def _convolution(net: Builder, node: Node) -> None:
    W, axes = net.constant(node, 1), net.places.ndim - 1
    sides = W.shape[2:]
    if len(sides) != axes or node.integers("kernel_shape", sides) != sides:
        raise node.unsupported(
            f"has weights of shape {W.shape}, the kernel_shape "
            f"{node.integers('kernel_shape', sides)} and values of shape {net.places.shape}, which "
            "do not match"
        )
    W = W[..., None] if axes == 1 else W
    net.as_image(node)
    channels = net.shape[2]
    groups = node.number("group", 1)
    depthwise = groups == channels > 1 and W.shape[1] == 1 and len(W) % channels == 0
    if W.ndim != 4 or not (depthwise or (groups == 1 and W.shape[1] == channels)):
        raise node.unsupported(
            f"has weights of shape {W.shape} for {channels} channels in {groups} groups",
            "use a single group, or one group for each channel",
        )
    window = _window(node, sides, net.shape)
    places = math.prod(window.places)
    if W[0].size * places > _MOST_WINDOWS:
        raise node.unsupported(
            f"takes windows of {W[0].size:,} values at {places:,} places, but the product of these "
            f"numbers may be at most {_MOST_WINDOWS:,}",
            "use smaller images or kernels",
        )
    sized(node, (*window.places, len(W)))
    bias = net.constant(node, 2) if any(node.inputs[2:]) else np.zeros(len(W))
    if bias.shape != (len(W),):
        raise node.unsupported(f"has {bias.size} biases for {len(W)} channels")
    net.convolve(node, np.moveaxis(W, 1, 3), bias, window)


def _window(node: Node, sides: tuple[int, ...], image: ImageShape) -> Window:
    """Return how a window moves over an image; signals are one pixel wide."""
    axes = len(sides)
    strides, apart = (node.integers(name, (1,) * axes, axes) for name in _PER_AXIS)
    pads, how = node.integers("pads", (0,) * 2 * axes, 2 * axes), node.text("auto_pad", "NOTSET")
    if {*apart} != {1} or min(*strides, *sides) < 1 or min(pads) < 0 or how not in _PADDINGS:
        raise node.unsupported(
            f"has a kernel of {sides}, strides {strides}, pads {sorted({*pads})} (auto_pad "
            f"{how[:20]}) and dilations {sorted({*apart})}",
            "use positive sides and strides, no dilation, and no negative pads",
        )
    side, step = (*sides, 1)[:2], (strides[0], strides[-1])
    around = [*zip(pads[:axes], pads[axes:], strict=True), (0, 0)]
    if how == "VALID":
        around = [(0, 0), (0, 0)]
    elif how != "NOTSET":
        sizes = zip(image[:2], side, step, strict=True)
        around = [_same_padding(*each, lower=how == "SAME_LOWER") for each in sizes]
    margins = around[0], around[1]
    places = zip(image[:2], margins, side, step, strict=True)
    height, width = ((size + sum(pair) - each) // by + 1 for size, pair, each, by in places)
    if min(height, width) < 1:
        raise node.unsupported(
            f"has a kernel larger than its image of {image[0]}x{image[1]}",
            "use larger images, smaller kernels or less pooling",
        )
    return Window((side[0], side[1]), step, (height, width), margins)


def _same_padding(size: int, side: int, step: int, *, lower: bool) -> Pair:
    """Return the padding with which every pixel of an axis, or every second one, has a window.

    An odd pixel of it is after the image or, if `lower`, before it.
    """
    total = max((-(-size // step) - 1) * step + side - size, 0)
    before = total - total // 2 if lower else total // 2
    return before, total - before


def _relu(net: Builder, node: Node) -> None:
    net.rectify(node, 0, math.inf)


def _clip(net: Builder, node: Node) -> None:
    ends = (
        float(net.numbers(node, place, "fiu").item())
        if any(node.inputs[place : place + 1])
        else node.number(name, default)
        for place, name, default in ((1, "min", -math.inf), (2, "max", math.inf))
    )
    low, high = (end if abs(end) < LARGEST else math.copysign(math.inf, end) for end in ends)
    if (low, high) != (-math.inf, math.inf):
        net.rectify(node, low, high)


def _pooling(net: Builder, node: Node) -> None:
    axes = net.places.ndim - 1
    net.as_image(node)
    window = _window(node, node.integers("kernel_shape", (), axes), net.shape)
    node.read.update({"count_include_pad", "storage_order"})  # of values around the image
    window = window._replace(strides=(window.strides[0], window.strides[1] if axes > 1 else 1))
    sizes = zip(net.shape[:2], window.sides, window.strides, strict=True)
    rest = any((size - side) % step for size, side, step in sizes)
    if any(map(any, window.margins)) or (node.number("ceil_mode", 0) and rest):
        raise node.unsupported(
            "has windows that extend beyond the edge of the image",
            "pool without padding or ceil_mode",
        )
    net.pool(node, "Average" in node.operator, window)


def _everywhere(net: Builder, node: Node) -> None:
    innermost, reduces = False, node.operator == "ReduceMean"
    if reduces:
        rank = net.places.ndim + 1
        axes = sorted(axis % rank for axis in listed(node, _with_integers(net, node), "axes"))
        node.number("noop_with_empty_axes", 0)  # without axes, it is refused
        innermost = axes == list(range(1, rank - 1))  # the channels
        if rank < 3 or not (innermost or axes == list(range(2, rank))):
            raise node.unsupported(
                f"averages over the axes {axes}", "average over all pixels of a channel"
            )
        net.places = np.moveaxis(net.places, -1, 0) if innermost else net.places
        if net.signal:  # perhaps with another axis of 1, which PyTorch inserts
            net.places = net.places.reshape(len(net.places), -1)
    net.as_image(node)
    whole = net.shape[:2]
    net.pool(node, "Max" not in node.operator, Window(whole, whole, (1, 1)))
    if reduces:
        ones = (1,) * (rank - 2) if node.number("keepdims", 1) else ()
        net.places = net.places.reshape((*ones, -1) if innermost else (-1, *ones))


def _gemm(net: Builder, node: Node) -> None:
    W = net.constant(node, 1)
    general = node.operator == "Gemm"
    turned, across = (general and node.number(name, 0) for name in ("transB", "transA"))
    W = W if turned else W.T
    plain = not across and net.places.ndim == 1 and node.inputs[0] == net.current
    if W.ndim != 2 or not plain or W.shape[1] != net.places.size:
        raise node.unsupported(
            f"multiplies values of shape {net.places.shape} by a matrix of shape {W.T.shape}",
            "flatten the values of each point first",
        )
    b = np.zeros(len(W))
    if general:
        factor, W = node.number("beta", 1), W * node.number("alpha", 1)
        if any(node.inputs[2:]):
            b = np.broadcast_to(net.constant(node, 2) * factor, (1, len(W)))[0]
    net.multiply(node, W, b)


def _affine(net: Builder, node: Node) -> None:
    """Take a sum or product with constants."""
    which = int(node.inputs[0] == net.current)
    value = net.constant(node, which)
    kind = node.operator
    if which == 0 and kind == "Div":
        raise node.unsupported("divides by values of the input", "divide by constants only")
    scale: Any = {"Mul": value, "Div": 1 / np.where(value == 0, np.nan, value)}.get(kind, 1.0)
    shift: Any = {"Add": value, "Sub": -value}.get(kind, 0.0)
    if kind == "Sub" and which == 0:
        scale, shift = -1.0, value
    _move(net, node, scale, shift)


def _normalization(net: Builder, node: Node) -> None:
    given = [net.constant(node, place) for place in (1, 2, 3, 4)]
    gain, offset, mean, variance = given
    spread = variance + node.number("epsilon", 1e-5)
    node.attribute("momentum")  # of training
    wrong = [each.shape for each in given if each.shape != net.places.shape[:1]]
    if wrong or (spread <= 0).any() or node.number("training_mode", 0):
        raise node.unsupported(
            "normalizes with batch statistics, with variances that are not above 0, or along an "
            "axis other than the channels",
            "export the network in inference mode",
        )
    scale = gain / np.sqrt(spread)
    axes = (-1, *(1,) * (net.places.ndim - 1))
    _move(net, node, scale.reshape(axes), (offset - mean * scale).reshape(axes))


def _scaler(net: Builder, node: Node) -> None:
    scale, offset = (np.array(node.attribute(name), np.float64) for name in ("scale", "offset"))
    _move(net, node, scale, -offset * scale)


def _move(net: Builder, node: Node, scale: Any, shift: Any) -> None:
    """Apply factors and shifts, which must match the present values."""
    n = net.places.size
    numbers = np.empty((2, n))
    try:
        for row, given in zip(numbers, (scale, shift), strict=True):
            wide = np.broadcast_to(given, (1, *net.places.shape))
            row[net.places.ravel()] = wide.ravel()
    except ValueError as error:
        raise node.unsupported(
            f"has factors or offsets that do not match values of shape {net.places.shape}"
        ) from error
    if not np.isfinite(numbers).all():
        raise node.unsupported("has factors or offsets that are not finite")
    net.move(node, *numbers)


def _cast(net: Builder, node: Node) -> None:
    node.attribute("saturate")
    if (to := node.number("to", 0)) not in net.types:
        raise node.unsupported(f"casts to the ONNX type {to:g}", "use floats only")


def _dropout(net: Builder, node: Node) -> None:
    node.read.update({"ratio", "seed", 1})  # of training
    if any(node.inputs[2:]) and net.numbers(node, 2, "b").any():
        raise node.unsupported("drops values", "export the network in inference mode")


def _with_integers(net: Builder, node: Node) -> list[Array]:
    """Return the present places, with a batch axis, and the other inputs: integers."""
    given = [place for place, name in enumerate(node.inputs) if place and name]
    return [net.places[None], *(net.numbers(node, place, "iu") for place in given)]


def _moved(net: Builder, node: Node) -> None:
    """Take an operator that moves values: it does the same to their places."""
    places = MOVING[node.operator](node, _with_integers(net, node))
    if not 1 < places.ndim <= MOST_AXES or len(places) != 1:
        raise node.unsupported(
            f"reshapes values from {(1, *net.places.shape)} to {places.shape}",
            "keep the first axis, the batch axis",
        )
    net.places = places[0]


def _linear_classifier(net: Builder, node: Node) -> None:
    W, b = (np.array(node.attribute(name), np.float64) for name in ("coefficients", "intercepts"))
    node.attribute("multi_class")
    how = node.text("post_transform", "NONE")
    if net.places.ndim != 1 or len(b) < 2 or how not in ("NONE", "LOGISTIC", "SOFTMAX"):
        raise node.unsupported(
            f"takes values of shape {net.places.shape}, has {len(b)} scores, and has the "
            f"post_transform {how[:20]}",
            "flatten the values, use one score per class, and set post_transform to NONE, LOGISTIC "
            "or SOFTMAX",
        )
    net.multiply(node, W.reshape(len(b), net.places.size), b)
    net.decide(node.outputs[1] if len(node.outputs) > 1 else "").classify(node)


OPERATORS: dict[str, Reader] = {
    "Conv": _convolution,
    **dict.fromkeys(("Add", "Div", "Mul", "Sub"), _affine),
    "BatchNormalization": _normalization,
    "Relu": _relu,
    "Clip": _clip,
    **dict.fromkeys(("AveragePool", "MaxPool"), _pooling),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "ReduceMean"), _everywhere),
    "Cast": _cast,
    "Dropout": _dropout,
    **dict.fromkeys(MOVING, _moved),
    **dict.fromkeys(("Gemm", "MatMul"), _gemm),
    "ai.onnx.ml.LinearClassifier": _linear_classifier,
    "ai.onnx.ml.Scaler": _scaler,
}
