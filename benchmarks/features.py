"""Compare features of images at the same size: pixels, averages of areas, gradients.

    python benchmarks/features.py [--only NAME] [--seeds N] [--json]

prints one row a kind of features and size: the accuracy in integers, mean and standard deviation
over five seeds (`--seeds`), and, of the first seed, the plan's cycles on an Uno and the firmware's
flash. Rows of `digits` are tested on the test points that scikit-learn's digits are parted into;
those of `mnist` are trained on 10,000 training points of MNIST and tested on 5,000 others, so that
its test points stay unread.
Nothing is chosen: sizes follow from ``budget``, all else is as it is by default, but for 30 epochs
and the middle 24x24 pixels of MNIST.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import rounding  # noqa: F401 - before NumPy
import numpy as np
from on_uno import run_on_uno
from printing import Columns, accuracy_cell
from rows import Row, integer_accuracy, over_seeds, table_command

from protonn_edge.data.dataset import Dataset
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

_TRAINED, _TESTED = 10_000, 5_000


@dataclass(frozen=True)
class Case(Row):
    """A row; with `shortened`, both its parts are some of the training points."""

    shortened: bool = False

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


CASES = [
    *_digits("pixels"),
    *_digits("averages-4x4", features="pool:4x4"),
    *_digits("gradients-3x3", features="gradients:3x3"),
    *_digits("gradients-4x4", features="gradients:4x4"),
    *_digits("gradients-4x4-4", features="gradients:4x4/4"),
    *_mnist("averages-9x9", features="crop:24x24,pool:9x9"),
    *_mnist("gradients-4x4-4", features="crop:24x24,gradients:4x4/4"),
    *_mnist("gradients-4x4", features="crop:24x24,gradients:4x4"),
    *_mnist("gradients-5x5", features="crop:24x24,gradients:5x5"),
]
COLUMNS: Columns = [
    ("features and budget", lambda r: r["name"]),
    ("D", lambda r: str(r["inputs"])),
    ("int8 B", lambda r: f"{r['model_bytes']:,}"),
    ("integers %", accuracy_cell),
    ("mean cycles", lambda r: f"{r['cycles']:,.0f}"),
    ("flash B", lambda r: f"{r['flash']:,}"),
]


def measure_case(case: Case, dataset: Dataset, seeds: Sequence[int]) -> dict[str, Any]:
    """Train a row with each seed, and build the first."""
    models = [case.train(dataset, seed)[0] for seed in seeds]
    return {
        "name": case.name,
        "inputs": models[0].n_inputs,
        "model_bytes": quantize(models[0]).model_bytes,
        **over_seeds([integer_accuracy(model, dataset) for model in models]),
        **_built(models[0], dataset),
    }


def _built(model: Model, dataset: Dataset) -> dict[str, float]:
    record = run_on_uno(model, dataset).record
    return {"cycles": record["cycles"]["mean"], "flash": record["flash_bytes"]}


SENTENCE = "Print what features of images are worth at the same size."
main = table_command(CASES, COLUMNS, measure_case, SENTENCE)

if __name__ == "__main__":
    main()
