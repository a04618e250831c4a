"""Quantization of raw values to a model's bytes, as in two functions of the generated C.

`pnn_quantize` takes an integer x of at most 16 bits: a sensor's value (int8, uint8, int16, counts
0..1023 of an ADC), or a raw value times a power of ten, rounded (see below). It computes in
integers, for each feature, with t the distance of x from the value for 0::

    t = min(max(x - first, 0), span)          max(first - x, 0) where the feature is mirrored
    q = min(max((t << shift) * multiplier + offset, 0) >> 22, maximum)

`first` is the last value for which q is 0. At `span`, q has reached its largest value, or exceeds
it if the whole range has few raw values. `shift` makes t as large as possible in 16 bits, so that a
16-bit multiplier is precise enough: q differs from `InputQuantizer.quantize` by at most 1, and only
if that is within a hundredth of a step of rounding the other way. If raw integers have another unit
than the data, the multiplier has 8 more bits (`fraction`), and it is a ten-thousandth, because data
with few decimals is often exactly between two steps.

`pnn_quantize_float` takes a raw value x in the training data's unit, and computes in floats of 32
bits, each operation rounded to nearest::

    q = min(max(floor((x - edge) * slope), 0), maximum)           0 where x is NaN

`edge` is half a step below the value for 0, so that nothing is added after the product: no compiler
can fuse the two operations into one that rounds once, and all executions agree.

The unit in which a sketch passes raw integers: a power of ten times the training data's.

`pnn_quantize` takes whole numbers, unlike a measurement such as 5.1 cm. So each feature has an
exponent k, and the sketch passes ``x * 10**k``, rounded to a 16-bit integer: with k = 1 tenths of
the training data's unit, 51.

The exponent is chosen from the training data. It is 0 for whole numbers that fit 16 bits, such as
an ADC's. Else it is the smallest from 0 on that either keeps all decimals of the data or makes a
raw step at most a 64th of the step of the byte that `pnn_quantize` returns: rounding then changes
at most one byte in 256, by one. It is smaller, and may be negative, if the range of the training
data, widened by a quarter of itself at both ends, would not fit 16 bits; the margin keeps
``(int16_t)(x * 100)`` of a somewhat larger value from wrapping around.

In firmware that reads a sensor, a raw integer is a count, and `counts` is the number of counts per
unit of the training data: 256 for data in g and counts of 1/256 g.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check_kind, check_range, check_shape

Exponents = NDArray[np.int64]

RAW_MINIMUM, RAW_MAXIMUM = -(1 << 15), (1 << 15) - 1
EXPONENT_LIMIT = 36  # exponents are within -36..36, which covers the range of float32
MANY_DECIMALS = EXPONENT_LIMIT
"""The result of `decimals_of` for data with more decimals than it can detect."""

_MOST_DECIMALS = 6
_BYTE_STEPS = 255
_RAW_STEPS = 64  # at least, per step of a byte
_MARGIN = 0.25
_FLOAT32_EPSILON = 2.0**-23  # of numbers with decimals that were rounded to float32
_TOLERATED = 0.1  # of a unit; above, float32 cannot distinguish whole numbers from others
_VALUES_AT_ONCE = 1 << 20

_POWERS = np.array([float(f"1e{k}") for k in range(EXPONENT_LIMIT + 1)])

_FRACTIONS = "tenths hundredths thousandths ten-thousandths hundred-thousandths millionths"
_MULTIPLES = "tens hundreds thousands ten-thousands hundred-thousands millions"
_WORDS = {
    **dict(enumerate(_FRACTIONS.split(), 1)),
    **{-k: word for k, word in enumerate(_MULTIPLES.split(), 1)},
}


def choose_exponents(
    lower: NDArray[np.float64], upper: NDArray[np.float64], decimals: Exponents
) -> Exponents:
    """Return the exponent k of each feature, within its limit; see the module's text.

    The range of each feature, (n,), is in the training data's unit, as are its `decimals_of`.
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
    return np.where(kept, 0, np.minimum(wanted, np.maximum(fitting, exponents[0])))


def decimals_of(points: Array, columns: int) -> Exponents:
    """Count the decimals of numbers (n, m), of `columns` interleaved features.

    They may have been rounded to 32 bits. Returns 0 if all numbers are whole, up to 6 if these
    decimals suffice, otherwise `MANY_DECIMALS`.
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
    """Return an estimate without points: 0 if all ends (n,) are whole, else `MANY_DECIMALS`."""
    whole = np.all([end == np.rint(end) for end in ends], axis=0)
    return np.where(whole, 0, MANY_DECIMALS).astype(np.int64)


def in_raw_units(
    values: NDArray[np.float64], exponents: Exponents, counts: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return values (..., n) in raw units, rounded once: times 10**k for exponents k, (n,).

    Where raw integers are a sensor's, these are its `counts` per unit of the training data, (n,).
    """
    powers = _POWERS[np.abs(exponents)] if counts is None else counts
    return np.where(exponents < 0, values / powers, values * powers)


