"""A realistic table, with gaps and rare faults, from `data` to firmware in three commands.

    python benchmarks/machines.py [--only KIND] [--rows N] [--json]

writes the table of `tests/messy_table.py` (40 columns, 40 % of the rows with gaps, a time stamp,
two columns of text, units in headers, decimal commas, 13 % of faults in three classes) and calls

    protonn-edge data machines.csv
    protonn-edge train machines.csv -o model.npz --missing median --class-weight balanced
    protonn-edge build model.npz

It prints one row a kind of classifier: accuracy and recall of each class on rows of another seed,
which `hil` classifies on the emulated Uno. The first row has no class weights.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import rounding  # noqa: F401 - before NumPy
import click
from messy_table import write_table
from printing import Columns, Record, print_table

_PROGRAM = (sys.executable, "-c", "from protonn_edge.cli import main; main()")
_BALANCED = ("--class-weight", "balanced")
_ROWS = {
    "protonn, no weights": (),
    "protonn": _BALANCED,
    "linear": ("--classifier", "linear", *_BALANCED),
    "forest": ("--classifier", "forest", *_BALANCED),
    "bonsai": ("--classifier", "bonsai", *_BALANCED),
}


def measured(name: str, rows: int, folder: Path) -> Record:
    """Return the figures of a kind."""

    def run(*words: object) -> dict[str, Any]:
        command = [*_PROGRAM, *map(str, words), "--json"]
        done = subprocess.run(command, check=True, capture_output=True, cwd=folder)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    write_table(folder / "machines.csv", rows, seed=1)
    write_table(folder / "new.csv", rows, seed=2)
    run("data", "machines.csv")
    options = ("--missing", "median", *_ROWS[name])
    trained = run("train", "machines.csv", "-o", "model.npz", *options)
    run("build", "model.npz")
    new = run("hil", "new.csv")
    return {
        "name": name,
        "rows": rows,
        "accuracy": new["accuracy"],
        "quality": new["quality"],
        "mismatches": new["mismatches"],
        "latency_ms": new["latency_ms"]["mean"],
        "flash_bytes": new["flash_bytes"],
        "model_bytes": trained["model_bytes"],
    }


def _recalls(record: Record) -> str:
    classes = record["quality"]["per_class"]
    return ", ".join(f"{each['class']} {each['recall']:.2f}" for each in classes)


_COLUMNS: Columns = (
    ("kind", lambda r: r["name"]),
    ("accuracy %", lambda r: f"{100 * r['accuracy']:.2f}"),
    ("always OK %", lambda r: f"{100 * r['quality']['baseline']:.2f}"),
    ("balanced %", lambda r: f"{100 * r['quality']['balanced_accuracy']:.2f}"),
    ("recall", _recalls),
    ("mismatches", lambda r: str(r["mismatches"])),
    ("ms", lambda r: f"{r['latency_ms']:.3f}"),
    ("flash B", lambda r: f"{r['flash_bytes']:,}"),
)


@click.command()
@click.option("--only", type=click.Choice(list(_ROWS)), help="One kind.")
@click.option("--rows", default=3_000, show_default=True, help="Rows of the table.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, rows: int, as_json: bool) -> None:
    """Print the table."""
    with TemporaryDirectory() as folder:
        places = [(name, Path(folder) / str(i)) for i, name in enumerate(_ROWS)]
        for _, place in places:
            place.mkdir()
        chosen = [each for each in places if only in (None, each[0])]
        print_table((measured(name, rows, place) for name, place in chosen), _COLUMNS, as_json)


if __name__ == "__main__":
    main()
