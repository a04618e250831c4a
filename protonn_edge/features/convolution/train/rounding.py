"""Convolutions in a device's integers, for training: exact forward, straight-through backward.

Weights and biases are kept unrounded, in the units of the integers. A forward pass rounds them and
computes exactly the device's values: 16-bit sums are exact in float32, and so are their products
with a byte. A backward pass ignores the rounding (straight-through).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from protonn_edge.features.convolution.integers import SHIFTS, IntegerConvolution
from protonn_edge.features.convolution.train.layers import Convolution, Pooling, TrainedLayer
from protonn_edge.features.convolution.train.notation import ConvolutionLayout
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.learn.points import Float32
from protonn_edge.model.shapes import ImageShape

ACTIVATION_BITS = (8, 4)
SUM_RANGE = (-(2**15), 2**15 - 1)
_TRIED_SHARES = np.linspace(0.3, 1.0, 36)  # limits to try, as shares of the largest value
_SHRINKING = np.float32(0.98)
# share of the largest input: a bias changes as fast as a weight of such an input
_BIAS_SHARE = 0.25
_VALUES_LOOKED_AT = 200_000
_LARGEST_BYTE = 255
_COARSEST = 2.5  # coarsest step of weights, relative to the best one


@dataclass(frozen=True)
class Bits:
    """How fine a network's integers are."""

    weights: int = 8  # 2 means ternary: -1, 0, 1
    activations: int = 8
    # whether weights lose as many bits as values if a sum would be too large; otherwise values lose
    # most of the bits, for which long training compensates
    shared: bool = False

    @property
    def largest_weight(self) -> int:
        """The largest magnitude of a weight."""
        return (1 << (self.weights - 1)) - 1

    @property
    def maximum(self) -> int:
        """The largest value of a layer."""
        return (1 << self.activations) - 1


@dataclass(frozen=True, eq=False)
class RoundedConvolution(TrainedLayer):
    """A convolution with integer weights, sums and clamped values."""

    latent: Convolution  # weights and biases before they are rounded, in the integers' units
    bits: Bits
    largest_input: int
    maximum: int  # the largest value
    # from a sum to a value, which is ``(sum * multiplier) >> shift``
    multiplier: int
    shift: int

    @classmethod
    def of(
        cls,
        layer: Convolution,
        x: Float32,
        step: float,
        largest_input: int,
        bits: Bits,
        behind: Convolution | None = None,
        limit: float | None = None,
    ) -> tuple[Self, float]:
        """Round a float convolution; return it with the value that an output of 1 stands for.

        - `x` (channels, h, w, n): inputs of some training points, multiples of `step`.
        - `behind`: the convolution that takes the values; its sums must fit without coarser
          weights.
        - `limit`: the exact value of the largest integer, if it is fixed.
        """
        weight_step = _best_step(layer.weights, bits.largest_weight)
        weight_step = max(weight_step, _least_step(layer, step, largest_input))
        values = np.maximum(layer.forward(x)[0], 0)
        out_step = _best_step(values, bits.maximum) if limit is None else limit / bits.maximum
        maximum = _maximum_for(behind, out_step, bits)
        out_step *= bits.maximum / maximum
        multiplier, shift = _as_product(weight_step * step / out_step)
        if limit is not None:
            weight_step = out_step / step * multiplier / 2**shift
        half = (1 << shift) / (2 * multiplier)  # so that values are rounded, not truncated
        biases = layer.biases / np.float32(weight_step * step) + np.float32(half)
        latent = Convolution(layer.layout, layer.weights / np.float32(weight_step), biases)
        made = cls(latent, bits, largest_input, maximum, multiplier, shift)
        made.hold()
        return made, weight_step * step * 2**shift / multiplier

    @property
    def layout(self) -> ConvolutionLayout:
        """Kernel, stride and padding."""
        return self.latent.layout

    @property
    def parameters(self) -> list[Float32]:
        """Unrounded weights and biases."""
        return self.latent.parameters

    @property
    def factors(self) -> tuple[float, float]:
        """The factors on the steps of weights and biases, by their sizes."""
        weight = float(np.sqrt(np.mean(np.square(self.latent.weights)))) or 1.0
        return weight, weight * self.largest_input * _BIAS_SHARE

    @property
    def rounded(self) -> Convolution:
        """Weights and biases as whole numbers, in floats of 32 bits."""
        most = np.float32(self.bits.largest_weight)
        weights = np.clip(np.rint(self.latent.weights), -most, most)
        return replace(self.latent, weights=weights, biases=np.rint(self.latent.biases))

    def forward(self, x: Float32) -> tuple[Float32, Any]:
        """Return the device's values (out, h', w', n) for its inputs x; both are integers."""
        rounded = self.rounded
        sums, kept = rounded.forward(x)
        sums *= np.float32(self.multiplier)
        sums *= np.float32(2.0**-self.shift)
        np.floor(sums, out=sums)
        inside = (sums > 0) & (sums <= self.maximum)
        return np.clip(sums, 0, np.float32(self.maximum)), (rounded, kept, inside)

    def backward(
        self, kept: Any, slope: Float32, *, by_input: bool = True
    ) -> tuple[Float32, list[Float32]]:
        """Return the derivatives by x and by the unrounded parameters."""
        rounded, below, inside = kept
        by_sums = slope * inside
        by_sums *= np.float32(self.multiplier * 2.0**-self.shift)
        of: tuple[Float32, list[Float32]] = rounded.backward(below, by_sums, by_input=by_input)
        return of

    def hold(self) -> None:
        """Shrink kernels, in place, until the sums for any input fit 16 bits."""
        while True:
            low, high = sum_ends(self.rounded, self.largest_input)
            beyond = (low < SUM_RANGE[0]) | (high > SUM_RANGE[1])
            if not beyond.any():
                return
            self.latent.weights[beyond] *= _SHRINKING
            self.latent.biases[beyond] *= _SHRINKING

    def integer_stage(self, shape: ImageShape, maximum: int) -> IntegerConvolution:
        """Return the device's stage for images of this shape and largest value."""
        assert maximum == self.largest_input
        rounded = self.rounded
        weights, biases = rounded.weights.astype(np.int8), rounded.biases.astype(np.int64)
        scaling, layout = (self.multiplier, self.shift, self.maximum, maximum), self.layout
        above, left = layout.padding
        return IntegerConvolution(
            *(shape, weights, biases, *scaling, self.bits.weights),
            stride=(layout.stride, layout.stride),
            margins=((above, above), (left, left)),
            padding_value=layout.padding_value,
        )


