"""How raw numbers become the small whole numbers that a device is fed: rounded and saturated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64] | float

BYTE_MAXIMUM = 255
"""The largest number that a device can be fed."""


def saturated_steps(
    X: NDArray[Any], zero: Numbers, step: Numbers, maximum: int
) -> NDArray[np.uint8]:
    """Return how many steps X is above `zero`, rounded as integers are, within 0..maximum.

    Parameters
    ----------
    X : ndarray of shape (..., k)
        Raw numbers, finite.
    zero, step : array of shape (k,), or numbers
        What becomes 0, and raw units a step, finite and not 0.
    maximum : int
        1..255.

    Returns
    -------
    ndarray of the shape of X, uint8
    """
    with np.errstate(over="ignore"):  # what is too far away to count is at an end all the same
        steps = np.floor((X.astype(np.float64) - zero) / step + 0.5)
    return np.clip(steps, 0, maximum).astype(np.uint8)
