"""The loop from sums to bytes, in assembly, with its cycles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.kernels.listing import Listing

_LIMIT = """
    breq store
    ldi  r24, 255
"""
_LOOP_CYCLES = 3  # dec, and brne to the next unit


@dataclass(frozen=True)
class Rectifying:
    """The loop for sums of two bytes, after the lower `dropped` ones.

    Attributes
    ----------
    dropped : int
        0 or 1.
    limits : bool
        Whether values may exceed their limit.
    """

    dropped: int
    limits: bool

    @cached_property
    def listing(self) -> Listing:
        """The instructions: X points to the sums, Z to the values, r20 is 0."""
        return Listing(
            f"""
            unit:
                {f"adiw r26, {self.dropped}" if self.dropped else ""}
                ld   r18, X+
                ld   r19, X+
                clr  r24
                tst  r19
                brmi rest ; below 0
                mul  r18, %[multiplier]
                mov  r24, r1
                mul  r19, %[multiplier]
                add  r24, r0
                adc  r1, r20
                {_LIMIT if self.limits else ""}
            store:
            rest:
                st   Z+, r24
            next:
                dec  %[left]
                brne unit
            """
        )

    def worst(self, units: int) -> int:
        """Return the maximum cycles for a number of units."""
        return self._all(units, self.listing.worst("unit", ["next"], {}))

    def least(self, units: int) -> int:
        """Return the minimum cycles for a number of units."""
        return self._all(units, self.listing.least("unit", ["next"], {}))

    def mean(self, units: int, positive: float) -> float:
        """Return the cycles for a share of units not below 0, few of them at the limit."""
        odds = {"rest": 1 - positive, "store": 1.0}
        return units * (self.listing.mean("unit", ["next"], odds) + _LOOP_CYCLES)

    @staticmethod
    def _all(units: int, each: float) -> int:
        return units * (int(each) + _LOOP_CYCLES)
