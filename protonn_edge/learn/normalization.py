"""Normalize features by an affine map per feature, which is later folded into W."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.statistics import InputStatistics, Normalizer

Float32 = NDArray[np.float32]

DEVIATION_FLOOR = 0.1


def normalizer_from(kind: str, inputs: InputStatistics) -> Normalizer:
    """Return the normalizer of a kind for training features with these statistics.

    "standard" is zero mean and unit deviation. A deviation counts as at least `DEVIATION_FLOOR` of
    the feature's range, because the rare values of a pixel that is almost always background would
    otherwise be scaled up. A constant feature is only shifted.
    "l2" scales points to unit norm, as the paper does for data with sets of labels; it and "none"
    have no fitted parameters.

    The statistics of averages of pixels contain the range of all pixels, so all averages have the
    same quantization step. Otherwise the weight of an average that hardly ever changes would be so
    large that the other weights would lose their resolution in integers.
    """
    if kind in ("none", "l2"):
        return Normalizer.identity(len(inputs.mean), kind)
    extent = inputs.upper - inputs.lower
    deviation = np.maximum(inputs.deviation, DEVIATION_FLOOR * extent)
    return Normalizer("standard", inputs.mean, 1.0 / np.where(extent > 0, deviation, 1.0))
