"""From the integer model back to floats: what its integers stand for.

Training that is aware of quantization computes with these floats, so that what it minimizes is the
loss of the integer model and not that of a formula beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.quantization.exponential import KERNEL_MAXIMUM, PROJECTION_STEP
from protonn_edge.quantization.integer_model import IntegerModel

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DequantizedModel:
    """Floats whose arithmetic is the integer model's, but for rounding projections and the table.

    Distances are in units of 1/gamma: the kernel is ``exp(-||b_j - (W x + start)||^2)``.

    Attributes
    ----------
    projection : ndarray of shape (d, D), float64
        W, for raw features x, or averages of them, that an `InputQuantizer` can express exactly.
    start : ndarray of shape (d,), float64
        What a projected point begins with; rounding down is taken into account on average.
    prototypes : ndarray of shape (d, m), float64
        B.
    labels : ndarray of shape (L, m), float64
        Z, for kernel values of at most 1.
    """

    projection: FloatArray
    start: FloatArray
    prototypes: FloatArray
    labels: FloatArray


def dequantize(model: IntegerModel) -> DequantizedModel:
    """Return what the integers of a model stand for."""
    divisor = 1 << model.shift
    unit = model.multiplier / divisor
    per_byte = PROJECTION_STEP * unit * model.projection.astype(np.float64)
    projection = per_byte / model.inputs.step
    dropped = (divisor - 1) / (2 * divisor)  # by an arithmetic right shift, on average
    constant = unit * model.start + model.offset / divisor - dropped
    return DequantizedModel(
        projection=projection,
        start=PROJECTION_STEP * constant - projection @ model.inputs.zero,
        prototypes=PROJECTION_STEP * model.prototype_factor * model.prototypes.astype(np.float64),
        labels=KERNEL_MAXIMUM * model.score_scale * model.labels.astype(np.float64),
    )
