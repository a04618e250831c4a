"""Reproduce the ProtoNN paper's tables and figures with the available data sets.

    python benchmarks/paper.py --only NAME [--data NAME] [--json] [--pictures FOLDER]

prints the rows of one table or figure of Gupta et al. (ICML 2017), each beside the paper's own
number where it prints any, or of all of them in turn; with --data, those of one data set. With
--pictures, what is a figure in the paper is drawn there, too. docs/research.md has the results.
What each of them shows, and how its settings were chosen, is in its module of ``reproduction``.

Rows take from seconds to an hour. Those that --json printed are shown and drawn again with --stored
FILE, so that a figure can be run in parts.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

import rounding  # noqa: F401 - before NumPy
import click
from printing import Record, print_table
from reproduction import figure1, figure2, figure3, figure4, figure5, tables
from reproduction.part import Part
from rows import chosen

from protonn_edge.system.errors import ProtoNNEdgeError

PARTS: dict[str, Part] = {
    "table1": tables.BINARY,
    "table2": tables.MULTI_CLASS,
    "figure1": figure1.PART,
    "figure2": figure2.PART,
    "figure3": figure3.PART,
    "figure4": figure4.PART,
    "figure5": figure5.PART,
}


def run(part: Part, data: str | None) -> Iterator[Record]:
    """Yield a part's rows, of all of its data sets or of one."""
    for row, dataset in chosen(part.sets, data):
        yield from part.rows(row, dataset)


def show(name: str, part: Part, rows: Iterable[Record], as_json: bool, folder: Path | None) -> None:
    """Print rows as they come, and draw them."""
    if not as_json:
        click.echo(f"{name}: {part.title}\n")
    records: list[Record] = []
    print_table(_kept(rows, records), part.columns, as_json)
    if folder is not None and part.draw is not None:
        folder.mkdir(parents=True, exist_ok=True)
        part.draw(records, folder / f"paper-{name}.svg")


def _kept(rows: Iterable[Record], records: list[Record]) -> Iterator[Record]:
    for record in rows:
        records.append(record)
        yield record


@click.command()
@click.option("--only", type=click.Choice(list(PARTS)), help="One table or figure.")
@click.option("--data", help="One data set of it.")
@click.option("--stored", type=click.File(), help="What --json printed, in place of new rows.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
@click.option("--pictures", type=click.Path(path_type=Path), help="Where figures are drawn.")
def main(
    only: str | None,
    data: str | None,
    stored: TextIO | None,
    as_json: bool,
    pictures: Path | None,
) -> None:
    """Print the paper's tables and figures beside its own numbers."""
    if only is None and (data or stored):
        raise click.UsageError("--data and --stored are of one table or figure; add --only")
    if only and data not in (None, *(names := [row.name for row in PARTS[only].sets])):
        raise click.BadParameter(f"{only} is run on {', '.join(names)}, not on {data}")
    for name in PARTS if only is None else [only]:
        part = PARTS[name]
        rows = run(part, data) if stored is None else map(json.loads, stored)
        show(name, part, rows, as_json, pictures)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