def unit_words(exponent: int) -> str:
    """Return the unit of a sketch in words: "tenths", or "" if it is the data's own unit."""
    return _WORDS.get(exponent, "" if exponent == 0 else f"units of 1e{-exponent}")


def _numbers(table: Array, decimals: Exponents) -> tuple[NDArray[np.float64], Exponents]:
    """Return the numbers with decimals in some points, and the feature of each."""
    features = np.arange(table.shape[1]) % len(decimals)
    counted = decimals[features] < MANY_DECIMALS
    if not counted.all():
        table, features = table[:, counted], features[counted]
    row, column = np.nonzero(table != np.rint(table))
    return table[row, column].astype(np.float64), features[column]


def _are_whole(values: NDArray[np.float64], decimals: Exponents) -> NDArray[np.bool_]:
    """Return which numbers (n,) are whole in units of 10**-decimals, (n,)."""
    shifted = in_raw_units(values, decimals)
    tolerance = np.where(decimals == 0, 0.0, np.abs(shifted) * _FLOAT32_EPSILON)
    whole: NDArray[np.bool_] = np.abs(shifted - np.rint(shifted)) <= tolerance
    return whole & (tolerance < _TOLERATED)


RAW_SHIFT = 22  # t, shifted, has 16 bits, a multiplier at least 14, and an input 8

_UNSIGNED_MAXIMUM = (1 << 16) - 1
_HUGE = 1e300


@dataclass(frozen=True, order=True)
class RawScale:
    """The quantization of one feature's raw integers; see the module's text."""

    first: int  # the raw value, a 16-bit integer, at which t is 0
    mirrored: bool  # whether bytes grow as raw values fall
    span: int  # 0..65535, the largest t
    shift: int  # 0..15; ``span << shift`` fits 16 bits
    multiplier: int  # 0..65535
    # within -2**30..2**30, including the half for rounding; the whole sum is below 2**31
    offset: int
    fraction: int = 0  # 0..255, in units of 2**-8 of the multiplier; 0 in models without it


