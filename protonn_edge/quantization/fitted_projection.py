"""A projection of bytes whose sums are requantized to signed bytes: its integers in a given scale.

What the coordinates are in, steps of theirs, is decided before; here a unit of the weights is found
for which nothing overflows, and the error is predicted that rounding makes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.quantization.folding import (
    INPUT_BITS,
    RESIDUAL_MAXIMUM,
    FloatArray,
    FoldedMap,
    RoundedWeights,
)
from protonn_edge.stages.input_quantizer.quantizer import InputQuantizer
from protonn_edge.stages.integer_stage import IntArray
from protonn_edge.stages.projection.integers import (
    MAXIMUM_MULTIPLIER,
    OFFSET_STEP,
    REQUANTIZE_SHIFT,
    REQUANTIZED_LIMIT,
)

_ACCUMULATOR_SPAN = {16: (1 << 16) - 2, 24: (1 << 24) - 2}


@dataclass(frozen=True)
class FittedProjection:
    """One way to quantize a projection, and the error that it is predicted to make."""

    inputs: InputQuantizer
    rounded: RoundedWeights
    bias: IntArray
    accumulator_bits: int
    multiplier: int
    offset: IntArray

    @property
    def residuals(self) -> NDArray[np.int8]:
        """The weights, (d, D)."""
        return self.rounded.residuals.astype(np.int8)

    @property
    def error(self) -> float:
        """Root mean square error of the coordinates, in their steps."""
        dropped = (1 << (self.accumulator_bits - 16)) - 1
        noise = self.rounded.noise + (self.rounded.unit * dropped) ** 2 / 12
        return float(np.sqrt(noise.mean()))

    @property
    def fields(self) -> dict[str, Any]:
        """What it is in the fields of an integer model."""
        return {
            "inputs": self.inputs,
            "projection": self.residuals,
            "bias": self.bias,
            "accumulator_bits": self.accumulator_bits,
            "multiplier": self.multiplier,
            "offset": self.offset,
        }


def best_projection(
    fit: Callable[[int, int], FittedProjection | None],
    tolerated_error: float,
    step: float = 1.0,
) -> FittedProjection | None:
    """Return the most exact projection, None if no scale holds one.

    Parameters
    ----------
    fit : callable
        Fits one, given the bits of inputs and of accumulators.
    tolerated_error : float
        With a larger one at 16 bits, accumulators of 24 are tried, too.
    step : float
        What the errors are multiplied with before.
    """
    found = [fit(bits, 16) for bits in INPUT_BITS]
    choices = [choice for choice in found if choice is not None]
    least = min((choice.error for choice in choices), default=math.inf)
    if not choices or least * step > tolerated_error:
        wide = fit(INPUT_BITS[0], 24)
        choices += [] if wide is None else [wide]
    return min(choices, key=lambda choice: choice.error, default=None)


def fit_projection(
    folded: FoldedMap,
    inputs: InputQuantizer,
    accumulator_bits: int,
    *,
    centre: FloatArray | float = 0.0,
    weights: FloatArray | None = None,
    most: int = RESIDUAL_MAXIMUM,
) -> FittedProjection | None:
    """Return a projection in the finest scale that fits these bits, None if there is none.

    Parameters
    ----------
    folded : FoldedMap
        From inputs to coordinates, in steps of these.
    inputs : InputQuantizer
        What the map was folded for.
    accumulator_bits : int
        16 or 24.
    centre : ndarray of shape (d,), or float
        The coordinates, in steps, that become 0.
    weights : ndarray of shape (d, D), optional
        Those that the unit must hold, where not all of the map's are: others are clipped.
    most : int
        The largest weight.
    """
    weights = folded.weights if weights is None else weights
    target = folded.constant - centre
    dropped = accumulator_bits - 16
    divisor = 1 << (REQUANTIZE_SHIFT + dropped)
    for multiplier in _multipliers(weights, most, inputs.maximum, accumulator_bits):
        unit = multiplier / divisor
        rounded = RoundedWeights(folded, unit, most)
        residuals = rounded.residuals
        span = inputs.maximum * np.abs(residuals).sum(axis=1)
        if span.max() > _ACCUMULATOR_SPAN[accumulator_bits]:
            continue
        bias = -(inputs.maximum * residuals.sum(axis=1)) // 2
        # What rounding adds on average is known, so it is taken off.
        constant = target - rounded.drift - unit * bias
        lost = multiplier * ((1 << dropped) - 1) / (2 << dropped)
        offset = np.rint(((constant + 0.5) * (1 << REQUANTIZE_SHIFT) + lost) / OFFSET_STEP)
        offset *= OFFSET_STEP
        reach = (span.max() // 2 + 1 >> dropped) + 1
        if not np.abs(offset).max() + reach * multiplier < REQUANTIZED_LIMIT:
            continue
        return FittedProjection(
            inputs=inputs,
            rounded=rounded,
            bias=bias,
            accumulator_bits=accumulator_bits,
            multiplier=multiplier,
            offset=offset.astype(np.int64),
        )
    return None


def _multipliers(weights: FloatArray, most: int, input_maximum: int, bits: int) -> range:
    """List multipliers from that of the finest unit that may fit to coarser ones.

    A residual is `most` at most, and the accumulator of so many bits must hold the largest row sum
    of magnitudes times the largest input, whatever the input is.
    """
    largest = float(np.abs(weights).max()) / most
    row = float(np.abs(weights).sum(axis=1).max()) * input_maximum
    unit = max(largest, row / _ACCUMULATOR_SPAN[bits])
    scale = 1 << (REQUANTIZE_SHIFT + bits - 16)
    if not unit * scale <= MAXIMUM_MULTIPLIER:
        return range(0)
    first = max(1, math.ceil(unit * scale))
    return range(first, min(first + max(8, first // 16), MAXIMUM_MULTIPLIER + 1))
