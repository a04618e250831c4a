"""Run trees and networks of other libraries on the emulated Uno, and count the equal answers.

    python benchmarks/imported.py [--only ROW] [--bits 8|4|2] [--fine-tune] [--json]

A row is a data set and a library: XGBoost, LightGBM or scikit-learn's histogram boosting trains on
the training points, and all test points run on the emulated Uno. `equal` is the share of the
library's own answers that the Uno gives. Other rows are networks that PyTorch, Keras or
scikit-learn trained and exported to ONNX, or that onnxruntime quantized to int8
(benchmarks/framework_networks.py).
With fewer bits, weights of convolutions are coarser: only rows of networks with convolutions.
With --fine-tune, networks in floats are trained on the labels of their training points, too.
Needs: pip install xgboost lightgbm onnx onnxruntime. Exits with 1 if too few answers are equal, if
a network of 8 bits loses more than 0.3 points of accuracy, or if the Uno and NumPy differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from framework_networks import FOLDER, MOST_TRAINED, NETWORKS, onnxruntime_scores
from on_uno import TAKEN, run_on_uno
from printing import Columns, Record, print_table
from rows import DATA
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from protonn_edge.data.dataset import Dataset
from protonn_edge.data.reading import load_dataset
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.from_network import from_network
from protonn_edge.extensions.conversion.kept import Conversion
from protonn_edge.extensions.conversion.networks.int8_network import Int8Network

_WHOLE, _OTHER = 0.999, 0.995  # the least share of equal answers, for features that are integers


@dataclass(frozen=True)
class Sizes:
    """The sizes of trees for a data set, so that they fit the Uno."""

    rounds: int
    leaves: int
    depth: int  # instead of leaves, for XGBoost


SETS = {
    "letter26": Sizes(12, 12, 4),
    "har_hapt": Sizes(40, 14, 4),
    "usps10": Sizes(25, 14, 4),
    "breast_cancer": Sizes(50, 14, 4),
}


def _xgboost(sizes: Sizes) -> Any:
    return import_module("xgboost").XGBClassifier(
        n_estimators=sizes.rounds, max_depth=sizes.depth, n_jobs=1, random_state=0
    )


def _lightgbm(sizes: Sizes) -> Any:
    return import_module("lightgbm").LGBMClassifier(
        n_estimators=sizes.rounds,
        num_leaves=sizes.leaves,
        min_sum_hessian_in_leaf=1.0,  # with its 0.001, leaves have values in the thousands
        n_jobs=1,
        random_state=0,
        deterministic=True,
        verbose=-1,
    )


def _histogram(sizes: Sizes) -> Any:
    return HistGradientBoostingClassifier(
        max_iter=sizes.rounds, max_leaf_nodes=sizes.leaves, early_stopping=False, random_state=0
    )


TRAINERS: dict[str, Callable[[Sizes], Any]] = {
    "xgboost": _xgboost,
    "lightgbm": _lightgbm,
    "histogram": _histogram,
}
_ROWS = [f"{name}-{library}" for name in SETS for library in TRAINERS]
_NETWORKS = sorted(each.stem for each in FOLDER.glob("*.onnx"))
_MOST_LOST = 0.003

COLUMNS: Columns = [
    ("data, library", lambda r: r["row"]),
    ("trees, leaves", lambda r: f"{r['trees']:,}, {r['leaves']:,}" if "trees" in r else ""),
    ("library %", lambda r: f"{100 * r['library_accuracy']:.2f}"),
    ("Uno %", lambda r: f"{100 * r['accuracy']:.2f}"),
    ("equal %", lambda r: f"{100 * r['equal']:.2f}{'' if r['holds'] else ' SHORT'}"),
    ("points", lambda r: f"{r['n']:,}"),
    ("mismatches", lambda r: str(r["mismatches"] + r["lost"])),
    *TAKEN[:-1],
    ("cycles mean (max)", lambda r: f"{r['cycles']['mean']:,.0f} ({r['cycles']['max']:,})"),
]


def dataset_of(name: str) -> Dataset:
    """Return a data set of the folder of the data, or scikit-learn's breast cancer data."""
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
        parts = train_test_split(X.astype(np.float32), y, test_size=0.4, stratify=y, random_state=0)
        X_train, X_test, y_train, y_test = parts
        return Dataset(X_train, y_train, X_test, y_test, ("malignant", "benign"))
    path = DATA / f"{name}.npz"
    if not path.is_file():
        raise click.UsageError(f"no {path.name} in {DATA}; set PROTONN_EDGE_DATA")
    return load_dataset(path)


