"""The ProtoNN paper's tables and figures again, from the data sets at hand.

    python benchmarks/paper.py --only NAME [--json] [--pictures FOLDER]

prints the rows of one table or figure of Gupta et al. (ICML 2017), each beside the paper's own
number where it prints any, or of all of them in turn. With --pictures, what is a figure in the
paper is drawn there, too. docs/paper.md says what came of it. What each of them shows, and how its
settings were chosen, is in its module of ``reproduction``.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from printing import table_row
from reproduction import figure1, figure3, figure4, figure5, tables
from reproduction.part import Part

from protonn_edge.errors import ProtoNNEdgeError

PARTS: dict[str, Part] = {
    "table1": tables.BINARY,
    "table2": tables.MULTI_CLASS,
    "figure1": figure1.PART,
    "figure3": figure3.PART,
    "figure4": figure4.PART,
    "figure5": figure5.PART,
}


def show(name: str, part: Part, as_json: bool, pictures: Path | None) -> None:
    """Print a part's rows as they come, and draw them."""
    if not as_json:
        click.echo(f"{name}: {part.title}\n")
        click.echo(table_row([heading for heading, _ in part.columns]))
        click.echo("|" + "---|" * len(part.columns))
    records = []
    for record in part.rows():
        records.append(record)
        cells = [cell(record) for _, cell in part.columns]
        click.echo(json.dumps(record) if as_json else table_row(cells))
    if pictures is not None and part.draw is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        part.draw(records, pictures / f"paper-{name}.svg")


@click.command()
@click.option("--only", type=click.Choice(list(PARTS)), help="One table or figure.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row.")
@click.option("--pictures", type=click.Path(path_type=Path), help="Where figures are drawn.")
def main(only: str | None, as_json: bool, pictures: Path | None) -> None:
    """Print the paper's tables and figures beside its own numbers."""
    for name, part in PARTS.items():
        if only in (None, name):
            show(name, part, as_json, pictures)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
