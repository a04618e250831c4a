"""Compare pruned networks with scikit-learn's unpruned ones, and measure them on an Arduino Uno.

    python benchmarks/dense.py [--only NAME] [--seeds N] [--json]

prints one row a model: the accuracy of scikit-learn's `MLPClassifier` with the same hidden layers
on the same normalized points, which has all of its weights; that of our floats, and that of the
integers on the emulated Uno, mean and standard deviation over five seeds (`--seeds`), while all
else is of seed 0; the test points on which host C or the emulated Uno differ from the NumPy model
(none may); the bytes of the weights, and the plan.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import rounding  # noqa: F401 - before NumPy
import numpy as np
from on_uno import ACCURACY_COLUMN, BYTES_COLUMN, CHECKED, CYCLES, TAKEN, run_on_uno
from printing import Columns
from rows import SplitRow, integer_accuracy, over_seeds, table_command
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from protonn_edge.data.dataset import Dataset
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.head import matrices_of
from protonn_edge.model.model import Model

# Chosen on points held out of the training parts alone: mnist2 a fourth of its points, har in 2 of
# 3 folds of its people, the others in 2 of 3 folds. Of learning rates of 0.01 and 0.03 (har: 0.003
# and 0.01), noise of 0 to 0.2 (har: to 0.5), and, but for mnist2 and usps2, two to four choices of
# layers, the most accurate one.
_PIXELS = {"learning_rate": 0.03, "input_noise": 0.1}
_AVERAGES = {"image_shape": (28, 28), "features": "deskew,pool:14x14"}
_LETTERS = {"learning_rate": 0.03, "input_noise": 0.05, "epochs": 100}
_HAR = {"learning_rate": 0.01, "input_noise": 0.5, "epochs": 40}
_HAR2 = {**_HAR, "hidden": "10", "learning_rate": 0.003, "input_noise": 0.3, "clip": 0.05}
CASES = [
    SplitRow("mnist2", "mnist10.npz", {**_PIXELS, "epochs": 60}, split=5),
    SplitRow(
        "mnist2 averages",
        "mnist10.npz",
        {**_PIXELS, **_AVERAGES, "learning_rate": 0.02, "input_noise": 0.05, "epochs": 60},
        split=5,
    ),
    SplitRow("usps2", "usps10_libsvm.npz", {**_PIXELS, "input_noise": 0.2, "epochs": 100}, split=5),
    SplitRow(
        "usps10",
        "usps10_libsvm.npz",
        {**_PIXELS, "hidden": "40", "input_noise": 0.2, "epochs": 100},
    ),
    SplitRow("letter2", "letter26.npz", {**_LETTERS, "hidden": "100"}, split=13),
    SplitRow("letter2 two layers", "letter26.npz", {**_LETTERS, "hidden": "60,15"}, split=13),
    SplitRow("har", "har_hapt.npz", _HAR),
    SplitRow("har2", "har_hapt.npz", _HAR2, split=3),
]
COLUMNS: Columns = [
    ("model", lambda r: r["name"]),
    ("D, hidden, L", lambda r: f"{r['inputs']}, {r['hidden']}, {r['classes']}"),
    ("weights", lambda r: f"{r['nonzero']:,} of {r['weights']:,}"),
    BYTES_COLUMN,
    ("scikit-learn %", lambda r: f"{100 * r['sklearn_accuracy']:.2f}"),
    ("floats %", lambda r: f"{100 * r['float_accuracy']:.2f}"),
    ACCURACY_COLUMN,
    *CHECKED,
    ("plan", lambda r: r["plan"]["kernel"]),
    *CYCLES,
    *TAKEN,
]


def measure_case(case: SplitRow, dataset: Dataset, seeds: Sequence[int]) -> dict[str, Any]:
    """Train a model with each seed, build the first, and run all test points."""
    begin = time.perf_counter()
    models = [_trained(case, dataset, seed) for seed in seeds]
    seconds = (time.perf_counter() - begin) / len(models)
    model = models[0]
    return {
        "name": case.name,
        "sklearn_accuracy": _sklearn_accuracy(model, dataset),
        "float_accuracy": share_right(model.predict(dataset.X_test), dataset.y_test),
        "seconds": seconds,
        **_run(model, dataset),
        **over_seeds([integer_accuracy(each, dataset) for each in models]),
    }


def _trained(case: SplitRow, dataset: Dataset, seed: int) -> Model:
    classifier = DenseClassifier(random_state=seed, **{"size_budget": 2_000, **case.settings})
    model: Model = classifier.fit(dataset.X_train, dataset.y_train).to_model(
        classes=dataset.classes
    )
    return model


def _sklearn_accuracy(model: Model, dataset: Dataset) -> float:
    """Return the accuracy of scikit-learn's own on the test points."""
    own = MLPClassifier([size.number for size in model.sizes], random_state=0)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        own.fit(model.normalized(dataset.X_train).astype(np.float32), dataset.y_train)
    return float(own.score(model.normalized(dataset.X_test).astype(np.float32), dataset.y_test))


def _run(model: Model, dataset: Dataset) -> dict[str, Any]:
    """Build the model and run all test points."""
    weights = [W for name, W in matrices_of(model.head).items() if name.startswith("W")]
    return run_on_uno(model, dataset).record | {
        "hidden": ", ".join(str(size.number) for size in model.sizes),
        "weights": sum(W.size for W in weights),
        "nonzero": sum(int(np.count_nonzero(W)) for W in weights),
    }


SENTENCE = "Print pruned networks beside scikit-learn's unpruned ones."
main = table_command(CASES, COLUMNS, measure_case, SENTENCE)

if __name__ == "__main__":
    main()
