"""Products of inputs and weights in assembly, added to sums in registers.

X points to the inputs; those of 0 are skipped. Weights are in flash, where Z points to the next
one, or they are instructions. Then, a product is made once for all sums that need it, of the
product before where that is shorter. It is in r1:r0, or, if it fits a byte for any input, in r0
alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.codegen.kernels.listing import moved
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM

_CYCLES = {"columns": (7, 7), "unrolled": (4.7, 4), "packed": (6.5, 9)}
"""About the cycles of a product with a sum of two bytes, and of reading an input, by kernel."""

_WIDER_CYCLES = 1.3  # of a product, for each further byte of the sum


def product_cycles(
    kernel: str, weights: NDArray[np.integer], *, width: int = 2, passes: int = 1
) -> float:
    """Return about the cycles of inputs that are not 0 and weights (sums, inputs).

    Weights of 0 take none if they are instructions.
    """
    used = weights != 0 if kernel == "unrolled" else np.ones(weights.shape, bool)
    product, of_input = _CYCLES[kernel]
    products = (product + _WIDER_CYCLES * (width - 2)) * used.sum()
    return float(products + of_input * passes * used.any(axis=0).sum())


@dataclass(frozen=True)
class SumRegisters:
    """The lowest register of each sum, and what the instructions need besides them."""

    sums: Sequence[int]
    input: str
    weight: str  # r16 or above
    zero: str = ""  # the register that is 0, if weights are instructions
    width: int = 2  # bytes of a sum
    sign: str = ""  # of a product, for weights in flash and sums that are wider


def multiplied(of: SumRegisters) -> list[str]:
    """Return instructions that add the input, times a weight in flash for each sum, to the sums."""
    lines = []
    for low in of.sums:
        lines += [f"lpm  {of.weight}, Z+", f"mulsu {of.weight}, {of.input}"]
        if of.width > 2:
            lines.append(f"sbc  {of.sign}, {of.sign} ; the product's sign, 0 or -1")
        lines += added(of, low, "r0", "r1", of.sign)
    return lines


def multiplied_in_turn(of: SumRegisters) -> list[str]:
    """Return the same where each sum has an input of its own: they lie one behind the other."""
    lines = []
    for low in of.sums:
        lines += [f"ld   {of.input}, X+", *multiplied(replace(of, sums=(low,)))]
    return lines


Names = tuple[str, str]


def added(of: SumRegisters, low: int, *product: str, names: Names = ("add", "adc")) -> list[str]:
    """Return instructions that add a product to a sum; its last byte has all upper ones."""
    parts = [*product, *product[-1:] * of.width][: of.width]
    return [f"{names[byte > 0]}  r{low + byte}, {part}" for byte, part in enumerate(parts)]


def loop(
    of: SumRegisters,
    products: Sequence[str],
    skipped: int,
    count: str,
    labels: tuple[str, str, str],
) -> list[str]:
    """Return the loop over a row of inputs, up to the place where the last label is to be.

    - `products`: instructions for an input that is not 0.
    - `skipped`: bytes of weights of an input.
    - `count`: the instruction that counts the inputs down.
    - `labels`: of the loop, of its part for an input of 0, and of what is behind it.
    """
    name, zero, end = labels
    lines = [f"rjmp {name}", f"{zero}:", f"adiw r30, {skipped} ; an input that is 0", count]
    lines += [f"breq {end}", f"{name}:", f"ld   {of.input}, X+", f"tst  {of.input}"]
    return [*lines, f"breq {zero}", *products, count, f"brne {name}"]


def unrolled(
    weights: NDArray[np.integer], maximum: int, of: SumRegisters, name: str = "", doubled: int = 0
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
            lines += [*moved(26, place - at), f"ld  {of.input}, X+ ; input {place}"]
            lines += [f"tst  {of.input}", f"breq {behind}", *[f"lsl  {of.input}"] * doubled]
            lines += [*added_products(used, maximum << doubled, of), f"{behind}:"]
            at = place + 1
    return lines, at


def added_products(weights: Mapping[int, int], maximum: int, of: SumRegisters) -> list[str]:
    """Return instructions that add an input of at most `maximum`, 1..255, times its weights.

    The weights, by the lowest register of their sum, are not 0.
    """
    lines, before = list[str](), 0
    of_size: dict[int, tuple[list[int], list[int]]] = {}  # sums, by whether weights are below 0
    for sum_, weight in weights.items():
        of_size.setdefault(abs(weight), ([], []))[weight < 0].append(sum_)
    for size in sorted(of_size):
        lines += _made(before, size, maximum, of)
        low, high = of.input if size == 1 else "r0", "r1" if size * maximum > BYTE_MAXIMUM else ""
        product = low, high or of.zero, of.zero
        for sums, names in zip(of_size[size], (("add", "adc"), ("sub", "sbc")), strict=True):
            for sum_ in sums:
                lines += added(of, sum_, *product, names=names)
        before = size
    return lines


def _made(before: int, size: int, maximum: int, of: SumRegisters) -> list[str]:
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
    return ways.get(size, [f"ldi  {of.weight}, {size}", f"mul  {of.weight}, {of.input}"])
