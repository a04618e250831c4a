"""A robust measure of the deviation of values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_OF_NORMAL = 1.4826  # of a normal distribution, in medians of absolute values


def robust_deviation(values: NDArray[np.float64]) -> float:
    """Return the deviation of `values`, of any shape, from 0."""
    return _OF_NORMAL * float(np.median(np.abs(values)))
