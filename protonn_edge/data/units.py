"""The units of columns and channels: how much a value is, and what is equal to it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from protonn_edge.system.errors import InvalidValue, shortened

_LIMIT = 60
_NUMBER = r"\d{1,12}(?:\.\d{1,12})?"
_UNIT = re.compile(rf"(?:({_NUMBER})(?:\s*/\s*({_NUMBER}))?\s*)?([^\d\s.,;/+-][^;]*)")
_IN_BRACKETS = re.compile(r"(.*\S)\s*[(\[](?!\d+\])([^()\[\]]{1,20})[)\]]\s*")
_STANDARD_GRAVITY = Fraction("9.80665")  # m/s^2, by definition

_SYMBOLS = {
    "g": ("acceleration", Fraction(1)),
    "mg": ("acceleration", Fraction(1, 1000)),
    **dict.fromkeys(("m/s^2", "m/s2", "m/s²"), ("acceleration", 1 / _STANDARD_GRAVITY)),
    **dict.fromkeys(("deg/s", "dps", "°/s"), ("rotation", Fraction(1))),
    "rad/s": ("rotation", Fraction(180 / math.pi)),
    "of the supply voltage": ("voltage", Fraction(1)),
}
"""Units by quantity, with their sizes in the first unit. Any other symbol is its own quantity."""

KNOWN_QUANTITIES = frozenset(quantity for quantity, _ in _SYMBOLS.values())


@dataclass(frozen=True)
class Unit:
    """The unit of a channel's values."""

    text: str  # as it was written: ``"1/256 g"``
    quantity: str  # ``"acceleration"``; values of the same one can be converted
    size: Fraction  # the amount for a value of 1, above 0, in the quantity's own unit

    def is_same(self, other: Unit) -> bool:
        """Whether values in both units are equal."""
        return (self.quantity, self.size) == (other.quantity, other.size)


def unit_of(text: str) -> Unit:
    """Return the unit of a text, such as ``g`` or ``1/256 g``; `InputError` if it is none."""
    text = text.strip()
    match = _UNIT.fullmatch(text) if len(text) <= _LIMIT and text.isprintable() else None
    size, parts = (Fraction(match[n] or 1) if match else Fraction(0) for n in (1, 2))
    if match is None or not size or not parts:
        raise InvalidValue(
            f"unit {shortened(text)!r}",
            "neither a symbol nor a number followed by a symbol",
            "give a unit such as g, m/s^2, '1/256 g' or '1/16.4 deg/s'",
        )
    symbol = " ".join(match[3].split())
    quantity, one = _SYMBOLS.get(symbol, (symbol, Fraction(1)))
    return Unit(text, quantity, size / parts * one)


def split_unit(name: str) -> tuple[str, str]:
    """Return a column's name without the unit in brackets that may follow it, and this unit."""
    match = _IN_BRACKETS.fullmatch(name)
    return (match[1], match[2].strip()) if match else (name, "")


def units_of(text: str, channels: tuple[str, ...]) -> dict[str, Unit]:
    """Return the unit of each channel, or of all, that a text gives; `InputError` without a unit.

    Such a text is ``1/256 g``, or ``ax ay az 1/8192 g; gx gy gz 1/65.5 deg/s``.
    """
    unit_of_channel: dict[str, Unit] = {}
    for part in text.split(";"):
        words = part.split()
        count = next((n for n, word in enumerate(words) if word not in channels), len(words))
        if count == len(words) > 0:  # a channel may be called as a unit
            count -= 1
        unit_of_channel |= dict.fromkeys(
            words[:count] or channels, unit_of(" ".join(words[count:]))
        )
    return unit_of_channel


def units_text(channels: tuple[str, ...], units: tuple[Unit, ...]) -> str:
    """Return the text from which `units_of` reads the units of channels."""
    texts = [unit.text for unit in units]
    if len(set(texts)) == 1:
        return texts[0]
    names = {each: [c for c, text in zip(channels, texts, strict=True) if text == each]
             for each in texts}  # fmt: skip
    return "; ".join(f"{' '.join(of)} {text}" for text, of in names.items())
