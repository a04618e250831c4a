"""A quick way to the byte of a raw float, which knows where it may be wrong.

The two rounded operations that define `pnn_quantize_float` take an AVR 260 cycles in floating-point
routines. Fixed point takes half of that: a float becomes a whole number of units, which are the
last bits of the largest magnitude in the range, and with d units beyond the edge::

    steps = d * multiplier * 2**(shift - 32)

These steps differ by less than 2**-8 from the result of the operations. So where their fraction is
not within 2**-8 of a whole number, the byte is that of the operations; elsewhere, for about one of
128 floats, the device executes them. `filter_of` bounds the difference for each scale, with
fractions. templates/c/float_filter.j2 has the assembly.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from protonn_edge.model.raw_inputs import FloatScale

_BITS, _BIAS = 24, 127  # of a float's fraction with its first bit; of its exponent
_EXPONENTS = range(_BITS + 1, 2 * _BIAS)  # with which denormals vanish, and units are floats
_STEPS = 256
_UNSURE = Fraction(1, 256)  # of a step
_ROUNDING = Fraction(_STEPS + 1, 1 << 23)  # of both operations, in steps
_SHIFTS = range(1, 8)


class FloatFilter(NamedTuple):
    """The constants of a scale; an exponent of 0 stands for none."""

    exponent: int = 0  # of the largest magnitude, as a float has it
    sign: int = 0  # 0x80 where bytes grow as floats fall: the float's sign is inverted
    start: int = 0  # units at which steps begin, of 32 bits
    multiplier: int = 0  # 2**15..2**16 - 1
    shift: int = 1  # 1..7


NONE = FloatFilter()


def filter_of(scale: FloatScale) -> FloatFilter:
    """Return the filter of a scale; `NONE` where the difference may be larger than stated."""
    slope, falls = abs(Fraction(scale.slope)), scale.slope < 0
    edge = -Fraction(scale.edge) if falls else Fraction(scale.edge)
    if not slope:
        return NONE
    largest = max(abs(edge), abs(edge + _STEPS / slope))
    exponent = math.frexp(largest)[1] - 1 + _BIAS
    exponent += slope * _unit(exponent) * (1 << _BITS) <= _STEPS  # the range has too many units
    each = slope * _unit(exponent)  # steps in a unit
    shift = _BITS - math.floor(math.log2(_STEPS / each))
    if exponent not in _EXPONENTS or shift not in _SHIFTS:
        return NONE
    exact = each * (1 << 32 - shift)
    multiplier = min(round(exact), 0xFFFF)
    error = multiplier / exact - 1  # which the start makes 0 in the middle of the range
    start = round((edge * slope + error * _STEPS / 2) / each)
    cut = Fraction(3, 2) * each + Fraction(1, 1 << _BITS - shift)
    difference = (abs(error) * _STEPS / 2 + cut) * (1 + abs(error)) + _ROUNDING
    if difference >= _UNSURE or multiplier < 1 << 15:
        return NONE
    return FloatFilter(exponent, 0x80 if falls else 0, start, multiplier, shift)


def _unit(exponent: int) -> Fraction:
    """Return the last bit of floats with an exponent."""
    return Fraction(2) ** (exponent - _BIAS - _BITS + 1)
