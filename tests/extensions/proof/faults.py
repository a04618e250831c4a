"""Faults that are put into generated C on purpose; ``faults.txt`` has them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from row_tables import rows

_FAULTS = Path(__file__).with_name("faults.txt")


class Fault(NamedTuple):
    """A text in a place, and what takes its place there."""

    place: str
    old: str
    new: str

    def put(self, text: str) -> str:
        """Put the fault into a text, which has what it replaces."""
        assert self.old in text
        return text.replace(self.old, self.new, 1)


def faults(check: str) -> dict[str, Fault]:
    """Return the faults that a check notices."""
    return {
        name: Fault(place, *(part.replace("{newline}", "\n") for part in texts))
        for name, place, *texts in rows(_FAULTS, check)
    }
