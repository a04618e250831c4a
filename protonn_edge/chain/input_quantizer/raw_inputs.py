"""Quantization of raw values to a model's bytes, as in two functions of the generated C.

`pnn_quantize` takes an integer x of at most 16 bits: a sensor's value (int8, uint8, int16, counts
0..1023 of an ADC), or a raw value times a power of ten, rounded (see `raw_units`). It computes in
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
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chain.input_quantizer.raw_units import (
    RAW_MAXIMUM,
    RAW_MINIMUM,
    Exponents,
    in_raw_units,
)
from protonn_edge.errors import InputError

if TYPE_CHECKING:
    from protonn_edge.chain.input_quantizer.quantizer import InputQuantizer

RAW_SHIFT = 22  # t, shifted, has 16 bits, a multiplier at least 14, and an input 8

_UNSIGNED_MAXIMUM = (1 << 16) - 1
_HUGE = 1e300


@dataclass(frozen=True, order=True)
class RawScale:
    """The quantization of one feature's raw integers; see the module's text.

    Attributes
    ----------
    first : int
        The raw value, a 16-bit integer, at which t is 0.
    mirrored : bool
        Whether bytes grow as raw values fall.
    span : int
        0..65535, the largest t.
    shift : int
        0..15; ``span << shift`` fits 16 bits.
    multiplier : int
        0..65535.
    offset : int
        Within -2**30..2**30, including the half for rounding; the whole sum is below 2**31.
    fraction : int
        0..255, in units of 2**-8 of the multiplier; 0 in models without it.
    """

    first: int
    mirrored: bool
    span: int
    shift: int
    multiplier: int
    offset: int
    fraction: int = 0


@dataclass(frozen=True)
class RawQuantizer:
    """Converts raw values to 16-bit integers, and these to the model's bytes.

    Attributes
    ----------
    exponents : ndarray of shape (D,), int64
        The power of ten by which a raw value is multiplied before rounding.
    scales : tuple of RawScale
        The different ones, sorted.
    choice : ndarray of shape (D,), int64
        Which of them a feature has.
    maximum : int
        The largest byte.
    fine : bool
        Whether multipliers have a fraction.
    counts : ndarray of shape (D,), float64, or None
        A sensor's counts per unit of a raw value, in place of the power of ten.
    """

    exponents: Exponents
    scales: tuple[RawScale, ...]
    choice: NDArray[np.int64]
    maximum: int
    fine: bool = False
    counts: NDArray[np.float64] | None = None

    def integers(self, X: ArrayLike) -> NDArray[np.int16]:
        """Return raw values (n, D), finite, as a sketch passes them: rounded and saturated."""
        with np.errstate(over="ignore"):  # infinite values saturate
            raw = in_raw_units(np.asarray(X, np.float64), self.exponents, self.counts)
            steps = np.floor(raw + 0.5)
        return np.clip(steps, RAW_MINIMUM, RAW_MAXIMUM).astype(np.int16)

    def quantize(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return raw integers (n, D) as bytes (n, D).

        Raises
        ------
        InputError
            If they are not 16-bit integers, or D is wrong.
        """
        raw = np.asarray(X)
        if raw.dtype.kind not in "iu" or raw.ndim != 2 or raw.shape[1] != len(self.choice):
            raise InputError(
                f"raw points are (n, {len(self.choice)}) integers, these are {raw.shape} "
                f"{raw.dtype}; pass what the sensor gives"
            )
        raw = raw.astype(np.int64)
        if raw.size and not RAW_MINIMUM <= raw.min() <= raw.max() <= RAW_MAXIMUM:
            raise InputError(
                f"raw values are in {raw.min()}..{raw.max()}, a raw input is in "
                f"{RAW_MINIMUM}..{RAW_MAXIMUM}; divide them first"
            )
        of = {
            name: np.array([getattr(scale, name) for scale in self.scales], np.int64)[self.choice]
            for name in ("first", "mirrored", "span", "shift", "multiplier", "offset", "fraction")
        }
        beyond = np.where(of["mirrored"], of["first"] - raw, raw - of["first"])
        t = np.clip(beyond, 0, of["span"])
        t = t << of["shift"]
        sums = t * of["multiplier"] + (t * of["fraction"] >> 8) + of["offset"]
        steps = np.maximum(sums, 0) >> RAW_SHIFT
        Q: NDArray[np.uint8] = np.minimum(steps, self.maximum).astype(np.uint8)
        return Q


