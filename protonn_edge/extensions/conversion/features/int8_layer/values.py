"""Assembly that converts each sum to a value by a 64-bit product, rounded and shifted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed, repeated
from protonn_edge.extensions.conversion.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM

WIDE, FACTOR = ("r18", "r19", "r20", "r21"), ("r22", "r23", "r24", "r25")
PRODUCT = tuple(f"r{number}" for number in range(2, 10))
"""The registers of a sum, of its multiplier and of their product, the lowest byte first."""


def _added(register: str, add: str) -> str:
    """Return the instructions that add a byte from flash."""
    return f"lpm  r0, Z+\n{add}  {register}, r0\n"


def _plus(register: str, add: str = "adc") -> str:
    """Return the instructions that add a byte and the carry to the upper half of the product."""
    return repeated(PRODUCT[4:], f"{add}  {{0}}, {register}")


_BIASED = repeated(WIDE, "ld   {0}, X+") + "".join(
    _added(register, "adc" if place else "add") for place, register in enumerate(WIDE)
)
_PRODUCTS = "".join(
    f"mul  {WIDE[i]}, {FACTOR[k - i]}\nadd  {PRODUCT[k]}, r0\nadc  {PRODUCT[k + 1]}, r1\n"
    + (f"adc  {PRODUCT[k + 2]}, r17\n" if k + 2 < len(PRODUCT) else "")
    for k in range(7)
    for i in range(max(0, k - 3), min(k, 3) + 1)
)
"""The product of both as unsigned numbers, from its lowest byte on."""

_DOUBLED = "lsl  r5\n" + repeated(PRODUCT[4:], "rol  {0}")
_HALVED = "asr  r9\nror  r8\nror  r7\nror  r6\n"
_RECTIFIED = """
    brpl scale
    adiw r30, 5
    ldi  r18, {low}
    rjmp made
scale:
"""
_SHIFTED_LEFT = """
    tst  r16
    brpl right
double:
    lsl  r18
    rol  r19
    rol  r20
    rol  r21
    inc  r16
    brne double
right:
"""
_NEGATIVE_PRODUCT = """
    tst  r21
    brpl positive
    sub  r6, r22
    sbc  r7, r23
    sbc  r8, r24
    sbc  r9, r25
positive:
"""
_SHIFTED = f"""
bits:
    cpi  r16, 8
    brcs few
    mov  r6, r7
    mov  r7, r8
    mov  r8, r9
    lsl  r9
    sbc  r9, r9
    subi r16, 8
few:
    tst  r16
    breq shifted
bit:
    {_HALVED}
    dec  r16
    brne bit
shifted:
    {_HALVED}
    {_plus("r17")}
"""
_LIMITED = """
    add  r6, r18
    adc  r7, r17
    adc  r8, r17
    adc  r9, r17
    brmi low
    or   r7, r8
    or   r7, r9
    brne high
    mov  r18, r6
"""


@dataclass(frozen=True, eq=False)
class ValueCode:
    """The instructions that convert the sums of a group to values."""

    stage: IntegerInt8Layer  # the layer

    @property
    def rectifies(self) -> bool:
        """Whether all negative sums give the smallest value."""
        return self.stage.offset <= self.stage.limits[0]

    @cached_property
    def listing(self) -> Listing:
        """The loop over the sums.

        X points to the sums, Z to the channels' parameters, Y to the values. r17 is 0, r16 counts
        bits, r21:r18 is the sum, r25:r22 the multiplier, and r9:r2 their product.
        """
        low, high = self.stage.limits
        limits = f"cpi  r18, {low}\nbrcs low\n" if low else ""
        limits += f"cpi  r18, {high + 1}\nbrcc high\n" if high < BYTE_MAXIMUM else ""
        return Listing(
            f"""
            value:
                {_BIASED}
                {_RECTIFIED.format(low=low) if self.rectifies else ""}
                lpm  r16, Z+
                {_SHIFTED_LEFT if self.stage.shifts.min() < 0 else ""}
                {repeated(FACTOR, "lpm  {0}, Z+")}
                {repeated(PRODUCT, "clr  {0}")}
                {_PRODUCTS}
                {"" if self.rectifies else _NEGATIVE_PRODUCT}
                {self._rounding}
                {_SHIFTED}
                ldi  r18, {self.stage.offset}
                {_LIMITED}
                {limits}
                rjmp made
            low:
                ldi  r18, {low}
                rjmp made
            high:
                ldi  r18, {high}
            made:
                st   Y+, r18
                dec  %[left]
                breq done
                rjmp value
            done:
            """
        )

    @property
    def _rounding(self) -> str:
        """The instructions that round the product, for the only time or the first of two."""
        once = _DOUBLED * 2
        if self.stage.rounds_once:
            return once
        twice = f"lsl  r5\n{_plus('r17')}"
        if not self.rectifies:
            less = f"com  r5\nlsl  r5\n{_plus('r17', 'sbc')}"
            twice = f"tst  r21\nbrpl up\n{less}rjmp halved\nup:\n{twice}halved:"
        twice = f"{_DOUBLED}{twice}\ndec  r16"
        if self.stage.shifts.min() > 0:
            return twice
        return f"tst  r16\nbrne twice\n{once}rjmp bits\ntwice:\n{twice}"

    @property
    def facts(self) -> Facts:
        """How often the loops over values, and over the bits of their shifts, are passed."""
        height, width, channels = self.stage.output_shape
        right, left = (np.maximum(sign * self.stage.shifts, 0).sum() for sign in (1, -1))
        values = height * width * channels
        facts = {"value": Passed(values, values), "bit": Passed(height * width * int(right))}
        return facts | ({"double": Passed(height * width * int(left))} if left else {})
