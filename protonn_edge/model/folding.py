"""An affine map of raw features, folded into the weights for the device's input bytes.

The normalizer and other factors become part of a matrix's weights, so they cost the device nothing.
The training statistics predict how much rounding weights and inputs changes the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.checks import set_checked
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_stage import IntArray
from protonn_edge.model.matvec import range_of_products
from protonn_edge.model.model import Model
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InvalidValue

FloatArray = NDArray[np.float64]

RESIDUAL_MAXIMUM = 127
INPUT_BITS = (8, 7, 6, 5, 4)

COARSER = 1.02  # factor between the units tried, until all rounded numbers fit
Fitted = TypeVar("Fitted", bound="Quantized")


@lru_cache(maxsize=16)  # training asks for the same quantizer at each step
def input_quantizer(statistics: InputStatistics, bits: int) -> InputQuantizer:
    """Return the quantizer of features with these training statistics.

    Each feature's range is cut into ``2**bits - 1`` steps, from the end that is closer to its most
    frequent value. A constant feature gets a step of 1 and always reads 0. Features that are
    integers are unchanged, for any number of bits.
    """
    if statistics.whole:
        zero = np.zeros_like(statistics.lower)
        return InputQuantizer(zero, zero + 1, int(statistics.upper[0]))
    maximum = (1 << bits) - 1
    lower, upper = statistics.lower, statistics.upper
    rests_high = upper - statistics.background < statistics.background - lower
    zero = np.where(rests_high, upper, lower)
    step = np.where(rests_high, lower - upper, upper - lower) / maximum
    return InputQuantizer(zero, np.where(step == 0, 1.0, step), maximum)


class Quantized(Protocol):
    """Weights as integers with a limited number of bits."""

    @property
    def error(self) -> float:
        """The predicted error of the values."""


def most_exact(
    fit: Callable[[int, int], Fitted | None], tolerated_error: float, widths: Sequence[int]
) -> Fitted | None:
    """Return the most exact way to quantize weights; None if none fits.

    `fit(input bits, sum bits)` returns None if no scale fits. The first width of sums is tried with
    inputs of every number of bits; wider sums are tried only with the most input bits, and only
    while the error exceeds `tolerated_error`.
    """
    first, *wider = widths
    fits = [fit(bits, first) for bits in INPUT_BITS]
    for width in (None, *wider):
        fits += [] if width is None else [fit(INPUT_BITS[0], width)]
        best = min((each for each in fits if each), key=lambda each: each.error, default=None)
        if best is not None and best.error <= tolerated_error:
            break
    return best


def coarser(unit: float) -> Iterator[float]:
    """Yield ever coarser units, beginning with this one, for as long as they are finite."""
    while math.isfinite(unit):
        yield unit
        unit *= COARSER


@dataclass(frozen=True, eq=False)
class FoldedMap:
    """The map ``weights q + constant`` of quantized inputs q."""

    weights: FloatArray  # (d, D): change per step of an input
    constant: FloatArray  # (d,): the values if all inputs are 0
    # (D,): of the inputs, over the training points
    mean: FloatArray
    variance: FloatArray
    rounds: bool = True  # whether inputs are rounded, unlike integer features

    @classmethod
    def of(
        cls, weights: Array, model: Model, inputs: InputQuantizer, step: float = 1.0
    ) -> FoldedMap:
        """Return the map from inputs to ``weights x`` of normalized features x, in units of `step`.

        Weights (d, D) are per unit of a normalized feature. `InputError` if a number overflows.
        """
        normalizer, statistics = model.normalizer, model.inputs
        per_raw_unit = weights.astype(np.float64) * normalizer.scale / step
        folded = cls(
            weights=per_raw_unit * inputs.step,
            constant=_dot(per_raw_unit, inputs.zero - normalizer.offset),
            mean=(statistics.mean - inputs.zero) / inputs.step,
            variance=np.square(statistics.deviation / inputs.step),
            rounds=not statistics.whole,
        )
        check_computable(folded.weights, folded.constant, folded.mean, folded.variance)
        return folded


def check_computable(*folded: FloatArray) -> None:
    """Raise `InputError` if folding in the normalizer gave numbers that are not finite."""
    if not all(np.isfinite(numbers).all() for numbers in folded):
        raise InvalidValue(
            "the normalizer or the input statistics",
            "too large to compute with",
            "train the model again with smaller feature values",
        )


@dataclass(frozen=True, eq=False)
class RoundedWeights:
    """The weights of a map as integers, in multiples of `unit`, clipped to -most..most."""

    folded: FoldedMap
    unit: float
    most: int = RESIDUAL_MAXIMUM
    residuals: NDArray[np.int64] = field(init=False)  # (d, D)
    drift: FloatArray = field(init=False)  # (d,): mean rounding error of the values
    # (d,): variance of the rounding error of the values, including the inputs' error
    noise: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        folded, wide = self.folded, np.rint(self.folded.weights / self.unit)
        residuals = np.clip(wide, -self.most, self.most).astype(np.int64)
        rounding = self.unit * residuals - folded.weights
        of_inputs = np.square(folded.weights).sum(axis=1) / 12 * folded.rounds
        set_checked(self, "residuals", residuals)
        set_checked(self, "drift", _dot(rounding, folded.mean))
        set_checked(self, "noise", np.square(rounding) @ folded.variance + of_inputs)


@dataclass(frozen=True, eq=False)
class QuantizedProduct:
    """A map with int8 weights and sums of limited bits, in the finest unit that fits both.

    Weights and constants that are already integers of this size stay unchanged.
    """

    residuals: NDArray[np.int8]  # (d, D): the weights
    bias: IntArray  # (d,): bias of the sums, minus their mean rounding error
    accumulator_bits: int  # every sum fits, for any input
    unit: float  # value of a unit of residuals and sums
    error: float  # predicted error of the values relative to their spread, both root mean squares

    @classmethod
    def of(
        cls,
        folded: FoldedMap,
        constant: FloatArray,
        maximum: int,
        accumulator_bits: int,
        spare: int = 0,
    ) -> QuantizedProduct:
        """Return the map of inputs up to `maximum`; sums stay below their limit by `spare`."""
        limit = (1 << (accumulator_bits - 1)) - 1 - spare  # with either sign
        finest = _finest_unit(folded, constant, maximum, limit)
        if finest <= 1 and _whole(folded.weights) and _whole(constant):
            finest = 1.0
        for unit in coarser(finest):
            rounded = RoundedWeights(folded, unit)
            residuals = rounded.residuals.astype(np.int8)
            bias = np.rint((constant - rounded.drift) / unit).astype(np.int64)
            reached = range_of_products(residuals, bias, maximum)
            if max(map(abs, reached.ends)) <= limit:
                break
        spread = float((np.square(folded.weights) @ folded.variance).mean())
        error = math.sqrt(float(rounded.noise.mean()) / spread) if spread > 0 else math.inf
        return cls(residuals, bias, accumulator_bits, unit, error)


class FittedProduct(NamedTuple):
    """A product, and the quantizer of its inputs."""

    inputs: InputQuantizer
    product: QuantizedProduct

    @property
    def error(self) -> float:
        """The predicted error of the product."""
        return self.product.error


def _finest_unit(folded: FoldedMap, constant: FloatArray, maximum: int, limit: int) -> float:
    """Return the finest unit with residuals in int8 and, before rounding, sums within `limit`."""
    weights = maximum * folded.weights
    low, high = np.minimum(weights, 0).sum(axis=1), np.maximum(weights, 0).sum(axis=1)
    largest = float(np.abs(constant + np.stack([low, high])).max())
    return max(float(np.abs(folded.weights).max()) / RESIDUAL_MAXIMUM, largest / limit)


def _whole(numbers: FloatArray) -> bool:
    return bool((numbers == np.rint(numbers)).all())


def _dot(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Return matrix @ vector, correctly rounded, and therefore the same on every machine."""
    products = []
    for row in (matrix * vector).tolist():
        try:
            products.append(math.fsum(row))
        except (OverflowError, ValueError):  # not finite, or an intermediate overflow
            products.append(math.nan)
    return np.array(products)