@dataclass(frozen=True)
class FloatScale:
    """The quantization of one feature's raw floats; see the module's text. Both are float32."""

    edge: float
    slope: float


@dataclass(frozen=True)
class FloatQuantizer:
    """Quantizes raw values in 32-bit floats to the model's bytes.

    Attributes
    ----------
    scales : tuple of FloatScale
        The different ones, in the order of the features.
    choice : ndarray of shape (D,), int64
        Which of them a feature has.
    maximum : int
        The largest byte.
    """

    scales: tuple[FloatScale, ...]
    choice: NDArray[np.int64]
    maximum: int

    def quantize(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return raw values (n, D), rounded to float32, as bytes (n, D)."""
        edge, slope = (
            np.array([getattr(scale, name) for scale in self.scales], np.float32)[self.choice]
            for name in ("edge", "slope")
        )
        with np.errstate(over="ignore", invalid="ignore"):
            steps = (np.asarray(X, np.float32) - edge) * slope
        reached = np.where(steps >= 1, np.minimum(steps, np.float32(self.maximum)), 0)
        Q: NDArray[np.uint8] = np.floor(reached).astype(np.uint8)
        return Q


def raw_quantizer(
    features: InputQuantizer,
    exponents: Exponents | None = None,
    *,
    fine: bool = False,
    counts: NDArray[np.float64] | None = None,
) -> RawQuantizer:
    """Return the quantizer of raw integers that approximates one of raw floats best.

    Parameters
    ----------
    features : InputQuantizer
        The quantizer of D raw values in the training data's unit.
    exponents : ndarray of shape (n,), int64, optional
        The power of ten by which each value is multiplied, repeated if n is less than D; by default
        raw values are the integers.
    fine : bool
        Whether multipliers have a fraction.
    counts : ndarray of shape (n,), float64, optional
        A sensor's counts per unit of each value, repeated as `exponents`, which they replace.
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
    place = {scale: index for index, scale in enumerate(scales)}
    choice = np.array([place[scale] for scale in each], np.int64)
    return RawQuantizer(repeated, scales, choice, features.maximum, fine, counts)


def float_quantizer(features: InputQuantizer) -> FloatQuantizer:
    """Return the quantizer of raw 32-bit floats that approximates one of 64 bits best."""
    limits = np.finfo(np.float32)
    with np.errstate(over="ignore"):
        edges = np.clip(features.zero - features.step / 2, limits.min, limits.max)
        slopes = np.clip(1 / features.step, limits.min, limits.max)
    rounded = zip(*(each.astype(np.float32).tolist() for each in (edges, slopes)), strict=True)
    each = [FloatScale(edge, slope) for edge, slope in rounded]
    scales = tuple(dict.fromkeys(each))
    place = {scale: index for index, scale in enumerate(scales)}
    choice = np.array([place[scale] for scale in each], np.int64)
    return FloatQuantizer(scales, choice, features.maximum)


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
    """Return the zero and the step, as large as can be, that give integers the same bytes.

    The range is less than 1, so that at most one integer is within it: slopes beyond what a
    multiplier can be are needed for none.
    """
    first = math.ceil(zero + step / 2)  # the first one whose byte is not 0
    byte = math.floor(min((first - zero) / step + 0.5, maximum))
    step = 1 / max(byte, maximum - byte)
    return first - byte * step, step
