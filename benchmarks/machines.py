"""A realistic table, with gaps and rare faults, from `data` to firmware in three commands.

The table of `tests/messy_table.py` has 40 columns, 40 % of the rows with gaps, a time stamp, two
columns of text, units in headers, decimal commas, 13 % of faults in three classes. It is given to

    protonn-edge data machines.csv
    protonn-edge train machines.csv -o model.npz --missing median --class-weight balanced
    protonn-edge build model.npz

and rows of another seed to `hil`, on the emulated Uno. The first row has no class weights.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from columns import Column, Record, figure, named, percent
from messy_table import write_table
from runner import Benchmark, Case

_PROGRAM = (sys.executable, "-c", "from protonn_edge.cli import main; main()")
_BALANCED = ("--class-weight", "balanced")
_N_ROWS = 3_000
CASES = (
    Case("protonn, no weights", ()),
    Case("protonn", _BALANCED),
    Case("linear", ("--classifier", "linear", *_BALANCED)),
)


def measure(case: Case) -> Record:
    """Return the figures of a kind."""
    with TemporaryDirectory() as folder:

        def run(*words: object) -> dict[str, Any]:
            command = [*_PROGRAM, *map(str, words), "--json"]
            done = subprocess.run(command, check=True, capture_output=True, cwd=folder)
            found: dict[str, Any] = json.loads(done.stdout)
            return found

        write_table(Path(folder) / "machines.csv", _N_ROWS, seed=1)
        write_table(Path(folder) / "new.csv", _N_ROWS, seed=2)
        run("data", "machines.csv")
        run("train", "machines.csv", "-o", "model.npz", "--missing", "median", *case.given)
        run("build", "model.npz")
        return {"kind": case.name, **run("hil", "new.csv")}


def _recalls(record: Record) -> str:
    classes = record["quality"]["per_class"]
    return ", ".join(f"{each['class']} {each['recall']:.2f}" for each in classes)


BENCHMARKS = {
    "machines": Benchmark(
        "A table with gaps and rare faults: accuracy and recall of kinds of classifiers.",
        CASES,
        (
            *named("kind"),
            figure("accuracy %", "accuracy", percent),
            figure("always OK %", "quality.baseline", percent),
            figure("balanced %", "quality.balanced_accuracy", percent),
            Column("recall", _recalls),
            *named("mismatches"),
            figure("ms", "latency_ms.mean", ".3f"),
            figure("flash B", "flash_bytes", ","),
        ),
        measure,
    ),
}
