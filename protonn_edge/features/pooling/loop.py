"""The loops of pooling in assembly, with their cycles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.kernels.listing import Listing

_LARGER = """
    ld   r19, Z
    cp   r19, r18
    brcc keep
    mov  r19, r18
keep:
    st   Z+, r19
"""
_ADDED = """
    ld   r19, Z
    ldd  r22, Z+1
    add  r19, r18
    adc  r22, r1
    st   Z+, r19
    st   Z+, r22
"""
_PIXEL_CYCLES = 6  # beside its values


@dataclass(frozen=True)
class RowLoop:
    """What takes a row into its windows: the larger values, or sums of 16 bits.

    Attributes
    ----------
    windows, width, channels : int
        Windows in a row, their width in pixels, and the channels of a pixel.
    sums : bool
        Whether values are summed.
    """

    windows: int
    width: int
    channels: int
    sums: bool

    @cached_property
    def listing(self) -> Listing:
        """The instructions: X goes through the row, Z through what is there, r21 counts windows."""
        back = self.channels * (2 if self.sums else 1)
        return Listing(
            f"""
            window:
                ldi  r23, {self.width}
            pixel:
                ldi  r20, {self.channels}
            value:
                ld   r18, X+
                {_ADDED if self.sums else _LARGER}
                dec  r20
                brne value
                dec  r23
                breq next
                subi r30, lo8({back})
                sbci r31, hi8({back})
                rjmp pixel
            next:
                dec  r21
                brne window
            """
        )

    @property
    def cycles(self) -> int:
        """Cycles of a row, the same for all values, and a few more."""
        value = self.listing.worst("value", ("value",), {"value": 1})
        return self.windows * (1 + self.width * (_PIXEL_CYCLES + self.channels * int(value)))

    @property
    def least(self) -> int:
        """The least cycles of a row."""
        return self.cycles - 2


def average_loop() -> Listing:
    """Return the loop that makes averages of sums, which it sets to 0.

    Z goes through the sums, X through the averages, `left` counts them, r17:r16 is the multiplier,
    and r23 is 0.
    """
    return Listing(
        """
        average:
            ld   r20, Z
            ldd  r21, Z+1
            mul  r20, r16
            ldi  r22, 128   ; a half
            add  r22, r1
            clr  r19
            rol  r19
            mul  r21, r16
            add  r22, r0
            adc  r19, r1
            mul  r20, r17
            add  r22, r0
            adc  r19, r1
            mul  r21, r17
            add  r19, r0
            st   X+, r19
            st   Z+, r23
            st   Z+, r23
            sbiw %[left], 1
            brne average
            clr  r1
        """
    )
