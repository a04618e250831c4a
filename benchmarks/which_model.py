"""Which kind of model `train --classifier best` takes, beside scikit-learn's models of any size.

    python benchmarks/which_model.py [--only NAME] [--minutes M] [--seed N] [--json]

prints one row a data set: the best kind and its accuracy in cross-validation on the training part,
what every other kind lacks to it, the accuracy of its integers on the test part, which is read
once, its time by the plan and the flash of the linked firmware; beside it RandomForestClassifier
with 500 trees and SVC with C = 10, both on standardized features and without any limit of memory.

digits, wine and breast_cancer come with scikit-learn; the others are read from the folder that
PROTONN_EDGE_DATA names (default ../shared/data). How many models are tried in the time depends on
the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from printing import Columns, Record, print_table
from rows import DATA
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from protonn_edge.data.dataset import Dataset
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.splits import load_digits_dataset

_PROGRAM = (sys.executable, "-c", "from protonn_edge.cli import main; main()")
_TREES, _PENALTY, _TEST_SHARE = 500, 10.0, 0.3


@dataclass(frozen=True)
class Case:
    """A data set, and the options that `train` is given for it."""

    name: str
    options: tuple[str, ...] = ()
    load: Callable[..., Any] | None = None  # scikit-learn's function; None: a file of `DATA`

    def written(self, folder: Path) -> Path:
        """Return the file of the data set, made in a folder if scikit-learn has it."""
        if self.load is None:
            return DATA / f"{self.name}.npz"
        X, y = self.load(return_X_y=True)
        parts = train_test_split(X, y, test_size=_TEST_SHARE, random_state=0, stratify=y)
        return _saved(folder / f"{self.name}.npz", *parts)


@dataclass(frozen=True)
class Digits(Case):
    """scikit-learn's digits, with the test part that this package gives them."""

    def written(self, folder: Path) -> Path:
        """Return the file of the data set."""
        digits = load_digits_dataset()
        parts = digits.X_train, digits.X_test, digits.y_train, digits.y_test
        return _saved(folder / "digits.npz", *parts)


_CASES = (
    Digits("digits", ("--image-shape", "8x8")),
    Case("wine", load=load_wine),
    Case("breast_cancer", load=load_breast_cancer),
    Case("wifi_rooms"),
    Case("occupancy"),
    Case("gunpoint"),
    Case("ecg5000"),
    Case("letter26"),
    Case("usps10", ("--image-shape", "16x16")),
    Case("har_hapt", ("--groups", "subject_train")),
)


def _saved(path: Path, X: Any, X_test: Any, y: Any, y_test: Any) -> Path:
    arrays = {"X_train": X.astype(np.float32), "X_test": X_test.astype(np.float32)}
    np.savez(path, y_train=y, y_test=y_test, **arrays)
    return path


def measured(case: Case, folder: Path, minutes: float, seed: int) -> Record:
    """Return the figures of the best kind, and of models without limits."""
    path = case.written(folder)
    words = ("train", path, "-o", folder / "model.npz", "--classifier", "best", *case.options)
    command = [*_PROGRAM, *words, "--minutes", minutes, "--seed", seed, "--json"]
    done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE)
    told = json.loads(done.stdout)
    dataset, chosen = load_dataset(path), told["cross_validated"]
    forest = RandomForestClassifier(_TREES, random_state=seed, n_jobs=2)
    return {
        "name": case.name,
        "points": len(dataset.y_train),
        "features": dataset.n_features,
        "classes": dataset.n_classes,
        "minutes": minutes,
        "models": told["trials"]["complete"],
        "kind": chosen["settings"]["classifier"],
        "score": chosen["score"],
        "deviation": chosen["score_deviation"],
        "kinds": {kind: each["score"] for kind, each in told["kinds"].items()},
        "accuracy": told["accuracy"],
        "ms": chosen["ms"],
        "flash_bytes": told["linked"]["flash_bytes"],
        "forest": _without_limits(forest, dataset),
        "svm": _without_limits(SVC(C=_PENALTY), dataset),
    }


def _without_limits(estimator: Any, dataset: Dataset) -> float:
    fitted = make_pipeline(StandardScaler(), estimator).fit(dataset.X_train, dataset.y_train)
    return float(fitted.score(dataset.X_test, dataset.y_test))


def _others(record: Record) -> str:
    best = record["kinds"][record["kind"]]
    others = {kind: each - best for kind, each in record["kinds"].items() if kind != record["kind"]}
    return ", ".join(f"{kind} {100 * ahead + 0.0:+.1f}" for kind, ahead in others.items())


_COLUMNS: Columns = (
    ("data", lambda r: r["name"]),
    ("points, features, classes", lambda r: f"{r['points']:,}, {r['features']}, {r['classes']}"),
    ("models", lambda r: str(r["models"])),
    ("best kind", lambda r: r["kind"]),
    ("folds %", lambda r: f"{100 * r['score']:.2f} ±{100 * r['deviation']:.2f}"),
    ("other kinds, points", _others),
    ("test %", lambda r: f"{100 * r['accuracy']:.2f}"),
    ("ms", lambda r: f"{r['ms']:.2f}"),
    ("flash B", lambda r: f"{r['flash_bytes']:,}"),
    ("forest %", lambda r: f"{100 * r['forest']:.2f}"),
    ("SVM %", lambda r: f"{100 * r['svm']:.2f}"),
)


@click.command()
@click.option("--only", type=click.Choice([case.name for case in _CASES]), help="One row.")
@click.option("--minutes", default=5.0, show_default=True, help="Of a search.")
@click.option("--seed", default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, minutes: float, seed: int, as_json: bool) -> None:
    """Print the best kind of model for each data set, and what models without limits reach."""
    with tempfile.TemporaryDirectory(prefix="protonn-edge-which-") as folder:

        def rows() -> Iterator[Record]:
            for case in _CASES:
                if only in (None, case.name) and (
                    case.load or case.written(Path(folder)).is_file()
                ):
                    yield measured(case, Path(folder), minutes, seed)

        print_table(rows(), _COLUMNS, as_json)


if __name__ == "__main__":
    main()
