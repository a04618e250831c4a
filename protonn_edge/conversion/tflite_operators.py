"""Convert an int8 network of TensorFlow Lite, exactly as its reference kernels compute.

The network must be a chain of operators in `_OPERATORS`, with one input and one output.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.conversion.converting import from_sklearn
from protonn_edge.conversion.flatbuffer import FlatTable
from protonn_edge.conversion.int8_network import (
    INT8_ZERO,
    Int8Network,
    Pair,
    by_channel,
    factor_of,
    int8_layer,
    narrowed,
    same_margins,
)
from protonn_edge.conversion.kept import Conversion
from protonn_edge.conversion.reading import StoredClassifier, refusing
from protonn_edge.conversion.tflite_file import (
    FLOAT32,
    INT8,
    INT32,
    LIMIT_BYTES,
    Chain,
    Take,
    Tensor,
    tensors_of,
)
from protonn_edge.errors import InputError
from protonn_edge.features.images.image_rows import ImageShape
from protonn_edge.features.int8_layer.integers import MOST_RIGHT, IntegerInt8Layer
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.system.files import read_file

_SAME = 0  # padding


def from_tflite(
    model: Path | str, X: ArrayLike, y: ArrayLike | None = None, **options: Any
) -> Conversion:
    """Convert an int8 network of TensorFlow Lite into a model for a board.

    The model's scores are the network's int8 outputs, bit for bit as the reference kernels of
    TensorFlow Lite compute them (`OpResolverType.BUILTIN_REF`).

    Parameters
    ----------
    model : Path or str
        The file (.tflite).
    X : array of shape (n, D)
        Points as the network's input, such as the training points, to measure cycles on.
    y : array of shape (n,), optional
        Their labels, the numbers of the network's outputs, used only to compute accuracies.
    **options
        `board`, `budget`, `classes` and `evaluate_on`, as for `from_sklearn`.

    Returns
    -------
    Conversion

    Raises
    ------
    InputError
        If the network cannot be converted; the message names the operator.
    CheckFailed
        If the model is too large for the board or the budget.
    """
    return from_sklearn(load_tflite(Path(model)), X, y, **options)


def load_tflite(path: Path) -> StoredClassifier:
    """Return the classifier in a file (.tflite); its labels are 0, 1, ..."""
    try:
        network = read_network(read_file(path, limit_bytes=LIMIT_BYTES))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    names, labels = np.array([], str), np.arange(network.n_classes)
    return StoredClassifier(str(path), network, network.n_inputs, names, labels)


@refusing("the file", "TensorFlow Lite")
def read_network(content: bytes) -> Int8Network:
    """Return the network of a file; raises `InputError` that names an unsupported operator."""
    model = FlatTable.root(content, b"TFL3")
    graphs = list(model.tables(2))
    if len(graphs) != 1:
        raise InputError(f"the file has {len(graphs):,} graphs; give a network with one")
    codes = [max(each.number(0, "b"), each.number(3, "i")) for each in model.tables(1)]
    tensors = [Tensor.of(each) for each in graphs[0].tables(0)]
    chain = Chain(tensors, list(model.tables(4)), tensors_of(graphs[0], 1), _OPERATORS)
    operators = list(graphs[0].tables(3))
    for number, operator in enumerate(operators):
        code = operator.number(0, "I")
        chain.add(number, codes[code] if code < len(codes) else -1, operator)
    return chain.network(tensors_of(graphs[0], 2))


def _input(chain: Chain, inputs: list[int], output: int, _: FlatTable) -> None:
    """Take QUANTIZE of the input."""
    if inputs[0] != chain.first or chain.layers:
        raise chain.refused("is not the first operator")
    if chain.tensor(inputs[0]).kind != FLOAT32:
        chain.same_scale(inputs[0], output)
    chain.first = output


def _unchanged(chain: Chain, inputs: list[int], output: int, _: FlatTable) -> None:
    """Take RESHAPE and similar operators."""
    chain.same_scale(inputs[0], output)


def _decision(chain: Chain, inputs: list[int], _: int, __: FlatTable) -> None:
    """Take an operator that decides between scores, keeps their order, or changes their type."""
    if not chain.decided:
        chain.scores = inputs[0]
    chain.decided = chain.where


def _rectified(chain: Chain, inputs: list[int], output: int, _: FlatTable) -> None:
    """Take a separate activation, which narrows the limits of the previous layer."""
    chain.same_scale(inputs[0], output)
    if not chain.layers or not isinstance(chain.layers[-1], IntegerInt8Layer):
        raise chain.refused("does not follow a layer with weights")
    limits = chain.limits(3 if "RELU6" in chain.where else 1, output)
    chain.layers[-1] = narrowed(chain.layers[-1], limits)


def _dense(chain: Chain, inputs: list[int], output: int, options: FlatTable) -> None:
    """Take FULLY_CONNECTED."""
    weights = chain.constant(_at(inputs, 1), INT8)
    size = weights.shape[1] if weights.ndim == 2 else 0
    shape = chain.layers[-1].output_shape if chain.layers else (1, 1, size)
    if not size or math.prod(shape) != size or options.number(1, "b"):
        raise chain.refused(f"has weights of shape {weights.shape} for {shape} values")
    if math.prod(chain.tensor(inputs[0]).shape) != size:
        raise chain.refused("computes several points at once")
    parts = shape, weights.reshape(-1, *shape), (1, 1), options.number(0, "b")
    chain.layers.append(replace(_layer(chain, inputs, output, parts), rounds_once=True))


def _convolution(chain: Chain, inputs: list[int], output: int, options: FlatTable) -> None:
    """Take CONV_2D and DEPTHWISE_CONV_2D."""
    depthwise = "DEPTHWISE" in chain.where
    shape, turned = chain.image(inputs[0])
    weights = chain.constant(_at(inputs, 1), INT8)
    if weights.ndim != 4 or (depthwise and len(weights) != 1):
        raise chain.refused(f"has weights of shape {weights.shape}")
    if depthwise:
        weights = np.moveaxis(weights[0], -1, 0)[..., None]
        if len(weights) % shape[2]:
            raise chain.refused(f"has {len(weights):,} outputs for {shape[2]:,} channels")
        if len(weights) > shape[2]:
            chain.reserve(weights.size * shape[2])
        weights = by_channel(weights, shape[2])
    first = 5 if depthwise else 4
    if (options.number(first, "i", 1), options.number(first + 1, "i", 1)) != (1, 1):
        raise chain.refused("has windows with gaps (dilation)")
    stride = chain.stride(options, turned=turned)
    if turned:
        weights = weights.swapaxes(1, 2)
    activation = options.number(4 if depthwise else 3, "b")
    same = options.number(0, "b") == _SAME
    chain.layers.append(
        _layer(chain, inputs, output, (shape, weights, stride, activation), same=same)
    )


def _pooling(chain: Chain, inputs: list[int], output: int, options: FlatTable) -> None:
    """Take MAX_POOL_2D and AVERAGE_POOL_2D."""
    chain.same_scale(inputs[0], output)
    shape, turned = chain.image(inputs[0])
    stride = chain.stride(options, turned=turned)
    window = options.number(4, "i"), options.number(3, "i")
    if turned:
        window = window[::-1]
    if not all(1 <= side <= most for side, most in zip(window, shape[:2], strict=True)):
        raise chain.refused(f"has windows of {window[0]}x{window[1]} pixels")
    if options.number(0, "b") == _SAME and any(map(any, same_margins(shape, window, stride))):
        raise chain.refused("pools with padding")
    limits = chain.limits(options.number(5, "b"), output)
    if "MAX" in chain.where:
        if stride != window or limits != (0, 255):
            raise chain.refused("has windows that overlap, or an activation")
        chain.layers.append(IntegerPooling(shape, window, "maximum", 255))
        return
    # More than 2^31 / area, to round halves away from 0 (the byte 128); the difference
    # is too small to change the rounding of another sum.
    area = math.prod(window)
    bits = max(0, 2 * area.bit_length() - 23)
    multiplier = 2 ** (31 + bits) // area + 1 if area > 1 else 2**31 - 1
    layer = _sums(shape, window, (-INT8_ZERO * area, multiplier, bits), INT8_ZERO)
    layer = replace(layer, limits=limits, stride=stride, rounds_once=True)
    chain.layers.append(layer)


def _mean(chain: Chain, inputs: list[int], output: int, _: FlatTable) -> None:
    """Take MEAN over all pixels."""
    (shape, _turned), given, made = chain.image(inputs[0]), *map(chain.tensor, (inputs[0], output))
    axes = chain.constant(_at(inputs, 1), INT32).ravel() % len(given.shape)
    if set(axes.tolist()) != set(range(1, len(given.shape) - 1)):
        raise chain.refused("does not average all pixels of an image")
    area = math.prod(shape[:2])
    multiplier, right = factor_of(float(given.scale) / float(made.scale))
    bits = min(area.bit_length() - 1, MOST_RIGHT - right)
    scaling = -given.zero * area, (multiplier << bits) // area, right + bits
    chain.layers.append(_sums(shape, shape[:2], scaling, made.zero))


def _sums(
    shape: ImageShape, window: Pair, scaling: tuple[int, int, int], offset: int
) -> IntegerInt8Layer:
    """Return sums of windows; all channels have the same bias, multiplier and shift."""
    weights = np.ones((shape[2], *window, 1), np.int8)
    bias, multipliers, shifts = (np.full(shape[2], number) for number in scaling)
    return IntegerInt8Layer(shape, weights, bias, multipliers, shifts, offset, (0, 255))


_Parts = tuple[ImageShape, NDArray[Any], Pair, int]


def _layer(
    chain: Chain, inputs: list[int], output: int, parts: _Parts, *, same: bool = False
) -> IntegerInt8Layer:
    """Return a layer with these windows, weights, stride and activation."""
    shape, weights, stride, activation = parts
    given, made, own = (chain.tensor(n) for n in (inputs[0], output, _at(inputs, 1)))
    if own.scales.size not in (1, len(weights)) or own.zeros.any():
        raise chain.refused("has weights with zero points, or too few or many scales")
    if not ((own.scales > 1e-30) & (own.scales < 1e30)).all():
        raise chain.refused("has weights with a scale out of range")
    bias = np.zeros(len(weights), np.int64)
    if len(inputs) > 2 and inputs[2] >= 0:
        bias = chain.constant(inputs[2], INT32).astype(np.int64).ravel()
    if len(bias) != len(weights):
        raise chain.refused(f"has {len(bias):,} biases for {len(weights):,} outputs")
    # In double precision, as the reference computes them.
    real = np.float64(given.scale) * own.scales.astype(np.float64) / np.float64(made.scale)
    margins = same_margins(shape, weights.shape[1:3], stride) if same else ((0, 0), (0, 0))
    others = {"limits": chain.limits(activation, output), "stride": stride, "margins": margins}
    return int8_layer(shape, weights, bias, real, (given.zero, made.zero), **others)


def _at(inputs: list[int], place: int) -> int:
    return inputs[place] if place < len(inputs) else -1


_OPERATORS: dict[int, tuple[str, Take | None]] = {
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
    40: ("MEAN", _mean),
    43: ("SQUEEZE", _unchanged),
    45: ("STRIDED_SLICE", None),
    56: ("ARG_MAX", _decision),
    70: ("EXPAND_DIMS", _unchanged),
    77: ("SHAPE", None),
    83: ("PACK", None),
    114: ("QUANTIZE", _input),
}
"""By their numbers: their names, and what takes them; others compute shapes that RESHAPE has."""
