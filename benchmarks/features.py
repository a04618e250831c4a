"""Compare features: of images, at the same size, and of windows, with those that are found.

    python benchmarks/features.py [--only NAME] [--seeds N] [--json]

prints one row a kind of features and size: the accuracy in integers, mean and standard deviation
over five seeds (`--seeds`), and, of the first seed, the plan's cycles on an Uno and the firmware's
flash. Rows of `digits` are tested on the test points that scikit-learn's digits are parted into;
those of `mnist` are trained on 10,000 training points of MNIST and tested on 5,000 others, so that
its test points stay unread.
Nothing is chosen: sizes follow from ``budget``, all else is as it is by default, but for 30 epochs
and the middle 24x24 pixels of MNIST.

Rows of windows have 60 % of all windows for training and 40 % for testing, divided at random by
each seed: ``auto`` finds its features by the windows for training, ``usual`` is the list that it
takes where it cannot compare, ``default`` that of `WindowFeatures`, and ``samples`` are raw. The
windows of ``vibration`` are generated: four frequencies at any phase, level and loudness. Seconds
are those of one processor for training, features and their choice included.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import rounding  # noqa: F401 - before NumPy
import numpy as np
from on_uno import run_on_uno
from printing import Columns, accuracy_cell
from rows import Row, integer_accuracy, over_seeds, table_command
from sklearn.model_selection import train_test_split

from protonn_edge.data.dataset import Dataset
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

_TRAINED, _TESTED = 10_000, 5_000


@dataclass(frozen=True)
class Case(Row):
    """A row; with `shortened`, both its parts are some of the training points."""

    shortened: bool = False

    def divided(self, dataset: Dataset, seed: int) -> Dataset:  # noqa: ARG002
        """Return the data set of a seed."""
        return dataset

    def dataset(self) -> Dataset | None:
        """Return the data set, or None where this machine does not have it."""
        found = super().dataset()
        if found is None or not self.shortened:
            return found
        order = np.random.default_rng(0).permutation(len(found.y_train))
        trained, tested = order[:_TRAINED], order[_TRAINED : _TRAINED + _TESTED]
        X, y = found.X_train, found.y_train
        return replace(
            found, X_train=X[trained], y_train=y[trained], X_test=X[tested], y_test=y[tested]
        )


@dataclass(frozen=True)
class Windows(Case):
    """A row of windows; they are generated if there is no file."""

    def dataset(self) -> Dataset | None:
        """Return the data set, or None where this machine does not have it."""
        return _vibration() if self.file is None else super().dataset()

    def divided(self, dataset: Dataset, seed: int) -> Dataset:
        """Return the data set with 40 % of all of its windows for testing."""
        X = np.concatenate([dataset.X_train, dataset.X_test])
        y = np.concatenate([dataset.y_train, dataset.y_test])
        some = np.random.default_rng(0).permutation(len(y))[:_WINDOWS]
        X, y = X[some], y[some]
        parts = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=y)
        names = ("X_train", "X_test", "y_train", "y_test")
        return replace(dataset, **dict(zip(names, parts, strict=True)))


_WINDOWS = 2_500


def _vibration() -> Dataset:
    """Return 600 windows, 128 x 3, of four frequencies."""
    rng = np.random.default_rng(5)
    y, t = rng.integers(0, 4, 600), np.arange(128)[:, None]
    frequency = np.array([0.03, 0.08, 0.2, 0.35])[y] * np.exp(rng.normal(0, 0.25, 600))
    loud = 30 * np.exp(rng.normal(0, 0.5, (600, 1, 1))) * rng.uniform(0.3, 1, (600, 1, 3))
    phase, level = rng.uniform(0, 6.3, (600, 1, 3)), rng.normal(0, 40, (600, 1, 3))
    X = level + loud * np.sin(2 * np.pi * frequency[:, None, None] * t + phase)
    windows = np.asarray(X + rng.normal(0, 12, X.shape), np.float32).reshape(600, -1)
    classes = tuple("abcd")
    return Dataset(X_train=windows, y_train=y, X_test=windows[:0], y_test=y[:0], classes=classes)


_DIGITS = {"image_shape": (8, 8)}
_MNIST = {"image_shape": (28, 28), "epochs": 30}


def _digits(name: str, **settings: Any) -> list[Case]:
    return [
        Case(f"digits-{name}-{budget}", None, {**_DIGITS, **settings, "budget": budget})
        for budget in (1000, 2000)
    ]


def _mnist(name: str, **settings: Any) -> list[Case]:
    return [
        Case(
            f"mnist-{name}-{budget}",
            "mnist10.npz",
            {**_MNIST, **settings, "budget": budget},
            shortened=True,
        )
        for budget in (2000, 5200)
    ]


_LISTS = {
    "auto": "auto",
    "usual": "mean,deviation,min,max,change,crossings,bands:6",
    "default": "mean,deviation,min,max,crossings",
    "samples": "samples",
}


def _windows(name: str, file: str | None, shape: tuple[int, int]) -> list[Windows]:
    return [
        Windows(f"{name}-{each}", file, {"features": text, "window_shape": shape})
        for each, text in _LISTS.items()
    ]


CASES: list[Case] = [
    *_digits("pixels"),
    *_digits("averages-4x4", features="pool:4x4"),
    *_digits("gradients-3x3", features="gradients:3x3"),
    *_digits("gradients-4x4", features="gradients:4x4"),
    *_digits("gradients-4x4-4", features="gradients:4x4/4"),
    *_mnist("averages-9x9", features="crop:24x24,pool:9x9"),
    *_mnist("gradients-4x4-4", features="crop:24x24,gradients:4x4/4"),
    *_mnist("gradients-4x4", features="crop:24x24,gradients:4x4"),
    *_mnist("gradients-5x5", features="crop:24x24,gradients:5x5"),
    *_windows("magic_wand", "magic_wand.npz", (119, 6)),
    *_windows("gunpoint", "gunpoint.npz", (150, 1)),
    *_windows("ecg5000", "ecg5000.npz", (140, 1)),
    *_windows("vibration", None, (128, 3)),
]
COLUMNS: Columns = [
    ("features and budget", lambda r: r["name"]),
    ("D", lambda r: str(r["inputs"])),
    ("int8 B", lambda r: f"{r['model_bytes']:,}"),
    ("integers %", accuracy_cell),
    ("mean cycles", lambda r: f"{r['cycles']:,.0f}"),
    ("flash B", lambda r: f"{r['flash']:,}"),
    ("training s", lambda r: f"{r['seconds']:.2f}"),
]


def measure_case(case: Case, dataset: Dataset, seeds: Sequence[int]) -> dict[str, Any]:
    """Train a row with each seed, and build the first."""
    begin = time.process_time()
    parts = [case.divided(dataset, seed) for seed in seeds]
    models = [case.train(part, seed)[0] for part, seed in zip(parts, seeds, strict=True)]
    seconds = (time.process_time() - begin) / len(models)
    each = zip(models, parts, strict=True)
    return {
        "name": case.name,
        "inputs": models[0].n_inputs,
        "model_bytes": quantize(models[0]).model_bytes,
        **over_seeds([integer_accuracy(model, part) for model, part in each]),
        **_built(models[0], parts[0]),
        "seconds": seconds,
    }


def _built(model: Model, dataset: Dataset) -> dict[str, float]:
    record = run_on_uno(model, dataset).record
    return {"cycles": record["cycles"]["mean"], "flash": record["flash_bytes"]}


SENTENCE = "Print what features of images are worth at the same size."
main = table_command(CASES, COLUMNS, measure_case, SENTENCE)

if __name__ == "__main__":
    main()