def imported(row: str) -> Record:
    """Train, convert and run the trees of a row."""
    name, library = row.split("-")
    data = dataset_of(name)
    X_train, X_test = np.asarray(data.X_train), np.asarray(data.X_test)
    trees = TRAINERS[library](SETS[name]).fit(X_train, data.y_train)
    answers = np.searchsorted(trees.classes_, trees.predict(X_test))
    found = from_sklearn(trees, X_train, evaluate_on=(X_test, data.y_test), classes=data.classes)
    whole = bool((np.rint(X_train) == X_train).all())
    return _measured(row, found, data, answers, _WHOLE if whole else _OTHER)


def imported_network(row: str, bits: int, fine_tune: bool) -> Record:
    """Convert and run the network of a row."""
    data = dataset_of(row.rpartition("-")[2])
    X_train, X_test = np.asarray(data.X_train[:MOST_TRAINED]), np.asarray(data.X_test)
    path = FOLDER / f"{row}.onnx"
    options: Any = {"evaluate_on": (X_test, data.y_test), "classes": data.classes, "bits": bits}
    y = data.y_train[:MOST_TRAINED]
    found = from_network(path, X_train, y, fine_tune=fine_tune, **options)
    if isinstance(found.source.rule, Int8Network):
        points = X_test.reshape(-1, *NETWORKS[row][2])
        answers = onnxruntime_scores(path, points).argmax(axis=1)
    else:
        answers = found.source.answers(X_test)
    record = _measured(row, found, data, answers, 0.0)
    lost = record["library_accuracy"] - record["accuracy"]
    return record | {
        "lost_share": lost,
        "holds": record["holds"] and (lost <= _MOST_LOST or bits < 8),
    }


def _measured(row: str, found: Conversion, data: Dataset, answers: Any, least: float) -> Record:
    """Run a model on all test points, beside the answers of its library."""
    ran = run_on_uno(found.model, data)
    equal = float(np.mean(ran.reference.predict(ran.Q) == answers))
    exact = ran.record["mismatches"] + ran.record["lost"] == 0
    return {
        "row": row,
        "library_accuracy": float(np.mean(answers == data.y_test)),
        "equal": equal,
        **{name: found.to_json()[name] for name in ("steps", "fine_tuning")},
        **{size.name: size.number for size in found.model.sizes},
        "holds": exact and equal >= least,
        **ran.record,
    }


@click.command()
@click.option("--only", type=click.Choice([*_ROWS, *_NETWORKS]), help="One row.")
@click.option("--bits", type=int, default=8, help="Of a weight of a network's convolutions.")
@click.option("--fine-tune", is_flag=True, help="Train networks in floats on labels.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, bits: int, fine_tune: bool, as_json: bool) -> None:
    """Print what importing trees and networks keeps."""
    short: list[str] = []

    def records() -> Any:
        rows = [*_ROWS, *_NETWORKS]
        if fine_tune or bits < 8:  # of networks in floats
            rows = [row for row in _NETWORKS if "onnxruntime" not in row]
        for row in [only] if only else (row for row in rows if bits == 8 or "cnn" in row):
            try:
                network = row in _NETWORKS
                record = imported_network(row, bits, fine_tune) if network else imported(row)
            except ModuleNotFoundError as error:
                raise click.UsageError(
                    f"{row} needs {error.name}; pip install {error.name}"
                ) from error
            short.extend([] if record["holds"] else [row])
            yield record

    print_table(records(), COLUMNS, as_json)
    sys.exit(bool(short))


if __name__ == "__main__":
    main()
