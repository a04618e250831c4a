"""Units of measured values: of which quantity, and how much of it a value of 1 is."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from protonn_edge.errors import InputError, shortened

_LIMIT = 60
_NUMBER = r"\d{1,12}(?:\.\d{1,12})?"
_UNIT = re.compile(rf"(?:({_NUMBER})(?:\s*/\s*({_NUMBER}))?\s*)?([^\d\s.,;/+-][^;]*)")
_STANDARD_GRAVITY = Fraction("9.80665")  # m/s^2, by definition

_SYMBOLS = {
    "g": ("acceleration", Fraction(1)),
    "mg": ("acceleration", Fraction(1, 1000)),
    **dict.fromkeys(("m/s^2", "m/s2", "m/s²"), ("acceleration", 1 / _STANDARD_GRAVITY)),
    **dict.fromkeys(("deg/s", "dps", "°/s"), ("rotation", Fraction(1))),
    "rad/s": ("rotation", Fraction(180 / math.pi)),
    "of the supply voltage": ("voltage", Fraction(1)),
}
"""Quantities, and sizes in their first unit. Other symbols are quantities of their own."""


@dataclass(frozen=True)
class Unit:
    """The unit of a channel's values."""

    text: str  # as it was written: ``"1/256 g"``
    quantity: str  # ``"acceleration"``; values of the same one can be converted
    size: Fraction  # the amount that a value of 1 stands for, above 0, in the quantity's own unit

    def is_same(self, other: Unit) -> bool:
        """Whether values in both units are equal."""
        return (self.quantity, self.size) == (other.quantity, other.size)


def unit_of(text: str) -> Unit:
    """Return the unit of a text: a symbol, such as ``g``, with a number in front if it has one.

    Raises `InputError` if it is neither.
    """
    text = text.strip()
    found = _UNIT.fullmatch(text) if len(text) <= _LIMIT and text.isprintable() else None
    size, parts = (Fraction(found[n] or 1) if found else Fraction(0) for n in (1, 2))
    if found is None or not size or not parts:
        raise InputError(
            f"the unit {shortened(text)!r} is not a symbol behind an optional number; give one "
            "such as g, m/s^2, '1/256 g' or '1/16.4 deg/s'"
        )
    symbol = " ".join(found[3].split())
    quantity, one = _SYMBOLS.get(symbol, (symbol, Fraction(1)))
    return Unit(text, quantity, size / parts * one)


def units_of(text: str, channels: tuple[str, ...]) -> dict[str, Unit]:
    """Return the unit of each channel that a text names, or of all if it names none.

    - `text`: such as ``1/256 g``, or ``ax ay az 1/8192 g; gx gy gz 1/65.5 deg/s``.

    Raises `InputError` if there is no unit.
    """
    found: dict[str, Unit] = {}
    for part in text.split(";"):
        words = part.split()
        count = next((n for n, word in enumerate(words) if word not in channels), len(words))
        if count == len(words) > 0:  # a channel may be called as a unit
            count -= 1
        unit = unit_of(" ".join(words[count:]))
        found |= dict.fromkeys(words[:count] or channels, unit)
    return found


def units_text(channels: tuple[str, ...], units: tuple[Unit, ...]) -> str:
    """Return the text from which `units_of` reads the units of channels."""
    texts = [unit.text for unit in units]
    if len(set(texts)) == 1:
        return texts[0]
    names = {each: [c for c, text in zip(channels, texts, strict=True) if text == each]
             for each in texts}  # fmt: skip
    return "; ".join(f"{' '.join(of)} {text}" for text, of in names.items())
