"""Weights as instructions: what one input adds to the sums in registers.

The input is in r17, and not 0; r28 is 0. A product is made once for all channels whose weights have
it with either sign, from the one before where that is a smaller multiple of the input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

INPUT, CONSTANT, ZERO = "r17", "r16", "r28"

_BYTE = 255


def added_products(weights: Mapping[str, int], maximum: int) -> list[str]:
    """Return the instructions for an input of at most `maximum`.

    Parameters
    ----------
    weights : mapping of str to int
        Weights that are not 0, by the lower register of a sum.
    maximum : int
        1..255.
    """
    sums: dict[int, list[tuple[str, bool]]] = defaultdict(list)
    for register, weight in weights.items():
        sums[abs(weight)].append((register, weight < 0))
    product, lines = _Product(maximum), []
    for multiple in sorted(sums):
        lines += product.moved_to(multiple)
        for register, negative in sums[multiple]:
            add, carry = ("sub", "sbc") if negative else ("add", "adc")
            lines.append(f"{add}  {register}, {product.low}")
            lines.append(f"{carry}  {_above(register)}, {product.high}")
    return lines


@dataclass
class _Product:
    """A multiple of the input: in its register, in r0, or in r1:r0 where it may be above a byte.

    Attributes
    ----------
    maximum : int
        Of the input.
    multiple : int
        Which multiple it is.
    """

    maximum: int
    multiple: int = field(default=1, init=False)

    @property
    def low(self) -> str:
        """The register of its lower byte."""
        return INPUT if self.multiple == 1 else "r0"

    @property
    def high(self) -> str:
        """The register of its upper byte."""
        return ZERO if self._fits(self.multiple) else "r1"

    def _fits(self, multiple: int) -> bool:
        return multiple * self.maximum <= _BYTE

    def moved_to(self, multiple: int) -> list[str]:
        """Return the fewest instructions that make it a larger multiple."""
        before, self.multiple = self.multiple, multiple
        if multiple == before:
            return []
        multiplied = [f"ldi  {CONSTANT}, {multiple}", f"mul  {CONSTANT}, {INPUT}"]
        if self._fits(multiple):
            copied = [f"mov  r0, {INPUT}"] if before == 1 else []
            if multiple == 2 * before:
                return [*copied, "lsl  r0"]
            if multiple - before <= 2 - len(copied):
                return [*copied, *([f"add  r0, {INPUT}"] * (multiple - before))]
        elif before > 1 and not self._fits(before):
            if multiple == 2 * before:
                return ["lsl  r0", "rol  r1"]
            if multiple == before + 1:
                return [f"add  r0, {INPUT}", f"adc  r1, {ZERO}"]
        return multiplied


def _above(register: str) -> str:
    return f"r{int(register[1:]) + 1}"
