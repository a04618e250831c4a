"""The table that replaces the exponential.

Coordinates are bytes, squared distances whole numbers of their steps; 256 RBF values cover all
distances at which the kernel is not negligible. The step is chosen such that the table ends at a
power of two, ``2**(8 + distance_shift)``: a shift then gives the index, and the carry of the sum,
if it starts that much below 2**16, indicates a prototype beyond the end. All models share one
table.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

TABLE_SIZE = 256

# Scores are sums of products, in 16 bits: a bit more here is a bit less in the labels. With 127
# both have about the same rounding errors.
RBF_MAXIMUM = 127
MAXIMUM_DISTANCE_SHIFT = 6  # so that differences beyond a signed byte are far

# The table ends where the kernel has fallen to 1/128. Prototypes beyond would add next to nothing
# to a score, but each costs time. On USPS, ending at 1/255 costs 6 % more cycles, and ending at
# 1/64 changes the class of another 1 % of the digits; at 1/128 the integers agree with the floats
# as well as at 1/255.
RBF_CUTOFF = 1 / 128
EXPONENT_LIMIT = -math.log(RBF_CUTOFF)

_BINS_PER_EXPONENT = TABLE_SIZE / EXPONENT_LIMIT


def distance_step(distance_shift: int) -> float:
    """Return the length, in units of 1/gamma, of a step of the projection's coordinates."""
    return math.sqrt(EXPONENT_LIMIT / (TABLE_SIZE << distance_shift))


def rbf_of_squares(squares: NDArray[Any], distance_shift: int) -> NDArray[np.float64]:
    """Return the exact kernel, at most 1, of squared distances in steps."""
    kernel: NDArray[np.float64] = np.exp(squares * -(distance_step(distance_shift) ** 2))
    return kernel


@cache
def exponential_table() -> NDArray[np.uint8]:
    """Return 127 exp(-t) at the centre of each of the 256 bins of t from 0 to ln(128), rounded.

    Returns
    -------
    ndarray of shape (256,), uint8
        Entry i is the kernel of every squared distance that shifts to i.
    """
    centre = (np.arange(TABLE_SIZE) + 0.5) / TABLE_SIZE * EXPONENT_LIMIT
    table: NDArray[np.uint8] = np.rint(RBF_MAXIMUM * np.exp(-centre)).astype(np.uint8)
    table.flags.writeable = False
    return table


def cut_rbf(exponents: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return `tabulated_rbf` unrounded: ``exp(-exponents)``, 0 from the table's end on."""
    return np.where(exponents < np.float32(EXPONENT_LIMIT), np.exp(-exponents), np.float32(0))


def tabulated_rbf(exponents: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the table's values for these exponents, as shares of its largest RBF value.

    Parameters
    ----------
    exponents : ndarray of any shape, float32
        Squared distances in units of 1/gamma, at least 0.

    Returns
    -------
    ndarray of the same shape, float32
        An approximation of ``exp(-exponents)``: steps of 1/127, and 0 beyond the table's end.
    """
    bins = np.minimum(exponents * np.float32(_BINS_PER_EXPONENT), np.float32(TABLE_SIZE))
    kernel: NDArray[np.float32] = _table_and_beyond()[bins.astype(np.int32)]
    return kernel


@cache
def _table_and_beyond() -> NDArray[np.float32]:
    shares = np.append(exponential_table(), 0) / RBF_MAXIMUM
    return shares.astype(np.float32)
