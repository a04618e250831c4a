"""Which kind of model `train --classifier best` takes, beside scikit-learn's models of any size.

A row has the best kind and its accuracy in cross-validation on the training part, what every other
kind lacks to it, the accuracy of its integers on the test part, which is read once, its time by the
plan and the flash of the linked firmware; beside it RandomForestClassifier with 500 trees and SVC
with C = 10, both on standardized features and without any limit of memory. How many models are
tried in the time depends on the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from columns import Column, Record, figure, percent
from runner import Benchmark, Case
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from trained import DATA

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.data.reading import load_dataset

_PROGRAM = (sys.executable, "-c", "from protonn_edge.cli import main; main()")
_TREES, _PENALTY, _TEST_SHARE = 500, 10.0, 0.3


def _digits() -> Any:
    """Return scikit-learn's digits, with the test part that this package gives them."""
    digits = load_digits_dataset()
    return digits.X_train, digits.X_test, digits.y_train, digits.y_test


def _parts(load: Callable[..., Any]) -> Any:
    X, y = load(return_X_y=True)
    return train_test_split(X, y, test_size=_TEST_SHARE, random_state=0, stratify=y)


def _case(name: str, *options: str, parts: Callable[[], Any] | None = None) -> Case:
    return Case(name, (options, parts), "" if parts else f"{name}.npz")


CASES = (
    _case("digits", "--image-shape", "8x8", parts=_digits),
    _case("wine", parts=lambda: _parts(load_wine)),
    _case("breast_cancer", parts=lambda: _parts(load_breast_cancer)),
    *map(_case, ("wifi_rooms", "occupancy", "gunpoint", "ecg5000", "letter26")),
    _case("usps10", "--image-shape", "16x16"),
    _case("har_hapt", "--groups", "subject_train"),
    # of other people and days than the training points
    _case("watch_exercise", "--groups", "subject_train"),
    _case("gesturepod_blocks"),
)


def measure(case: Case, minutes: float) -> Record:
    """Return the figures of the best kind, and of models without limits."""
    options, parts = case.given
    with tempfile.TemporaryDirectory(prefix="protonn-edge-which-") as scratch:
        folder = Path(scratch)
        path = DATA / case.file
        if parts is not None:
            path = folder / "data.npz"
            X, X_test, y, y_test = parts()
            images = {"X_train": X.astype(np.float32), "X_test": X_test.astype(np.float32)}
            np.savez(path, y_train=y, y_test=y_test, **images)
        words = ("train", path, "-o", folder / "model.npz", "--classifier", "best", *options)
        command = [*_PROGRAM, *words, "--minutes", minutes, "--seed", 0, "--json"]
        done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE)
        dataset = load_dataset(path)
    told = json.loads(done.stdout)
    chosen = told["cross_validated"]
    forest = RandomForestClassifier(_TREES, random_state=0, n_jobs=2)
    return {
        "name": case.name,
        "sizes": f"{len(dataset.y_train):,}, {dataset.n_features}, {dataset.n_classes}",
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


BENCHMARKS = {
    "which_model": Benchmark(
        "The best kind of model for each data set, and what models without limits reach.",
        CASES,
        (
            *(figure("data", "name"), figure("points, features, classes", "sizes")),
            *(figure("models", "models"), figure("best kind", "kind")),
            *(figure("folds %", "score", percent), figure("deviation", "deviation", percent)),
            *(Column("other kinds, points", _others), figure("test %", "accuracy", percent)),
            *(figure("ms", "ms", ".2f"), figure("flash B", "flash_bytes", ",")),
            *(figure("forest %", "forest", percent), figure("SVM %", "svm", percent)),
        ),
        measure,
        options=(click.option("--minutes", default=5.0, show_default=True, help="Of a search."),),
    ),
}
