"""Weights as instructions: each input times constants, which are added to sums in registers.

X points to the inputs. An input of 0 is skipped. Of others, a product is made once for all sums
that need it, of the product before where that is shorter. It is in r1:r0, or, if it fits a byte for
any input, in r0 alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.input_quantizer import BYTE_MAXIMUM

_MOST_ADDED = 63  # the most that adiw adds


@dataclass(frozen=True)
class Registers:
    """The lowest register of each sum, and what the instructions need besides them."""

    sums: Sequence[int]
    input: str
    constant: str  # r16 or above
    zero: str  # the register that is 0
    width: int = 2  # bytes of a sum


def unrolled(
    weights: NDArray[np.integer], maximum: int, of: Registers, name: str = "", doubled: int = 0
) -> tuple[list[str], int]:
    """Return the instructions for weights (inputs, sums), and how far they move X.

    - `maximum`: the largest input, 1..255.
    - `name`: what distinguishes their labels from those of other instructions.
    - `doubled`: how often each input is doubled first, and still fits a byte.
    """
    lines, at = list[str](), 0
    for place, row in enumerate(weights.tolist()):
        if used := {low: weight for low, weight in zip(of.sums, row, strict=True) if weight}:
            behind = f"behind_{name}{place}"
            lines += [*moved(place - at), f"ld  {of.input}, X+ ; input {place}"]
            lines += [f"tst  {of.input}", f"breq {behind}", *[f"lsl  {of.input}"] * doubled]
            lines += [*added_products(used, maximum << doubled, of), f"{behind}:"]
            at = place + 1
    return lines, at


def moved(by: int) -> list[str]:
    """Return the instructions that move X."""
    if 0 <= by <= _MOST_ADDED:
        return [f"adiw r26, {by}"] * (by > 0)
    return [f"subi r26, lo8(-({by}))", f"sbci r27, hi8(-({by}))"]


def added_products(weights: Mapping[int, int], maximum: int, of: Registers) -> list[str]:
    """Return instructions that add an input of at most `maximum`, 1..255, times its weights.

    The weights, by the lowest register of their sum, are not 0.
    """
    lines, before = list[str](), 0
    for size in sorted({*map(abs, weights.values())}):
        lines += _made(before, size, maximum, of)
        low, high = of.input if size == 1 else "r0", "r1" if size * maximum > BYTE_MAXIMUM else ""
        product = [low, high or of.zero, *[of.zero] * (of.width - 2)]
        for weight, add, carry in ((size, "add", "adc"), (-size, "sub", "sbc")):
            for sum_ in (each for each, own in weights.items() if own == weight):
                names = [add, *[carry] * (of.width - 1)]
                lines += [
                    f"{name}  r{sum_ + byte}, {part}"
                    for byte, (name, part) in enumerate(zip(names, product, strict=True))
                ]
        before = size
    return lines


def _made(before: int, size: int, maximum: int, of: Registers) -> list[str]:
    """Return the instructions that make a multiple of the input from the one before.

    One that fits a byte for any input needs one instruction to grow by the input, or to twice
    itself; others need two, or, like any multiple, an ldi and a mul.
    """
    if size == 1:
        return []
    one_more, doubled = f"add  r0, {of.input}", "lsl  r0"
    ways: dict[int, list[str]] = {}
    if size == 2 and size * maximum <= BYTE_MAXIMUM:
        ways = {2: [f"mov  r0, {of.input}", doubled]}
    elif size * maximum <= BYTE_MAXIMUM and before > 1:
        ways = {2 * before + 1: [doubled, one_more], before + 2: [one_more] * 2}
        ways |= {2 * before: [doubled], before + 1: [one_more]}
    elif before * maximum > BYTE_MAXIMUM:
        ways = {2 * before: [doubled, "rol  r1"]}
        ways |= {before + 1: [one_more, f"adc  r1, {of.zero}"]}
    return ways.get(size, [f"ldi  {of.constant}, {size}", f"mul  {of.constant}, {of.input}"])
