"""A network of int8 layers from elsewhere, as a rule to convert; and how its layers are made."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chain.model import Model
from protonn_edge.chain.statistics import InputStatistics, Normalizer
from protonn_edge.conversion.scaling import rows_in_order
from protonn_edge.errors import CheckFailed
from protonn_edge.features.convolution.stage import Convolutions, Layer
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.images.image_rows import ImageShape, Margins, image_text
from protonn_edge.features.int8_layer.integers import MOST_RIGHT, IntegerInt8Layer
from protonn_edge.kinds.linear.head import LinearHead

INT8_ZERO = 128  # the byte of an int8 value of 0

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Int8Network:
    """The layers of a network, and the scales of its input and output; a `Rule`."""

    layers: tuple[Layer, ...]
    pixels: PixelScale  # from real values to the bytes of its input
    output_step: float  # the real value of a step of its output
    output_zero: int  # the byte of the output's zero point
    # (D,): the places of a point's values in the network's own input; None if they are the same
    order: NDArray[np.intp] | None = None
    landmarks = None

    @property
    def n_inputs(self) -> int:
        """The number of values of a point."""
        return self.layers[0].n_inputs

    @property
    def n_classes(self) -> int:
        """L, which is 2 if there is one output."""
        return max(2, self.layers[-1].n_outputs)

    def rows(self, X: ArrayLike) -> ArrayLike:
        """Return points with several axes, as the network takes them, as rows (n, D)."""
        return X if self.order is None else rows_in_order(X, self.order)

    def outputs(self, X: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the output of points X (n, D): q + 128 of the network's own int8 values q."""
        values = self.pixels.to_bytes(X)
        for layer in self.layers:
            values = layer.run(values)
        return values

    def answers(self, Z: NDArray[Any]) -> NDArray[np.int64]:
        """Return the class of each point Z (n, D), the first one with the largest output."""
        found = self.outputs(Z)
        if found.shape[1] == 1:
            return (found[:, 0] > self.output_zero).astype(np.int64)
        first: NDArray[np.int64] = found.argmax(axis=1)
        return first

    def model(self, X: NDArray[Any], classes: tuple[str, ...]) -> Model:
        """Return the model, whose scores are the outputs' int8 values; X are some points."""
        stage = Convolutions(self.layers, pixels=self.pixels)
        D, alone = stage.n_outputs, stage.n_outputs == 1
        bias = np.full(D, -float(self.output_zero if alone else INT8_ZERO))
        return Model(
            head=LinearHead(np.eye(D, dtype=np.float32), bias),
            normalizer=Normalizer.identity(D),
            inputs=InputStatistics.of(stage.apply(X)).with_one_range(),
            classes=classes,
            feature_stage=stage,
            sharpness=self.output_step,
        )

    def too_large(self, error: CheckFailed) -> str:
        """Return an error's sentence about the size, with advice on the largest layer."""
        needs = str(error).partition("; try ")[0]
        in_sram = " SRAM" in needs.partition(",")[0]

        def size(layer: Layer) -> int:
            if in_sram:
                return layer.n_inputs if layer is self.layers[0] else layer.lines * layer.line_bytes
            return sum(array.nbytes for array in layer.parameters())

        layer = max(self.layers, key=size)
        shapes = f"{image_text(layer.shape)} to {image_text(layer.output_shape)}"
        number = self.layers.index(layer) + 1
        return f"{needs}; make the largest layer smaller, number {number} ({shapes})"


def int8_layer(
    shape: ImageShape,
    weights: NDArray[np.int8],
    bias: NDArray[np.int64],
    scales: NDArray[np.float64],
    zeros: Pair,
    **others: Any,
) -> IntegerInt8Layer:
    """Return a layer for images of a shape.

    `scales` (out,) or (1,) are the steps of its output that a step of its sums is; `zeros` are the
    zero points of its input and its output. `others` are fields of the layer.
    """
    factors = np.array([factor_of(each) for each in np.broadcast_to(scales, len(weights)).tolist()])
    given, made = zeros
    folded = given * weights.astype(np.int64).sum(axis=(1, 2, 3))
    parts = (shape, weights, bias - folded, *factors.T, made)
    return IntegerInt8Layer(*parts, **{"limits": (0, 255), "padding_value": given, **others})


def factor_of(real: float) -> Pair:
    """Return a factor as a multiplier of 31 bits, halves rounded up, and a shift to the right."""
    fraction, exponent = math.frexp(real)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, exponent = multiplier // 2, exponent + 1
    return (1, MOST_RIGHT) if exponent < -MOST_RIGHT else (multiplier, -exponent)


def narrowed(layer: IntegerInt8Layer, limits: Pair) -> IntegerInt8Layer:
    """Return a layer whose values are within limits, too."""
    low, high = (min(max(end, limits[0]), limits[1]) for end in layer.limits)
    return replace(layer, limits=(low, high))


def same_margins(shape: ImageShape, window: tuple[int, ...], stride: Pair) -> Margins:
    """Return the padding on each side with which every pixel, or every second one, has a window."""
    pairs = []
    for size, side, step in zip(shape[:2], window, stride, strict=True):
        total = max((-(-size // step) - 1) * step + side - size, 0)
        pairs.append((total // 2, total - total // 2))
    return pairs[0], pairs[1]


def by_channel(weights: NDArray[np.int8], channels: int) -> NDArray[np.int8]:
    """Return weights (out, h, w, 1), or with zeros for several outputs of each channel."""
    out, height, width, _ = weights.shape
    if out == channels:
        return weights
    full = np.zeros((out, height, width, channels), np.int8)
    for o, own in enumerate(weights):
        full[o, :, :, o * channels // out] = own[..., 0]
    return full
