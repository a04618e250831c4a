"""The bands of a sample in assembly, one after the other, with constant time.

Coefficients are immediate operands, which saves a fifth of the cycles of a loop that loads them: a
sample with 12 bands must be finished before the next byte of a serial line arrives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from protonn_edge.features.audio.bands import BandPass
from protonn_edge.kernels.listing import Listing

BAND_BYTES = 6
"""Bytes of a band in SRAM: its last y, the one before, and its energy."""

_REACH = 63  # displacement of an address from Z
_DIFFERENCE, _MIRRORED = ("r24", "r25"), ("r14", "r15")


def all_bands(bands: Sequence[BandPass]) -> Listing:
    """Return the instructions that process a sample in all bands.

    Z is at their variables, r25:r24 is the difference of the samples, r15:r14 that of mirrored
    bands, and r22 is 0.
    """
    return Listing("".join(_each(bands)) + f"band{len(bands)}:\n")


def band_cycles(listing: Listing, bands: int) -> int:
    """Return the cycles of the listing for a number of bands."""
    ends = (f"band{number}" for number in range(bands + 1))
    return int(sum(listing.worst(begin, (end,), {}) for begin, end in pairwise(ends)))


def _each(bands: Sequence[BandPass]) -> Iterator[str]:
    place = 0
    for number, band in enumerate(bands):
        yield f"band{number}:\n"
        if place + BAND_BYTES - 1 > _REACH:
            yield f"adiw r30, {place}\n"
            place = 0
        yield _band(band, place)
        place += BAND_BYTES


def _band(band: BandPass, at: int) -> str:
    low, high = _MIRRORED if band.mirrored else _DIFFERENCE
    return f"""
            ldd  r18, Z+{at}    ; its last y
            ldd  r19, Z+{at + 1}
            ldi  r20, {band.turn}
            mul  r18, r20
            movw r26, r0
            clr  r23
            mulsu r19, r20
            add  r27, r0
            adc  r23, r1
            ldd  r21, Z+{at + 2}    ; the one before
            std  Z+{at + 2}, r18
            ldi  r20, {band.decay}
            mul  r21, r20
            sub  r26, r0
            sbc  r27, r1
            sbci r23, 0
            ldd  r21, Z+{at + 3}
            std  Z+{at + 3}, r19
            mulsu r21, r20
            sub  r27, r0
            sbc  r23, r1
            lsl  r26
            rol  r27
            rol  r23
            ldi  r20, {band.gain}
            mul  {low}, r20
            add  r27, r0
            adc  r23, r1
            sbrc {high}, 7
            sub  r23, r20
            std  Z+{at}, r27
            std  Z+{at + 1}, r23
            sbrc r23, 7
            com  r23
            ldd  r18, Z+{at + 4}    ; the energy
            add  r18, r23
            std  Z+{at + 4}, r18
            ldd  r18, Z+{at + 5}
            adc  r18, r22
            std  Z+{at + 5}, r18
    """
