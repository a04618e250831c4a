"""How far the accuracy of a model depends on the seed and on the processor that trains it.

    python benchmarks/processors.py [--only NAME] [--seeds N] [--json]

Processors round sums of floats differently, so that a seed trains another model on each of them
(see `protonn_edge/system/rounding.py`). Each model is trained with every seed and with the loops
that OpenBLAS and NumPy have for three kinds of processors, whichever processor this is; it needs
AVX-512. One row a model gives the accuracy of the integers on the test part: mean and standard
deviation over all of them, and the same for each kind of processor.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

import rounding  # noqa: F401 - before NumPy
import click
from end_to_end import ROWS
from presets import PRESETS
from printing import Columns, Record, accuracy_cell, print_table
from rows import Row, chosen, over_seeds, seeds_option

from protonn_edge.system.errors import ProtoNNEdgeError

# The loops of OpenBLAS, and the features of the processor that NumPy does without.
LOOPS = {"Prescott": "X86_V3 X86_V4", "Haswell": "X86_V4", "SkylakeX": ""}
_OF_THE_README = ("mnist10-gradients", "usps10-gradients-2kB")
CASES: list[Row] = [*ROWS, *(each for each in PRESETS if each.name in _OF_THE_README)]
_NAMES = [case.name for case in CASES]

COLUMNS: Columns = [
    ("model", lambda r: r["name"]),
    ("runs", lambda r: f"{len(r['accuracies'])}"),
    ("Uno %", accuracy_cell),
    *((f"{name} %", lambda r, name=name: accuracy_cell(r["loops"][name])) for name in LOOPS),
]


def on_every_processor(name: str, seeds: Sequence[int]) -> Record:
    """Return a row's accuracies over seeds and loops, trained in processes of their own."""
    loops = {each: _trained_with(each, name, len(seeds)) for each in LOOPS}
    every = [accuracy for each in loops.values() for accuracy in each["accuracies"]]
    return {"name": name, **over_seeds(every), "loops": loops}


def _trained_with(loops: str, name: str, seeds: int) -> Record:
    variables = {"OPENBLAS_CORETYPE": loops, "NPY_DISABLE_CPU_FEATURES": LOOPS[loops]}
    command = [sys.executable, __file__, "--only", name, "--seeds", str(seeds), "--here"]
    done = subprocess.run(
        command, env=os.environ | variables, stdout=subprocess.PIPE, check=True, text=True
    )
    record: Record = json.loads(done.stdout)
    return record


@click.command()
@click.option("--only", type=click.Choice(_NAMES), help="One row.")
@seeds_option
@click.option("--here", is_flag=True, hidden=True, help="Train in this process, with its loops.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, seeds: Sequence[int], here: bool, as_json: bool) -> None:
    """Print accuracies over seeds and processors."""
    cases = chosen(CASES, only)
    if here:
        ((case, dataset),) = cases
        accuracies = [case.integer_accuracy(dataset, seed) for seed in seeds]
        click.echo(json.dumps(over_seeds(accuracies)))
    else:
        records = (on_every_processor(case.name, seeds) for case, _ in cases)
        print_table(records, COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
