"""Quantization of raw numbers to the small whole numbers of a device: rounded and saturated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64] | float

BYTE_MAXIMUM = 255
"""The largest input of a device."""


def saturated_steps(
    X: NDArray[Any], zero: Numbers, step: Numbers, maximum: int
) -> NDArray[np.uint8]:
    """Return X in steps above `zero`, rounded and within 0..maximum.

    Parameters
    ----------
    X : ndarray of shape (..., k)
        Raw numbers, finite.
    zero, step : array of shape (k,), or numbers
        The value for 0, and raw units per step, finite and not 0.
    maximum : int
        1..255.

    Returns
    -------
    ndarray of the shape of X, uint8
    """
    with np.errstate(over="ignore"):  # an overflow saturates as well
        steps = np.floor((X.astype(np.float64) - zero) / step + 0.5)
    return np.clip(steps, 0, maximum).astype(np.uint8)
