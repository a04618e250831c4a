"""Compare what `train --classifier best` promises with what its model reaches on held-out points.

    python benchmarks/best.py [--only NAME] [--minutes 1] [--json]   # 12 minutes

For each of ten data sets, at most 1,000 points of both parts are mixed, a quarter of them is held
out, and the command searches on the others. *promised* is the accuracy of the chosen trial in
cross-validation, *held out* the accuracy of the integers that are written, and *deviations* by how
many standard deviations of the difference of two such shares the first is above the second. The
exit code is 1 if these are more than three somewhere.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from integers import satellite_points
from numpy.typing import NDArray
from printing import Record, print_table
from rows import Row, chosen
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from protonn_edge.datasets import Dataset
from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.evaluation.accuracy import deviations_above

_POINTS, _SHARE, _MOST = 1_000, 0.25, 3.0
_MADE = {"iris": load_iris, "wine": load_wine, "breast-cancer": load_breast_cancer}


@dataclass(frozen=True)
class _Mixed(Row):
    """A row; without a file, its points come from scikit-learn, or are drawn at random."""

    def dataset(self) -> Dataset | None:
        """Return the data set, or None where this machine does not have it."""
        if self.name == "satellite":
            return satellite_points()
        if self.name not in _MADE:
            return super().dataset()
        X, y = _MADE[self.name](return_X_y=True)
        names = tuple(map(str, np.unique(y)))
        return Dataset(X.astype(np.float32), y.astype(np.int64), X[:0], y[:0], names)


_ROWS = [
    *(_Mixed(name, None) for name in (*_MADE, "digits", "satellite")),
    _Mixed("wifi", "wifi_rooms.npz"),
    _Mixed("occupancy", "occupancy.npz"),
    _Mixed("letter26", "letter26.npz"),
    _Mixed("har", "har_hapt.npz"),
    _Mixed("ecg5000", "ecg5000.npz"),
]
_COLUMNS = [
    ("data", lambda r: r["name"]),
    ("kind", lambda r: r["kind"]),
    ("trials", lambda r: f"{r['trials']}"),
    ("promised %", lambda r: f"{100 * r['promised']:.2f}"),
    ("held out %", lambda r: f"{100 * r['held_out']:.2f}"),
    ("points", lambda r: f"{r['n']}"),
    ("deviations", lambda r: f"{r['deviations']:+.2f}"),
    ("passed over", lambda r: f"{r['passed_over']}"),
]


def measure(row: _Mixed, dataset: Dataset, minutes: float) -> Record:
    """Run the command on a data set."""
    X, y = _mixed(dataset)
    with tempfile.TemporaryDirectory(prefix="protonn-edge-best-") as folder:
        path = Path(folder) / "points.npz"
        np.savez(path, X_train=X, y_train=y)
        command = [sys.executable, "-m", "protonn_edge", "train", str(path), "--classifier", "best"]
        options = ["--minutes", str(minutes), "--holdout", str(_SHARE), "--json"]
        done = subprocess.run(
            [*command, *options, "-o", str(Path(folder) / "best.npz")],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise click.ClickException(f"{row.name}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    promised, reached, n = found["cross_validated"]["accuracy"], found["accuracy"], found["n"]
    return {
        "name": row.name,
        "kind": found["cross_validated"]["settings"]["classifier"],
        "trials": found["trials"]["complete"],
        "promised": promised,
        "held_out": reached,
        "n": n,
        "deviations": deviations_above(promised, len(y) - n, reached, n),
        "passed_over": len(found["passed_over"]),
    }


def _mixed(dataset: Dataset) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return some points of both parts, in random order."""
    X = np.concatenate([dataset.X_train, dataset.X_test])
    y = np.concatenate([dataset.y_train, dataset.y_test])
    some = np.random.default_rng(0).permutation(len(y))[:_POINTS]
    return X[some], y[some]


@click.command(help=__doc__)
@click.option("--only", type=click.Choice([row.name for row in _ROWS]), help="One data set.")
@click.option("--minutes", default=1.0, show_default=True, help="Of a search.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per data set.")
def main(only: str | None, minutes: float, as_json: bool) -> None:
    """Print what the command promises and reaches."""
    records = []

    def measured() -> Iterator[Record]:
        for row, dataset in chosen(_ROWS, only):
            records.append(measure(row, dataset, minutes))
            yield records[-1]

    print_table(measured(), _COLUMNS, as_json)
    sys.exit(any(each["deviations"] > _MOST for each in records))


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
