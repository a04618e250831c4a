"""Notices of readers about data for its users: one list for all commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

_SHOWN = 6
NAME_SHOWN = 40


@dataclass(frozen=True)
class Notice:
    """A remark about data.

    Attributes
    ----------
    kind : str
        Its subject for programs, such as ``label`` or ``constant``.
    text : str
        A clause for display, on one line, without control characters.
    warning : bool
        Whether the data probably has a mistake; otherwise, it reports a choice.
    columns : tuple of str
        The names of the columns or features concerned, or ``"3"`` for the third.
    """

    kind: str
    text: str
    warning: bool = False
    columns: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        return f"warning: {self.text}" if self.warning else self.text

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return {
            "kind": self.kind,
            "text": self.text,
            "warning": self.warning,
            "columns": list(self.columns),
        }


OnNotice = Callable[[Notice], object]


def quoted(name: str) -> str:
    """Return a name for a message: in quotes, control characters escaped, shortened."""
    return repr(name if len(name) <= NAME_SHOWN else f"{name[: NAME_SHOWN - 3]}...")


def listed(names: Iterable[str]) -> str:
    """Return the first few names for a message, and the number of others."""
    every = list(names)
    text = ", ".join(quoted(name) for name in every[:_SHOWN])
    return text + (f" and {len(every) - _SHOWN:,} more" if len(every) > _SHOWN else "")


def title(name: str, number: int) -> str:
    """Return a column's name for messages: its name, or its number from 1 if it has none."""
    return f"column {quoted(name)}" if name else f"column {number}"


def titles(columns: Sequence[tuple[str, int]]) -> str:
    """Return the names of several columns for messages, see `title`."""
    if all(name for name, _ in columns):
        plural = "column" if len(columns) == 1 else "columns"
        return f"{plural} {listed(name for name, _ in columns)}"
    return ", ".join(title(*column) for column in columns[:_SHOWN]) + (
        f" and {len(columns) - _SHOWN:,} more" if len(columns) > _SHOWN else ""
    )
