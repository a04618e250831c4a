"""Figures: numbers that are measured, as all outputs show them.

A table of the terminal, the JSON of a command, the report, a test's properties and the action
write the same list of figures, so a new one is stated once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from protonn_edge.system.schema import JsonObject

Better = Literal["more", "less", ""]
Facts = list[tuple[str, str]]

_SHARE = "%"  # the unit of a share, 0..1
_SIGNIFICANT = ".4g"


@dataclass(frozen=True)
class Figure:
    """A number that is measured."""

    key: str  # in JSON, with its unit unless it is a share
    name: str  # for display
    value: float  # a share, 0..1, if the unit is "%"
    unit: str = ""
    digits: int | None = 0  # decimals; None for four significant digits
    better: Better = ""  # which values are better, if some are
    note: str = ""  # after the number, with what separates them
    limit: float | None = None  # of the board
    interval: tuple[float, float] | None = None  # with a confidence of 95 %
    spread: Mapping[str, float] = field(default_factory=dict)  # if the value is a mean

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"

    @property
    def number(self) -> str:
        """The value without its unit."""
        return self.shown(self.value)

    @property
    def text(self) -> str:
        """The value with its unit, and with what puts it into proportion."""
        text = with_unit(self.number, self.unit)
        if self.limit is not None:
            share = percent(self.value / self.limit, 1)
            text = f"{self.number} of {with_unit(self.shown(self.limit), self.unit)} ({share})"
        if self.spread:
            each = ", ".join(f"{name} {self.shown(at)}" for name, at in self.spread.items())
            text = f"mean {text} ({each})"
        text += self.note
        return f"{text} (95 % confidence: {self.range})" if self.interval else text

    @property
    def range(self) -> str:
        """The ends of the interval; empty without one."""
        if self.interval is None:
            return ""
        low, high = map(self.shown, self.interval)
        return f"{low} to {with_unit(high, self.unit)}"

    @property
    def aside(self) -> str:
        """What to say beside a number in large type."""
        if self.limit is not None:
            return f"of {with_unit(self.shown(self.limit), self.unit)}{self.note}"
        return f"{self.range} at 95 % confidence" if self.interval else self.note.lstrip(", ")

    def to_json(self) -> JsonObject:
        """Return what other programs need to show it and to compare it."""
        fields = ("key", "name", "value", "unit", "number", "better", "limit")
        return {name: getattr(self, name) for name in fields}

    def shown(self, value: float) -> str:
        """Return another value of the figure without its unit."""
        value *= 100 if self.unit == _SHARE else 1
        return format(value, _SIGNIFICANT if self.digits is None else f",.{self.digits}f")


def facts_of(figures: Iterable[Figure]) -> Facts:
    """Return the rows of a table of figures: names and texts."""
    return [(each.name, each.text) for each in figures]


def percent(share: float, digits: int = 2) -> str:
    """Return a share, 0..1, in per cent."""
    return f"{100 * share:.{digits}f} %"


def percents(low: float, high: float, digits: int = 2) -> str:
    """Return a range of shares, 0..1, in per cent."""
    return f"{100 * low:.{digits}f} to {percent(high, digits)}"


def with_unit(number: str, unit: str) -> str:
    """Return a number with its unit, if it has one."""
    return f"{number} {unit}" if unit else number
