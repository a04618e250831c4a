"""A table or a figure of the paper: what is run, what is printed, what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from printing import Columns, Record


@dataclass(frozen=True)
class Part:
    """A table or a figure.

    Attributes
    ----------
    title : str
        What it shows.
    rows : callable
        Runs it, row after row.
    columns : sequence of pairs
        Headings, and what is below them in a row.
    draw : callable, optional
        Draws rows into an SVG file.
    """

    title: str
    rows: Callable[[], Iterator[Record]]
    columns: Columns
    draw: Callable[[Sequence[Record], Path], None] | None = None


def percent(share: float | None) -> str:
    """Return a share as per cent, or a dash."""
    return "-" if share is None else f"{100 * share:.2f}"
