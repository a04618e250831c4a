"""An affine map of raw features, folded into the bytes that stand for them on the device.

The normalizer, and whatever else scales a matrix, become part of its weights, so that none of it
costs the device anything. What rounding the weights and the inputs does to the map's values is
predicted from the statistics of the training points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.model import InputStatistics
from protonn_edge.stages.input_quantizer.quantizer import InputQuantizer

FloatArray = NDArray[np.float64]

RESIDUAL_MAXIMUM = 127
INPUT_BITS = (8, 7, 6, 5, 4)


@lru_cache(maxsize=16)  # training asks for the same one at each step
def input_quantizer(statistics: InputStatistics, bits: int) -> InputQuantizer:
    """Return the quantizer of features whose training values had these statistics.

    Each feature's range is cut into ``2**bits - 1`` steps, from the end that is nearer to its most
    frequent value. A constant feature gets a step of 1 and always reads 0.
    """
    maximum = (1 << bits) - 1
    lower, upper = statistics.lower, statistics.upper
    rests_high = upper - statistics.background < statistics.background - lower
    zero = np.where(rests_high, upper, lower)
    step = np.where(rests_high, lower - upper, upper - lower) / maximum
    return InputQuantizer(zero, np.where(step == 0, 1.0, step), maximum)


@dataclass(frozen=True, eq=False)
class FoldedMap:
    """The map ``weights q + constant`` of quantized inputs q.

    Attributes
    ----------
    weights : ndarray of shape (d, D), float64
        By a step of an input.
    constant : ndarray of shape (d,), float64
        The values where all inputs are 0.
    mean, variance : ndarray of shape (D,), float64
        Of the inputs of training points.
    """

    weights: FloatArray
    constant: FloatArray
    mean: FloatArray
    variance: FloatArray

    @classmethod
    def of(
        cls,
        per_raw_unit: FloatArray,
        offset: FloatArray,
        statistics: InputStatistics,
        inputs: InputQuantizer,
    ) -> FoldedMap:
        """Return the map of inputs that is ``per_raw_unit (x - offset)`` of features x.

        Parameters
        ----------
        per_raw_unit : ndarray of shape (d, D), float64
            Weights by a feature's own unit.
        offset : ndarray of shape (D,), float64
            Where a feature counts nothing.

        Raises
        ------
        InputError
            If numbers are too large to compute with.
        """
        folded = cls(
            weights=per_raw_unit * inputs.step,
            constant=_dot(per_raw_unit, inputs.zero - offset),
            mean=(statistics.mean - inputs.zero) / inputs.step,
            variance=np.square(statistics.deviation / inputs.step),
        )
        every = (folded.weights, folded.constant, folded.mean, folded.variance)
        if not all(np.isfinite(numbers).all() for numbers in every):
            raise InputError(
                "the normalizer or the input statistics are too large to compute with; train the "
                "model again with features of ordinary size"
            )
        return folded


@dataclass(frozen=True, eq=False)
class RoundedWeights:
    """The weights of a map in whole numbers of a `unit`, clipped to -most..most."""

    folded: FoldedMap
    unit: float
    most: int = RESIDUAL_MAXIMUM

    @cached_property
    def residuals(self) -> NDArray[np.int64]:
        """The weights, (d, D)."""
        wide = np.rint(self.folded.weights / self.unit)
        return np.clip(wide, -self.most, self.most).astype(np.int64)

    @cached_property
    def _rounding(self) -> FloatArray:
        return self.unit * self.residuals - self.folded.weights

    @property
    def drift(self) -> FloatArray:
        """What rounding them adds to the values on average, (d,)."""
        return _dot(self._rounding, self.folded.mean)

    @property
    def noise(self) -> FloatArray:
        """The variance, (d,), of what rounding does to the values, that of the inputs too."""
        of_weights = np.square(self._rounding) @ self.folded.variance
        of_inputs = np.square(self.folded.weights).sum(axis=1) / 12
        noise: FloatArray = of_weights + of_inputs
        return noise


def _dot(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Return matrix @ vector, exactly rounded: no machine adds in another order."""
    return np.array([_sum(row) for row in (matrix * vector).tolist()])


def _sum(numbers: list[float]) -> float:
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # not finite, or not on the way
        return math.nan
