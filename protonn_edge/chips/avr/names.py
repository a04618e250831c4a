"""The names of a linked program: functions and labels in its code, and variables."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from dataclasses import dataclass

from protonn_edge.chips.avr.instructions import Decoded


@dataclass(frozen=True)
class Symbol:
    """A name in the code."""

    name: str  # as the linker knows it
    address: int  # in bytes from the start of flash
    size: int  # in bytes; 0 if the assembler source does not state it


MARK = re.compile(
    r"(\w+)_(passed|each|given|span)\.(\w+)\.(?:([a-z]\w*)\.)?"
    r"(?:(\d{1,9})u?\.(\d{1,9})u?\.(?:(\d{1,9})\.)?)?\d\w*",
    re.ASCII,
)
"""Names of labels that carry facts; see `protonn_edge.chips.avr.facts`."""


class Names:
    """The symbols of the code, to name addresses."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        # If an address has several names, a sized function's comes last and wins.
        self._symbols = sorted(symbols, key=lambda each: (each.address, each.size > 0, each.name))
        self._addresses = [each.address for each in self._symbols]

    def address_of(self, name: str) -> int | None:
        """Return where a name is."""
        return next((each.address for each in self._symbols if each.name == name), None)

    def copies_of(self, function: str) -> list[int]:
        """Return where a function is, and those that the compiler adapted to their callers.

        These are NAME.constprop.0, for example; NAME.part.0 is no copy.
        """
        names = ((each.name.partition("."), each.address) for each in self._symbols)
        return sorted({
            address
            for (name, _, suffix), address in names
            if name and name == function and not suffix.startswith(("part", "cold"))
        })  # fmt: skip

    def at(self, address: int) -> Symbol | None:
        """Return the last symbol at or before an address."""
        after = bisect.bisect_right(self._addresses, address)
        return self._symbols[after - 1] if after else None

    def name_of(self, address: int) -> str:
        """Return a name for an address, with the distance from the symbol's start if any."""
        if address == 0:
            return "reset"
        symbol = self.at(address)
        if symbol is None:
            return f"0x{address:x}"
        distance = address - symbol.address
        return f"{symbol.name}+0x{distance:x}" if distance else symbol.name

    def function_of(self, address: int) -> str:
        """Return the name of the function that an address is in."""
        symbol = self.at(address)
        return symbol.name if symbol else self.name_of(address)

    def ends_with(self, here: Decoded) -> bool:
        """Return whether a function ends there."""
        symbol = self.at(here.address)
        return bool(symbol and symbol.size and here.end == symbol.address + symbol.size)


@dataclass(frozen=True)
class Variable:
    """A variable in SRAM."""

    name: str
    address: int  # in the data space
    size: int
    source: str  # the file that defines it, if only this can use it; otherwise empty

    @property
    def base(self) -> str:
        """Its name in the source."""
        return self.name.partition(".")[0]


_NAME = r"\w+(?:\[[^\]]*\])*"
_DECLARATION = re.compile(
    rf"^(?:static|\}})(?: [\w*]+)*? \**({_NAME}(?:, {_NAME})*)(?:;| =|$)", re.ASCII | re.MULTILINE
)


def declared_in(text: str) -> frozenset[str]:
    """Return the names of the variables that a generated C file declares for itself alone."""
    lists = (re.sub(r"\[[^\]]*\]", "", each[1]) for each in _DECLARATION.finditer(text))
    return frozenset(name for each in lists for name in each.split(", "))
