"""What takes a sample of a window, in assembly; C in the template gives the same integers."""

from __future__ import annotations

from collections.abc import Mapping

from protonn_edge.features.window_features.declaration import FeatureSet
from protonn_edge.features.window_features.windows import LEVEL_SHIFT
from protonn_edge.kernels.listing import Listing, repeated


def sample_listing(features: FeatureSet, at: Mapping[str, int]) -> Listing:
    """Return the instructions for a sample, with the places of a channel's variables, behind Z.

    They begin at ``sample``, those of a band at ``level0``, ``level1`` and so on.
    """
    kinds = set(features.kinds)
    parts = [
        _sum(at["sum"]) if kinds & {"mean", "deviation"} else "",
        f"muls %[x], %[x] ; the squares, below 2^23\n{_square(at['squares'])}"
        if "deviation" in kinds
        else "",
        _extreme("least", "%[x], %A[low]", at["least"]) if "min" in kinds else "",
        _extreme("most", "%A[low], %[x]", at["most"]) if "max" in kinds else "",
        _change(at["last"], at["changes"]) if "change" in kinds else "",
        _crossing(at["level"], at["side"], at["crossings"]) if "crossings" in kinds else "",
        _bands(features.bands, at["first"], at["squared"]) if features.bands else "",
    ]
    return Listing("\n".join(["sample:", *parts, "end:"]))


def _sum(at: int) -> str:
    return f"""
        clr  %A[pair] ; the sum
        sbrc %[x], 7
        com  %A[pair]
        ldd  %A[low], Z+{at}
        ldd  %B[low], Z+{at + 1}
        add  %A[low], %[x]
        adc  %B[low], %A[pair]
        std  Z+{at}, %A[low]
        std  Z+{at + 1}, %B[low]
    """


def _square(at: int) -> str:
    """Add a product of 16 bits to a sum of 24."""
    return f"""
        ldd  %A[low], Z+{at}
        add  %A[low], r0
        std  Z+{at}, %A[low]
        ldd  %A[low], Z+{at + 1}
        adc  %A[low], r1
        std  Z+{at + 1}, %A[low]
        clr  r1
        ldd  %A[low], Z+{at + 2}
        adc  %A[low], r1
        std  Z+{at + 2}, %A[low]
    """


def _extreme(name: str, compared: str, at: int) -> str:
    return f"""
        ldd  %A[low], Z+{at}
        cp   {compared}
        brge {name}
        std  Z+{at}, %[x]
    {name}:
    """


def _change(last: int, changes: int) -> str:
    return f"""
        ldd  %A[low], Z+{last} ; the changes
        std  Z+{last}, %[x]
        sub  %A[low], %[x]
        brge changed
        neg  %A[low]
    changed: ldd %B[low], Z+{changes}
        add  %B[low], %A[low]
        std  Z+{changes}, %B[low]
        ldd  %B[low], Z+{changes + 1}
        adc  %B[low], __zero_reg__
        std  Z+{changes + 1}, %B[low]
    """


def _crossing(level: int, side: int, crossings: int) -> str:
    return f"""
        mov  %B[pair], %[x] ; beyond the level
        clr  %A[pair]
        asr  %B[pair]
        ror  %A[pair]
        ldd  %A[low], Z+{level}
        ldd  %B[low], Z+{level + 1}
        sub  %A[pair], %A[low]
        sbc  %B[pair], %B[low]
        movw %A[sum], %A[pair]
        {repeated(range(LEVEL_SHIFT), "asr %B[sum]", "ror %A[sum]")}
        add  %A[low], %A[sum]
        adc  %B[low], %B[sum]
        std  Z+{level}, %A[low]
        std  Z+{level + 1}, %B[low]
        ldd  %A[low], Z+{side} ; which side of it
        ldi  %B[low], hi8(%[above])
        cpi  %A[pair], lo8(%[above])
        cpc  %B[pair], %B[low]
        brge above
        ldi  %B[low], hi8(%[below])
        cpi  %A[pair], lo8(%[below])
        cpc  %B[pair], %B[low]
        brge near
        ldi  %B[low], 0xff
        rjmp beyond
    above: ldi %B[low], 1
    beyond: std Z+{side}, %B[low]
        add  %A[low], %B[low]
        brne same
        ldd  %A[low], Z+{crossings}
        inc  %A[low]
        std  Z+{crossings}, %A[low]
    near:
    same:
    """


def _bands(bands: int, first: int, squared: int) -> str:
    levels = "".join(_band(level, first + 2 * level, squared + 4 * level) for level in range(bands))
    return f"""
        mov  %A[sum], %[x] ; the pairs
        clr  %B[sum]
        sbrc %[x], 7
        com  %B[sum]
        {levels}
    """


def _band(level: int, first: int, squared: int) -> str:
    """Keep the first sum of a pair; with the second, add the square of their difference."""
    return f"""
    level{level}: lsr %[number]
        brcs pair{level}
        std  Z+{first}, %A[sum]
        std  Z+{first + 1}, %B[sum]
        rjmp end
    pair{level}: ldd %A[low], Z+{first}
        ldd  %B[low], Z+{first + 1}
        movw %A[pair], %A[sum]
        add  %A[sum], %A[low]
        adc  %B[sum], %B[low]
        sub  %A[pair], %A[low]
        sbc  %B[pair], %B[low]
        brpl ordered{level}
        com  %B[pair]
        neg  %A[pair]
        sbci %B[pair], 0xff
    ordered{level}: mul %A[pair], %A[pair]
        {_wide_square(squared) if level else _square(squared)}
    """


def _wide_square(at: int) -> str:
    added = "".join(
        f"""
        ldd  %A[pair], Z+{at + byte}
        {"adc" if byte else "add"} %A[pair], {operand}
        std  Z+{at + byte}, %A[pair]
        """
        for byte, operand in enumerate(("%A[low]", "%B[low]", "%A[high]", "%B[high]"))
    )
    doubled = ("add %B[low], r0", "adc %A[high], r1", "adc %B[high], %A[pair]")
    return f"""
        movw %A[low], r0
        mul  %B[pair], %B[pair]
        movw %A[high], r0
        mul  %A[pair], %B[pair]
        clr  %A[pair]
        {repeated(range(2), *doubled)}
        clr  r1
        {added}
    """
