"""The ranges of a forest's features, of which each byte is a step.

255 equal steps from the smallest to the largest value leave few for most values of a skewed
feature. The thresholds of trees show where the classes differ, and there the steps are fine.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.statistics import Float64, InputStatistics

Float32 = NDArray[np.float32]
Indices = NDArray[np.int64]

_STEPS = np.append(1.0, np.geomspace(0.1, 1.5, 64))[:, None, None]  # relative to the full range
_CROSSING = 0.01  # of the points; 0.001 to 0.003 where a feature is uniform or normal
_PLACES = np.linspace(0.0, 1.0, 33)[:, None]  # from 0, the first threshold, to 1, the last


def fine_enough(
    inputs: InputStatistics, asked: Indices, thresholds: Float64, X: Float32
) -> NDArray[np.bool_]:
    """Return for which features (D,) few points (n, D) cross a threshold with the present steps.

    Thresholds are moved to the nearest byte. A feature without thresholds has fine steps.
    """
    fine = np.ones(len(inputs.lower), np.bool_)
    steps = (inputs.upper - inputs.lower) / BYTE_MAXIMUM  # not 0 where there is a threshold
    for feature in np.unique(asked).tolist():
        limits, values = thresholds[asked == feature], np.sort(X[:, feature]).astype(np.float64)
        lower, step = inputs.lower[feature], steps[feature]
        byte = np.clip(np.rint((limits - lower) / step - 0.5), 0, BYTE_MAXIMUM - 1)
        places = (np.searchsorted(values, each) for each in (limits, lower + (byte + 0.5) * step))
        fine[feature] = np.abs(np.subtract(*places)).mean() <= _CROSSING * len(values)
    return fine


def between_thresholds(
    inputs: InputStatistics, asked: Indices, thresholds: Float64
) -> InputStatistics:
    """Return the statistics with ranges for which bytes have the finest resolution.

    Values beyond all thresholds of a feature need not be distinguished. The first threshold is
    after byte 0, and the last one before byte 255; a single threshold is in the middle.
    """
    low, high = np.full_like(inputs.lower, np.inf), np.full_like(inputs.upper, -np.inf)
    np.minimum.at(low, asked, thresholds)
    np.maximum.at(high, asked, thresholds)
    bounded = np.isfinite(low)
    low, high = np.where(bounded, low, inputs.lower), np.where(bounded, high, inputs.upper)
    step = (high - low) / (BYTE_MAXIMUM - 1)
    half = np.where(step > 0, step, inputs.upper - inputs.lower) / 2
    return replace(
        inputs,
        lower=np.where(bounded, low - half, inputs.lower),
        upper=np.where(bounded, high + half, inputs.upper),
    )


def with_best_steps(
    inputs: InputStatistics, asked: Indices, thresholds: Float64, X: Float32
) -> InputStatistics:
    """Return the statistics with ranges for which the fewest points (n, D) cross a threshold.

    For each feature, several steps and positions of the range are tried, the present ones first.
    Integers with up to 256 values keep their ranges, because their thresholds are exact.
    """
    lower, upper = inputs.lower.copy(), inputs.upper.copy()
    for feature in np.unique(asked):
        limits, counts = np.unique(thresholds[asked == feature], return_counts=True)
        values, reach = np.sort(X[:, feature]).astype(np.float64), limits[-1] - limits[0]
        constant = values[0] == values[-1]
        if constant or (reach < BYTE_MAXIMUM and (np.rint(values) == values).all()):
            continue
        beyond = np.searchsorted(values, limits, side="right")
        within = _apart(limits, values, beyond)
        span = within[-1] - within[0] if reach else upper[feature] - lower[feature]
        step = _STEPS * span / (BYTE_MAXIMUM - 1)
        first = within[0] + _PLACES * ((span if reach else 0.0) - (BYTE_MAXIMUM - 1) * step)
        nearest = first + step * np.clip(np.rint((limits - first) / step), 0, BYTE_MAXIMUM - 1)
        crossed = np.abs(np.searchsorted(values, nearest) - beyond) @ counts
        best = np.unravel_index(crossed.argmin(), crossed.shape)
        lower[feature] = first[best][0] - step[best[0], 0, 0] / 2
        upper[feature] = lower[feature] + BYTE_MAXIMUM * step[best[0], 0, 0]
    return replace(inputs, lower=lower, upper=upper)


def _apart(limits: Float64, values: Float64, beyond: Indices) -> Float64:
    """Return thresholds between values, with the same sorted values on each side."""
    last = len(values) - 1
    below, above = values[np.maximum(beyond - 1, 0)], values[np.minimum(beyond, last)]
    margin = np.where((beyond > 0) & (beyond <= last), (above - below) / 64, 0.0)
    moved = np.clip(limits, below + margin, above - margin)
    return np.where(margin > 0, moved, limits)
