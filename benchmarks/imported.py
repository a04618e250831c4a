"""Run trees and networks of other libraries on the emulated Uno, and count the equal answers.

A row is a data set and a library: XGBoost, LightGBM or scikit-learn's histogram boosting trains on
the training points, and all test points run on the emulated Uno. `equal` is the share of the
library's own answers that the Uno gives. Other rows are networks that PyTorch or Keras trained and
exported to ONNX (benchmarks/framework_networks.py).
With fewer bits, weights of convolutions are coarser: only rows of networks with convolutions.
With --fine-tune, networks in floats are trained on the labels of their training points, too.
Trainings with 2-bit weights differ by seed, and by the last bit of a sum: --seed shows how much.
Needs: pip install xgboost lightgbm onnx onnxruntime. A row is SHORT if too few answers are equal,
if a network of 8 bits loses more than 0.3 points of accuracy, or if the Uno and NumPy differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click
import numpy as np
from columns import Record, figure, named, percent
from emulated import MEASURED, run_on_uno
from framework_networks import FOLDER, MOST_TRAINED
from runner import Benchmark, Case
from sklearn.ensemble import HistGradientBoostingClassifier
from trained import DATA

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.reading import load_dataset
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.from_network import from_network
from protonn_edge.extensions.conversion.kept import Conversion

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
_TREES = ("letter26-xgboost", "har_hapt-lightgbm", "usps10-histogram")
_NETWORKS = (
    *("pytorch-mlp-har_hapt", "pytorch-cnn-usps10", "pytorch-cnn-mnist10"),
    "keras-cnn-usps10",
)
_MOST_LOST = 0.003


def _data(name: str) -> Dataset:
    return load_dataset(DATA / f"{name}.npz")


def imported(row: str) -> Record:
    """Train, convert and run the trees of a row."""
    name, library = row.split("-")
    data = _data(name)
    X_train, X_test = np.asarray(data.X_train), np.asarray(data.X_test)
    trees = TRAINERS[library](SETS[name]).fit(X_train, data.y_train)
    answers = np.searchsorted(trees.classes_, trees.predict(X_test))
    found = from_sklearn(trees, X_train, evaluate_on=(X_test, data.y_test), classes=data.classes)
    whole = bool((np.rint(X_train) == X_train).all())
    return _measured(row, found, data, answers, _WHOLE if whole else _OTHER)


def imported_network(row: str, bits: int, fine_tune: bool, seed: int) -> Record:
    """Convert and run the network of a row."""
    data = _data(row.rpartition("-")[2])
    X_train, X_test = np.asarray(data.X_train[:MOST_TRAINED]), np.asarray(data.X_test)
    path = FOLDER / f"{row}.onnx"
    options: Any = {"evaluate_on": (X_test, data.y_test), "classes": data.classes, "bits": bits}
    options |= {"random_state": seed, "fine_tune": fine_tune}
    y = data.y_train[:MOST_TRAINED]
    found = from_network(path, X_train, y, **options)
    record = _measured(row, found, data, found.source.answers(X_test), 0.0)
    lost = record["library_accuracy"] - record["accuracy"]
    return record | {
        "lost_share": lost,
        "holds": record["holds"] and (lost <= _MOST_LOST or bits < 8),
    }


def _measured(row: str, found: Conversion, data: Dataset, answers: Any, least: float) -> Record:
    """Run a model on all test points, beside the answers of its library."""
    ran = run_on_uno(found.model, data)
    equal = float(np.mean(ran.reference.predict(ran.Q) == answers))
    exact = ran.record["mismatches"] == 0
    return {
        "row": row,
        "library_accuracy": float(np.mean(answers == data.y_test)),
        "equal": equal,
        **{name: found.to_json()[name] for name in ("steps", "fine_tuning")},
        **{size.name: size.number for size in found.model.sizes},
        "holds": exact and equal >= least,
        **ran.record,
    }


def measure(case: Case, bits: int, fine_tune: bool, seed: int) -> Record:
    """Return what importing trees or a network keeps."""
    try:
        if case.given == "network":
            return imported_network(case.name, bits, fine_tune, seed)
        return imported(case.name)
    except ModuleNotFoundError as error:
        raise click.UsageError(f"{case.name}: pip install {error.name}") from error


CASES = (
    *(Case(name, "trees", f"{name.partition('-')[0]}.npz") for name in _TREES),
    *(Case(name, "network", f"{name.rpartition('-')[2]}.npz") for name in _NETWORKS),
)
BENCHMARKS = {
    "imported": Benchmark(
        "What importing trees and networks of other libraries keeps.",
        CASES,
        (
            *named("row", "trees", "leaves"),
            figure("library %", "library_accuracy", percent),
            figure("Uno %", "accuracy", percent),
            figure("equal %", "equal", percent),
            *MEASURED,
        ),
        measure,
        options=(
            click.option("--bits", type=int, default=8, help="Of a weight of convolutions."),
            click.option("--fine-tune", is_flag=True, help="Train networks in floats on labels."),
            click.option("--seed", type=int, default=0, help="Of the training of a network."),
        ),
    ),
}
