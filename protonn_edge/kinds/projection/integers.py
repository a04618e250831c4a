"""The projection in integers, from bytes to signed bytes, and the fitting of its scale.

Given the steps of the coordinates, this module finds a unit of the weights for which nothing
overflows, and predicts the rounding error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model import folding
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_stage import IntArray, Range, check_counts, check_holds
from protonn_edge.model.layer import Scale
from protonn_edge.model.matvec import IntegerMatvec

# Coordinates are clamped to a byte. Quantization leaves enough margin around the prototypes that a
# clamped point is far from all of them.
COORDINATE_MINIMUM, COORDINATE_MAXIMUM = -128, 127
MAXIMUM_MULTIPLIER = 0xFFFF
OFFSET_STEP = 1 << 8  # an offset's lowest byte is 0 and needs no addition
REQUANTIZED_LIMIT = (1 << 31) - (1 << 24)  # 32 bits, with a margin for the smallest coordinate
REQUANTIZE_SHIFT = 16  # two whole bytes, which an 8-bit chip shifts without instructions


@dataclass(frozen=True, eq=False)
class IntegerProjection(IntegerMatvec):
    """Maps bytes to coordinates, each a signed byte.

    Here a are the accumulators, of 16 or 24 bits, and h their upper 16 bits::

        a_k = bias_k + sum_i W_ki q_i
        p_k = (h_k * multiplier + offset_k) >> 16         limited to a signed byte

    Offsets include the half that rounds p to nearest. Partial sums may wrap around, as long as the
    final sum fits.
    """

    kind: ClassVar[str] = "projection"
    widths: ClassVar[tuple[int, ...]] = (16, 24)

    multiplier: int  # 1..65535
    offset: IntArray  # (d,): multiples of 256, including half a step for rounding
    # coordinates outside this range, within a signed byte, are equivalent for the next stage
    wanted: Range

    def __post_init__(self) -> None:
        """Refuse numbers with which a sum or a coordinate could overflow."""
        check_counts(projections=self.n_sums)
        super().__post_init__()
        (low, high), bits, multiplier = (
            self.accumulators.ends,
            self.accumulator_bits,
            self.multiplier,
        )
        fits = 1 <= multiplier <= MAXIMUM_MULTIPLIER
        check_holds(fits, f"the multiplier {multiplier:,}", f"1 to {MAXIMUM_MULTIPLIER:,}")
        product = (max(-low, high) >> (bits - 16)) * multiplier + int(np.abs(self.offset).max())
        most = REQUANTIZED_LIMIT - 1
        check_holds(
            product <= most, f"requantized accumulators up to {product:,}", f"up to {most:,}"
        )
        aligned = not (self.offset % OFFSET_STEP).any()
        check_holds(aligned, f"offsets that are not multiples of {OFFSET_STEP}", "multiples")

    @cached_property
    def scale(self) -> Scale:
        """The conversion of sums to coordinates."""
        low, high, dropped = COORDINATE_MINIMUM, COORDINATE_MAXIMUM, self.accumulator_bits - 16
        numbers = self.multiplier, REQUANTIZE_SHIFT, low, high, dropped, self.offset
        return Scale(self.accumulators, *numbers)

    @property
    def clamps(self) -> bool:
        """Whether a coordinate may exceed a signed byte for some input."""
        return any(self.scale.clips)

    @cached_property
    def output(self) -> Range:
        """The range of the device's coordinates, after clamping."""
        return self.wanted if self.clamps else self.scale.reached


_ACCUMULATOR_SPAN = {16: (1 << 16) - 2, 24: (1 << 24) - 2}


@dataclass(frozen=True)
class FittedProjection:
    """A quantized projection, and its predicted error."""

    inputs: InputQuantizer
    rounded: folding.RoundedWeights
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

    def stage(self, wanted: Range) -> IntegerProjection:
        """Return the stage; coordinates outside of the `wanted` range are equivalent."""
        product = self.residuals, self.bias, self.accumulator_bits, self.inputs.maximum
        return IntegerProjection(*product, self.multiplier, self.offset, wanted)


def fit_projection(
    folded: folding.FoldedMap,
    inputs: InputQuantizer,
    accumulator_bits: int,
    *,
    centre: folding.FloatArray | float = 0.0,
    weights: folding.FloatArray | None = None,
    most: int = folding.RESIDUAL_MAXIMUM,
) -> FittedProjection | None:
    """Return a projection in the finest scale that fits these bits, None if no scale does.

    - `folded`: maps `inputs` to coordinates in steps; coordinates at `centre` (d,) become 0.
    - `weights` (d, D): weights that the unit must represent, by default the map's; larger
      ones, above `most`, are clipped.
    """
    weights = folded.weights if weights is None else weights
    target = folded.constant - centre
    dropped = accumulator_bits - 16
    divisor = 1 << (REQUANTIZE_SHIFT + dropped)
    # From the finest unit on in which the residuals, and for any input the sums of a row, may fit.
    sizes, span_limit = np.abs(weights), _ACCUMULATOR_SPAN[accumulator_bits]
    row = float(sizes.sum(axis=1).max()) * inputs.maximum
    finest = max(float(sizes.max()) / most, row / span_limit) * divisor
    if not finest <= MAXIMUM_MULTIPLIER:
        return None
    first = max(1, math.ceil(finest))
    for multiplier in range(first, min(first + max(8, first // 16), MAXIMUM_MULTIPLIER + 1)):
        unit = multiplier / divisor
        rounded = folding.RoundedWeights(folded, unit, most)
        residuals = rounded.residuals
        span = inputs.maximum * np.abs(residuals).sum(axis=1)
        if span.max() > span_limit:
            continue
        bias = -(inputs.maximum * residuals.sum(axis=1)) // 2
        # The mean rounding error is known, so it is subtracted.
        constant = target - rounded.drift - unit * bias
        lost = multiplier * ((1 << dropped) - 1) / (2 << dropped)
        offset = np.rint(((constant + 0.5) * (1 << REQUANTIZE_SHIFT) + lost) / OFFSET_STEP)
        offset *= OFFSET_STEP
        reach = (span.max() // 2 + 1 >> dropped) + 1
        if not np.abs(offset).max() + reach * multiplier < REQUANTIZED_LIMIT:
            continue
        whole = offset.astype(np.int64)
        return FittedProjection(inputs, rounded, bias, accumulator_bits, multiplier, whole)
    return None
