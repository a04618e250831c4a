"""Compare forests, linear models and ProtoNN on tables, with equal bytes of parameters, on the Uno.

    python benchmarks/families.py [--only NAME] [--json]

prints one row a data set, number of bytes and kind of classifier: the settings, chosen by three
folds of the training part alone, of har by folds of its people; the accuracy of the integers on
the emulated Uno; the test points on which host C or the Uno differ from the NumPy model (none may);
the bytes of the parameters, the cycles of a prediction, and the flash of the whole firmware.

A linear classifier has a number for each feature and class, and takes what these take. The data is
read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from forest import SEED
from on_uno import ACCURACY_COLUMN, CHECKED, CYCLES_COLUMN, FLASH_COLUMN, run_on_uno
from printing import Columns, print_table
from rows import Row, chosen

from protonn_edge.data.dataset import Dataset
from protonn_edge.learn.base import CLASSIFIERS, DeviceClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.learn.folds import fold_numbers
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError, ProtoNNEdgeError

FOLDS = 3

CASES = [
    Row("occupancy", "occupancy.npz", {"bytes": 500}),
    Row("wifi_rooms", "wifi_rooms.npz", {"bytes": 1_000}),
    Row("har", "har_hapt.npz", {"bytes": 2_000}, groups="subject_train"),
]
COLUMNS: Columns = [
    ("data", lambda r: r["name"]),
    ("classifier", lambda r: r["classifier"]),
    ("settings", lambda r: ", ".join(f"{key} {value}" for key, value in r["settings"].items())),
    ("folds %", lambda r: f"{100 * r['cross_validated']:.2f}"),
    ACCURACY_COLUMN,
    *CHECKED,
    ("parameters B", lambda r: f"{r['model_bytes']:,}"),
    CYCLES_COLUMN,
    FLASH_COLUMN,
]


def tried(kind: str, size: int) -> Iterator[dict[str, Any]]:
    """Yield settings of a kind of classifier within `size` bytes."""
    if kind == "forest":
        for ensemble, trees in (("random", 5), ("random", 10), ("random", 20), ("extra", 10)):
            yield {"ensemble": ensemble, "n_trees": trees, "size_budget": size}
        for shrinkage in (0.1, 0.3):
            boosting = {"ensemble": "boosting", "n_trees": 30, "shrinkage": shrinkage}
            yield {**boosting, "size_budget": size}
    elif kind == "protonn":
        for clip in (0.0, 0.02):
            yield {"budget": size, "clip": clip}
    else:
        for regularization in (1e-4, 1e-3, 3e-3):
            for clip in (0.0, 0.05):
                yield {"regularization": regularization, "clip": clip}


def cross_validated(classifier: DeviceClassifier, dataset: Dataset) -> float:
    """Return the accuracy of the integers in folds of the training part; 0 where there are none."""
    X, y, groups = np.asarray(dataset.X_train), dataset.y_train, dataset.groups
    folds = fold_numbers(y, FOLDS, SEED, groups)
    shares = []
    for fold in range(FOLDS):
        trained, tested = folds != fold, folds == fold
        try:
            integers = quantize(classifier.fit(X[trained], y[trained]).model_)
        except InputError:
            return 0.0
        found = classifier.classes_[integers.predict(integers.quantize(X[tested]))]
        shares.append(share_right(found, y[tested]))
    return float(np.mean(shares))


def measure_case(case: Row, dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Choose settings of each kind, build its model, and run all test points."""
    size = case.settings["bytes"]
    for kind in ("forest", "linear", "protonn"):
        make = CLASSIFIERS[kind]
        found = [
            (cross_validated(make(random_state=SEED, **settings), dataset), settings)
            for settings in tried(kind, size)
        ]
        share, settings = max(found, key=lambda each: each[0])
        classifier = make(random_state=SEED, **settings).fit(dataset.X_train, dataset.y_train)
        yield {
            "name": case.name,
            "classifier": kind,
            "settings": settings,
            "cross_validated": share,
            **run_on_uno(classifier.to_model(classes=dataset.classes), dataset).record,
        }


@click.command()
@click.option("--only", type=click.Choice([case.name for case in CASES]), help="One data set.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, as_json: bool) -> None:
    """Print forests beside other kinds of classifiers."""
    warnings.simplefilter("ignore")
    cases = chosen(CASES, only)
    records = (each for case, dataset in cases for each in measure_case(case, dataset))
    print_table(records, COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
