"""How benchmarks print: a Markdown table, a sentence for each row, or lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

Record = dict[str, Any]
Column = tuple[str, Callable[[Record], str]]  # its heading, and a record's cell
Columns = Sequence[Column]


def print_table(records: Iterable[Record], columns: Columns, as_json: bool) -> None:
    """Print each record as soon as it is there, by the columns' headings and cells."""
    if not as_json:
        click.echo(table_row([heading for heading, _ in columns]))
        click.echo("|" + "---|" * len(columns))
    trained_on = ""
    for record in records:
        row = json.dumps(record) if as_json else table_row([cell(record) for _, cell in columns])
        click.echo(row)
        trained_on = record.get("trained_on", "")
    if trained_on and not as_json:
        click.echo(f"\nTrained on {trained_on}.")


def figure_cell(name: str, form: str) -> Callable[[Record], str]:
    """Return the function of a cell with a figure of a record; empty if it has none."""
    return lambda record: "" if record.get(name) is None else format(record[name], form)


def accuracy_cell(record: Record) -> str:
    """Return the accuracy in %, with its standard deviation where there are several seeds."""
    std = record.get("std")
    return f"{100 * record['accuracy']:.2f}" + ("" if std is None else f" ± {100 * std:.2f}")


def table_row(cells: Sequence[str]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def print_figures(name: str, figures: Record, holds: bool, as_json: bool) -> None:
    """Print figures under their names, and whether they reach what is asked for."""
    if as_json:
        click.echo(json.dumps({"row": name, **figures}))
        return
    shown = ", ".join(f"{key.replace('_', ' ')} {figures[key]}" for key in figures)
    click.echo(f"{name}: {shown}{'' if holds else '  SHORT'}")
