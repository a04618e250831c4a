"""A column of a table: a heading, its value of a finished row, and how the value is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Record = dict[str, Any]
Form = str | Callable[[Any], str]


class Column(NamedTuple):
    """A heading, what is below it in a row, and a format specification, or a function, of that."""

    heading: str
    value: Callable[[Any], Any]
    form: Form = ""

    def show(self, value: Any) -> str:
        """Return what is printed of a value; nothing of a missing one."""
        if value is None:
            return ""
        return self.form(value) if callable(self.form) else format(value, self.form)


Columns = Sequence[Column]


def figure(heading: str, key: str, form: Form = "") -> Column:
    """Return the column of a figure of records, such as "cycles.mean"; it may be missing."""
    first, *rest = key.split(".")

    def value(record: Record) -> Any:
        found = record.get(first)
        for each in rest:
            found = found and found.get(each)
        return found

    return Column(heading, value, form)


def named(*keys: str) -> Columns:
    """Return columns of records under their own names."""
    return [figure(key.replace("_", " "), key) for key in keys]


def percent(share: float) -> str:
    """Return a share of 0..1 in percent."""
    return f"{100 * share:.2f}"


def mean_percent(accuracies: Sequence[float]) -> str:
    """Return the mean in percent, with the standard deviation where there are several."""
    n, mean = len(accuracies), sum(accuracies) / len(accuracies)
    if n == 1:
        return percent(mean)
    variance = sum((each - mean) ** 2 for each in accuracies) / (n - 1)
    return f"{percent(mean)} ± {percent(variance**0.5)}"


def mean_and_most(found: Record) -> str:
    """Return the mean, and in brackets the largest."""
    return f"{found['mean']:,.0f} ({found['max']:,})"


def joined(each: Sequence[Any]) -> str:
    """Return values side by side."""
    return ", ".join(f"{one:,}" if isinstance(one, int) else str(one) for one in each)


def table_row(cells: Sequence[str]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"