@dataclass(frozen=True)
class RawQuantizer:
    """Converts raw values to 16-bit integers, and these to the model's bytes."""

    exponents: Exponents  # (D,): the power of ten that multiplies a raw value before rounding
    scales: tuple[RawScale, ...]  # the different ones, sorted
    choice: NDArray[np.int64]  # (D,): which of them a feature has
    maximum: int  # the largest byte
    fine: bool = False  # whether multipliers have a fraction
    # (D,): a sensor's counts per unit of a raw value, in place of the power of ten
    counts: NDArray[np.float64] | None = None

    def integers(self, X: ArrayLike) -> NDArray[np.int16]:
        """Return raw values (n, D), finite, as a sketch passes them: rounded and saturated."""
        with np.errstate(over="ignore"):  # infinite values saturate
            raw = in_raw_units(np.asarray(X, np.float64), self.exponents, self.counts)
            steps = np.floor(raw + 0.5)
        return np.clip(steps, RAW_MINIMUM, RAW_MAXIMUM).astype(np.int16)

    def quantize(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return raw integers (n, D) as bytes (n, D).

        Raises `InputError` if they are not 16-bit integers, or D is wrong.
        """
        raw = np.asarray(X)
        check_kind("raw points", raw, "iu", 2)
        check_shape("raw points", raw.shape[1:], (len(self.choice),))
        raw = raw.astype(np.int64)
        for end in (raw.min(), raw.max()) if raw.size else ():
            check_range("raw points", int(end), RAW_MINIMUM, RAW_MAXIMUM)
        of = {
            name: np.array([getattr(scale, name) for scale in self.scales], np.int64)[self.choice]
            for name in ("first", "mirrored", "span", "shift", "multiplier", "offset", "fraction")
        }
        beyond = np.where(of["mirrored"], of["first"] - raw, raw - of["first"])
        t = np.clip(beyond, 0, of["span"])
        t = t << of["shift"]
        sums = t * of["multiplier"] + (t * of["fraction"] >> 8) + of["offset"]
        steps: NDArray[np.int64] = np.maximum(sums, 0) >> RAW_SHIFT
        return np.minimum(steps, self.maximum).astype(np.uint8)


@dataclass(frozen=True)
class FloatScale:
    """The quantization of one feature's raw floats of 32 bits; see the module's text."""

    edge: float
    slope: float


@dataclass(frozen=True)
class FloatQuantizer:
    """Quantizes raw values in 32-bit floats to the model's bytes."""

    scales: tuple[FloatScale, ...]  # the different ones, in the order of the features
    choice: NDArray[np.int64]  # (D,): which of them a feature has
    maximum: int  # the largest byte

    def quantize(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return raw values (n, D), rounded to float32, as bytes (n, D)."""
        edge, slope = (
            np.array([getattr(scale, name) for scale in self.scales], np.float32)[self.choice]
            for name in ("edge", "slope")
        )
        with np.errstate(over="ignore", invalid="ignore"):
            steps = (np.asarray(X, np.float32) - edge) * slope
        reached = np.where(steps >= 1, np.minimum(steps, np.float32(self.maximum)), 0)
        return np.floor(reached).astype(np.uint8)


def raw_quantizer(
    features: InputQuantizer,
    exponents: Exponents | None = None,
    *,
    fine: bool = False,
    counts: NDArray[np.float64] | None = None,
) -> RawQuantizer:
    """Return the quantizer of raw integers that best approximates the floats' of D features.

    Each value is multiplied by the power of ten of its exponent (n,), repeated if n is less than D,
    or by a sensor's `counts` per unit of it, (n,), which replace them; by default raw values are
    the integers. With `fine`, multipliers have a fraction.
    """
    none = np.zeros(1, np.int64)
    if counts is not None:
        exponents, counts = None, np.resize(counts, len(features.zero))
    repeated: Exponents = np.resize(none if exponents is None else exponents, len(features.zero))
    with np.errstate(over="ignore"):
        zeros, steps = (
            in_raw_units(ends, repeated, counts) for ends in (features.zero, features.step)
        )
    # A hostile file may hold numbers that overflow or vanish in that unit.
    zeros = np.clip(zeros, -_HUGE, _HUGE)
    steps = np.copysign(np.clip(np.abs(steps), 1 / _HUGE, _HUGE), steps)
    numbers = zip(zeros.tolist(), steps.tolist(), strict=True)
    each = [_scale(zero, step, features.maximum, fine) for zero, step in numbers]
    scales = tuple(sorted(set(each)))
    return RawQuantizer(repeated, scales, _places(each, scales), features.maximum, fine, counts)


def float_quantizer(features: InputQuantizer) -> FloatQuantizer:
    """Return the quantizer of raw 32-bit floats that approximates one of 64 bits best."""
    limits = np.finfo(np.float32)
    with np.errstate(over="ignore"):
        edges = np.clip(features.zero - features.step / 2, limits.min, limits.max)
        slopes = np.clip(1 / features.step, limits.min, limits.max)
    rounded = zip(*(each.astype(np.float32).tolist() for each in (edges, slopes)), strict=True)
    each = [FloatScale(edge, slope) for edge, slope in rounded]
    scales = tuple(dict.fromkeys(each))
    return FloatQuantizer(scales, _places(each, scales), features.maximum)


def _places(each: Sequence[object], different: Sequence[object]) -> NDArray[np.int64]:
    """Return which of the different scales each feature has."""
    place = {scale: index for index, scale in enumerate(different)}
    return np.array([place[scale] for scale in each], np.int64)


def _scale(zero: float, step: float, maximum: int, fine: bool) -> RawScale:
    """Return the scale of one feature."""
    mirrored = step < 0
    sign = -1 if mirrored else 1
    zero, step = sign * zero, abs(step)  # of the mirrored axis, on which bytes increase
    if step * maximum < 1:
        zero, step = _flattest(zero, step, maximum)
    low, high = sorted((sign * RAW_MINIMUM, sign * RAW_MAXIMUM))
    first = math.ceil(min(max(zero + step / 2, low + 1), high + 1)) - 1
    last = math.ceil(min(max(zero + step * maximum, first), high))
    span = last - first
    shift = max(0, 16 - max(1, span).bit_length())
    unit = 1 << RAW_SHIFT
    limit = (2 * maximum + 1) * unit - 1  # two raw values or more reach less
    start = min(max((first - zero) / step + 0.5, -255.0), 256.0)
    # All values below `first` have its byte, so that rounding must not make a 1 of it.
    offset = min(round(start * unit), unit - 1 if first > low else limit)
    parts = 256 if fine else 1  # of the multiplier
    slope = min(unit / (step * (1 << shift)), float(_UNSIGNED_MAXIMUM))
    room = (limit - offset) * parts // max(1, span << shift)
    multiplier, fraction = divmod(min(round(slope * parts), room), parts)
    return RawScale(sign * first, mirrored, span, shift, multiplier, offset, fraction)


def _flattest(zero: float, step: float, maximum: int) -> tuple[float, float]:
    """Return the largest zero and step that give integers the same bytes.

    The range is less than 1, so at most one integer is within it, and slopes beyond the range of a
    multiplier are never needed.
    """
    first = math.ceil(zero + step / 2)  # the first one with a byte above 0
    byte = math.floor(min((first - zero) / step + 0.5, maximum))
    step = 1 / max(byte, maximum - byte)
    return first - byte * step, step
