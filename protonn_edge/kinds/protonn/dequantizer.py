"""From the integer model back to floats: the values that its integers represent.

Quantization-aware training computes with these floats, so that it minimizes the loss of the integer
model itself, not of a separate formula.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.protonn.integers import IntegerModel
from protonn_edge.kinds.protonn.projection.integers import REQUANTIZE_SHIFT
from protonn_edge.kinds.protonn.prototypes.exponential import RBF_MAXIMUM, distance_step

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DequantizedModel:
    """Floats with the integer model's arithmetic, except for rounding of projections and the table.

    Distances are in units of 1/gamma: the RBF is ``exp(-||b_j - (W x + bias)||^2)``.

    Attributes
    ----------
    projection : ndarray of shape (d, D), float64
        W, for raw features x, or averages of them, that an `InputQuantizer` can express exactly.
    bias : ndarray of shape (d,), float64
        Offset of the projection, which includes the mean error of rounding down.
    prototypes : ndarray of shape (d, m), float64
        B.
    labels : ndarray of shape (L, m), float64
        Z, for RBF values of at most 1.
    """

    projection: FloatArray
    bias: FloatArray
    prototypes: FloatArray
    labels: FloatArray


def dequantize(model: IntegerModel) -> DequantizedModel:
    """Return the values that a model's integers represent."""
    step, half = distance_step(model.distance_shift), (1 << REQUANTIZE_SHIFT) / 2
    dropped = model.accumulator_bits - 16
    unit = model.multiplier / (1 << (REQUANTIZE_SHIFT + dropped))
    projection = step * unit * model.projection.astype(np.float64) / model.inputs.step
    # Arithmetic right shifts lose half a step on average.
    lost = model.multiplier * ((1 << dropped) - 1) / (2 << dropped)
    constant = (model.offset - lost - half + 0.5) / (1 << REQUANTIZE_SHIFT) + unit * model.bias
    return DequantizedModel(
        projection=projection,
        bias=step * constant - projection @ model.inputs.zero,
        prototypes=step * model.prototypes.astype(np.float64),
        labels=RBF_MAXIMUM * model.score_scale * model.labels.astype(np.float64),
    )
