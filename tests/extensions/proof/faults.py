"""Faults that are put into generated C on purpose; ``faults.txt`` has them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_TEXT = Path(__file__).with_name("faults.txt").read_text("utf-8")


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
    rows = _TEXT.split(f"## {check}: ")[1].split("\n\n")[0].splitlines()[1:]
    parts = [[part.strip() for part in f"{row} ".split(" | ")] for row in rows]
    return {
        name: Fault(place, *(part.replace("{newline}", "\n") for part in texts))
        for name, place, *texts in parts
    }