def sum_ends(layer: Convolution, largest_input: float) -> tuple[Float32, Float32]:
    """Return the smallest and largest sums of each output, (out,), including partial sums."""
    flat = layer.weights.reshape(len(layer.weights), -1)
    low = layer.biases + largest_input * np.minimum(flat, 0).sum(axis=1)
    high = layer.biases + largest_input * np.maximum(flat, 0).sum(axis=1)
    return low, high


def _least_step(layer: Convolution, step: float, largest_input: int) -> float:
    """Return about the finest step of weights for which all sums fit 16 bits."""
    low, high = sum_ends(replace(layer, biases=layer.biases / np.float32(step)), largest_input)
    return float(max(np.max(high), np.max(-low))) / (SUM_RANGE[1] + 1)


def _maximum_for(behind: Convolution | None, step: float, bits: Bits) -> int:
    """Return the largest value that suits the next layer.

    The more inputs a sum has, and the larger they are, the smaller its weights must be. If the
    weights would lose most of their bits, it is better that the values lose some.
    """
    if behind is None:
        return bits.maximum
    best = _best_step(behind.weights, bits.largest_weight)
    coarser = _least_step(behind, step, bits.maximum) / best
    if bits.shared:
        return max(1, round(bits.maximum / math.sqrt(max(1.0, coarser))))
    return bits.maximum if coarser <= _COARSEST else max(1, round(bits.maximum / coarser))


def _best_step(values: Float32, largest: int) -> float:
    """Return the step for which rounding and clamping values to `largest` steps loses least."""
    flat = np.abs(values).ravel()
    flat = flat[flat > 0]
    flat = flat[:: max(1, len(flat) // _VALUES_LOOKED_AT)]
    if not len(flat):
        return 1.0

    def lost(step: float) -> float:
        rounded = np.minimum(np.rint(flat / np.float32(step)), np.float32(largest))
        return float(np.square(rounded * np.float32(step) - flat).sum())

    steps: Iterable[float] = _TRIED_SHARES * float(flat.max()) / largest
    return min(steps, key=lost)


def _as_product(ratio: float) -> tuple[int, int]:
    """Return a byte and a shift for which ``byte / 2**shift`` is close to the ratio."""
    shift = SHIFTS[-1]
    while shift > SHIFTS[0] and ratio * 2**shift > _LARGEST_BYTE:
        shift -= 1
    return min(_LARGEST_BYTE, max(1, round(ratio * 2**shift))), shift


def integer_stages(
    layers: Sequence[TrainedLayer], shape: ImageShape, maximum: int
) -> tuple[IntegerConvolution | IntegerPooling, ...]:
    """Return the device's stages from rounded layers and pooling, for images of this shape."""
    stages: list[IntegerConvolution | IntegerPooling] = []
    for layer in layers:
        assert isinstance(layer, RoundedConvolution | Pooling)
        made = layer.integer_stage(shape, maximum)
        stages.append(made)
        shape, maximum = made.output_shape, made.maximum
    return tuple(stages)
