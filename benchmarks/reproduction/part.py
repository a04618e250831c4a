"""A table or figure of the paper: its runs, its printed rows, and its drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from printing import Columns, Record
from rows import Row

from protonn_edge.data.dataset import Dataset


@dataclass(frozen=True)
class Part:
    """A table or a figure.

    Attributes
    ----------
    title : str
        What it shows.
    sets : sequence of rows
        The data sets that it is run on.
    rows : callable
        Runs it on one of them, row after row.
    columns : sequence of pairs
        Headings, and what is below them in a row.
    draw : callable, optional
        Draws rows into an SVG file.
    """

    title: str
    sets: Sequence[Row]
    rows: Callable[[Any, Dataset], Iterator[Record]]
    columns: Columns
    draw: Callable[[Sequence[Record], Path], None] | None = None


def percent(share: float | None) -> str:
    """Return a share as per cent, or a dash."""
    return "-" if share is None else f"{100 * share:.2f}"
