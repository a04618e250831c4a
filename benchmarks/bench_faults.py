"""Faulty boards under test: how often a bench mistakes a faulty board for a bad or a good model.

    python benchmarks/bench_faults.py [--runs N] [--only FAULT] [--seed N] [--json]

prints one row per fault: runs of one point each on a simulated line, their results, and how many
faults were named. A *false pass* is a wrong model that passed, a *false failure* a good model that
failed because of its board. Time on these lines is simulated, so a deadline of 10 s takes none. The
project is compiled and analysed once.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from printing import Columns, print_table

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.families.avr.family import AVR
from protonn_edge.codegen.families.avr.paths import stated_facts
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.codegen.verification.agreement import PossibleCycles
from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.extensions.lab.boards import measure_under_test
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.evaluation import measurement
from protonn_edge.system.errors import CheckFailed, DeviceError

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from simulated_board import EXPECTED, FAILED, PASSED, SimulatedBoard

COLUMNS: Columns = [
    ("fault", lambda r: r["fault"]),
    ("runs", lambda r: f"{r['runs']:,}"),
    ("passed", lambda r: f"{r['passed']:,}"),
    ("failed", lambda r: f"{r['failed']:,}"),
    ("errors", lambda r: f"{r['errors']:,}"),
    ("named", lambda r: f"{100 * r['as_expected'] / r['runs']:.1f} %"),
    ("false passes", lambda r: f"{r['false_passes']:,}"),
    ("false failures", lambda r: f"{r['false_failures']:,}"),
]


class Runs:
    """Runs of one point on the board of a small model of digits."""

    def __init__(self, folder: Path) -> None:
        digits = load_digits_dataset()
        classifier = ProtoNNClassifier(n_prototypes=20, epochs=8, random_state=0)
        model = classifier.fit(digits.X_train, digits.y_train).to_model(classes=digits.classes)
        self._board = load_board("uno")
        build(model, self._board, folder)
        self._project = Project(folder)
        self._points = np.asarray(digits.X_test, np.float32), digits.y_test
        self._simulated = SimulatedBoard(self._project)

    def run(self, fault: str, seed: int) -> str:
        """Return how a run ended: `PASSED`, `FAILED`, or the error."""
        row = seed % len(self._points[1])
        X, y = self._points
        host = self._simulated.with_fault(fault, seed)
        try:
            found = measure_under_test(
                self._project,
                (X[row : row + 1], y[row : row + 1]),
                self._board,
                ["board"],
                host,
                retries=1,
                fault=lambda _: None,
            )
        except DeviceError as error:
            return str(error)
        failed = isinstance(found, CheckFailed) or found.failure is not None
        return FAILED if failed else PASSED


def measure_fault(runs: Runs, fault: str, n: int, seed: int) -> dict[str, Any]:
    """Return the row of a fault."""
    expected = EXPECTED[fault]
    ended = Counter(runs.run(fault, seed + number) for number in range(n))
    passed, failed = ended[PASSED], ended[FAILED]
    return {
        "fault": fault,
        "runs": n,
        "passed": passed,
        "failed": failed,
        "errors": n - passed - failed,
        "as_expected": sum(count for text, count in ended.items() if expected in text),
        "false_passes": passed if expected == FAILED else 0,
        "false_failures": 0 if expected == FAILED else failed,
    }


@click.command()
@click.option("--runs", default=10_000, show_default=True, help="Runs, over all faults.")
@click.option("--only", type=click.Choice(list(EXPECTED)), help="One row.")
@click.option("--seed", default=0, show_default=True, help="Of the first run of each fault.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(runs: int, only: str | None, seed: int, as_json: bool) -> None:
    """Print how runs on boards at fault ended."""
    faults = [only] if only else list(EXPECTED)
    share = -(-runs // len(faults))
    with TemporaryDirectory() as folder:
        made = Runs(Path(folder))
        print_table(_rows(made, faults, share, seed), COLUMNS, as_json)


def _rows(runs: Runs, faults: list[str], share: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the rows; what depends on the project alone is computed once."""
    with (
        patch.object(measurement, "_checked_firmware", cache(measurement._checked_firmware)),
        patch(f"{AVR.__module__}.stated_facts", cache(stated_facts)),
        patch.object(PossibleCycles, "of_program", cache(PossibleCycles.of_program)),
        patch.object(Project, "generated", cache(Project.generated)),
    ):
        for fault in faults:
            yield measure_fault(runs, fault, share, seed)


if __name__ == "__main__":
    main()
