"""The unit in which a sketch passes raw integers: a power of ten times the training data's.

`pnn_quantize` takes whole numbers, unlike a measurement such as 5.1 cm. So each feature has an
exponent k, and the sketch passes ``x * 10**k``, rounded to a 16-bit integer: with k = 1 tenths of
the training data's unit, 51.

The exponent is chosen from the training data. It is 0 for whole numbers that fit 16 bits, such as
an ADC's. Else it is the smallest from 0 on that either keeps all decimals of the data or makes a
raw step at most a 64th of the step of the byte that `pnn_quantize` returns: rounding then changes
at most one byte in 256, by one. It is smaller, and may be negative, if the range of the training
data, widened by a quarter of itself at both ends, would not fit 16 bits; the margin keeps
``(int16_t)(x * 100)`` of a somewhat larger value from wrapping around.

In firmware that reads a sensor, a raw integer is its count, and `counts` are how many of them one
unit of the training data is: 256 for data in g and counts of 1/256 g.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.rows import Matrix, Sparse, is_sparse, sparse_rows

Exponents = NDArray[np.int64]

RAW_MINIMUM, RAW_MAXIMUM = -(1 << 15), (1 << 15) - 1
EXPONENT_LIMIT = 36
"""Exponents are within -36..36, which covers the range of float32."""

MANY_DECIMALS = EXPONENT_LIMIT
"""The result of `decimals_of` for data with more decimals than it can detect."""

_MOST_DECIMALS = 6
_BYTE_STEPS = 255
_RAW_STEPS = 64  # at least, per step of a byte
_MARGIN = 0.25
_FLOAT32_PRECISION = 2.0**-23  # of numbers whose decimals were rounded to float32
_TOLERATED = 0.1  # of a unit; above, float32 cannot distinguish whole numbers from others
_VALUES_AT_ONCE = 1 << 20

_POWERS = np.array([float(f"1e{k}") for k in range(EXPONENT_LIMIT + 1)])

_WORDS = {
    1: "tenths",
    2: "hundredths",
    3: "thousandths",
    4: "ten-thousandths",
    5: "hundred-thousandths",
    6: "millionths",
    -1: "tens",
    -2: "hundreds",
    -3: "thousands",
    -4: "ten-thousands",
    -5: "hundred-thousands",
    -6: "millions",
}


def choose_exponents(
    lower: NDArray[np.float64], upper: NDArray[np.float64], decimals: Exponents
) -> Exponents:
    """Return the exponent k of each feature; see the module's text.

    Parameters
    ----------
    lower, upper : ndarray of shape (n,), float64
        The range of each feature in the training data's unit.
    decimals : ndarray of shape (n,), int64
        See `decimals_of`.

    Returns
    -------
    ndarray of shape (n,), int64
        Within -`EXPONENT_LIMIT`..`EXPONENT_LIMIT`.
    """
    exponents = np.arange(-EXPONENT_LIMIT, EXPONENT_LIMIT + 1)
    powers = np.concatenate([1 / _POWERS[:0:-1], _POWERS])
    half = upper / 2 - lower / 2  # of the range, which itself may overflow
    step = np.where(half > 0, half * (2 / _BYTE_STEPS), 1.0)
    fine = powers[::-1] <= step[:, None] / _RAW_STEPS
    finest = np.where(fine.any(axis=1), exponents[fine.argmax(axis=1)], EXPONENT_LIMIT)
    wanted = np.maximum(np.minimum(decimals, finest), 0)
    furthest = np.maximum(np.abs(lower), np.abs(upper))
    with np.errstate(over="ignore"):
        reach = furthest * powers[:, None] + 2 * _MARGIN * half * powers[:, None]
    fitting = (reach <= RAW_MAXIMUM).sum(axis=0) - 1 - EXPONENT_LIMIT
    kept = (decimals == 0) & (lower >= RAW_MINIMUM) & (upper <= RAW_MAXIMUM)
    chosen: Exponents = np.where(kept, 0, np.minimum(wanted, np.maximum(fitting, exponents[0])))
    return chosen


def decimals_of(points: Matrix | Sparse, columns: int) -> Exponents:
    """Count the decimals of numbers that may have been rounded to float32.

    Parameters
    ----------
    points : array or CSR matrix of shape (n, m)
        Numbers; m is a multiple of `columns`.
    columns : int
        Number of interleaved features: 1 if all numbers are of one feature.

    Returns
    -------
    ndarray of shape (columns,), int64
        0 if all numbers are whole, up to 6 if these decimals suffice, otherwise `MANY_DECIMALS`.
    """
    decimals = np.zeros(columns, np.int64)
    rows = max(1, _VALUES_AT_ONCE // max(1, points.shape[1]))
    for start in range(0, points.shape[0], rows):
        values, features = _numbers(points[start : start + rows], decimals)
        while len(values):
            broken = ~_are_whole(values, decimals[features])
            values, features = values[broken], features[broken]
            decimals[np.unique(features)] += 1
            decimals[decimals > _MOST_DECIMALS] = MANY_DECIMALS
            few = decimals[features] < MANY_DECIMALS
            values, features = values[few], features[few]
    return decimals


def decimals_of_ranges(*ends: NDArray[np.float64]) -> Exponents:
    """Return 0 where all of these are whole numbers, otherwise `MANY_DECIMALS`; each is (n,).

    It is an estimate if the training data is not available.
    """
    whole = np.all([end == np.rint(end) for end in ends], axis=0)
    return np.where(whole, 0, MANY_DECIMALS).astype(np.int64)


def in_raw_units(
    values: NDArray[np.float64], exponents: Exponents, counts: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return values (..., n) in raw units, rounded once.

    These are 10**k for exponents k, (n,); or, where the raw integers are a sensor's, its `counts`
    per unit of the training data, (n,).
    """
    powers = _POWERS[np.abs(exponents)] if counts is None else counts
    scaled: NDArray[np.float64] = np.where(exponents < 0, values / powers, values * powers)
    return scaled


def unit_words(exponent: int) -> str:
    """Return the unit of a sketch in words: "tenths", or "" if it is the data's own unit."""
    return _WORDS.get(exponent, "" if exponent == 0 else f"units of 1e{-exponent}")


def _numbers(part: Any, decimals: Exponents) -> tuple[NDArray[np.float64], Exponents]:
    """Return the numbers with decimals in some points, and the feature of each."""
    if is_sparse(part):
        sparse = sparse_rows(part)
        values, features = sparse.data, sparse.indices % len(decimals)
        wanted = (values != np.rint(values)) & (decimals[features] < MANY_DECIMALS)
        return values[wanted].astype(np.float64), features[wanted].astype(np.int64)
    table = np.asarray(part)
    features = np.arange(table.shape[1]) % len(decimals)
    counted = decimals[features] < MANY_DECIMALS
    if not counted.all():
        table, features = table[:, counted], features[counted]
    row, column = np.nonzero(table != np.rint(table))
    return table[row, column].astype(np.float64), features[column]


def _are_whole(values: NDArray[np.float64], decimals: Exponents) -> NDArray[np.bool_]:
    """Return which numbers (n,) are whole in units of 10**-decimals, (n,)."""
    shifted = in_raw_units(values, decimals)
    tolerance = np.where(decimals == 0, 0.0, np.abs(shifted) * _FLOAT32_PRECISION)
    whole: NDArray[np.bool_] = np.abs(shifted - np.rint(shifted)) <= tolerance
    return whole & (tolerance < _TOLERATED)
