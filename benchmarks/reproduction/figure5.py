"""Figure 5: accuracy by iteration of the alternating optimizer, training some of W, B and Z.

The paper's settings: d = 10, m = 20, a tenth of W's weights, squared error, T iterations of 20
epochs for each matrix that is trained; a W that is not is cut to its share before the first. Its
start is LMNN; ours is neighbourhood components analysis, which has the same aim. To keep it to
minutes there are 10,000 training points and 30 iterations in place of 60,000 and 150. The test
points are read after every iteration, for that is what the figure shows: nothing was chosen by
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from columns import Column, Record, figure, percent
from drawing import OTHERS, PROTONN, by_step, panels
from runner import Benchmark
from trained import Row

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.research.kinds.paper.train.classifier import PaperProtoNNClassifier
from protonn_edge.learn.objective import MATRICES
from reproduction.sets import MNIST_HALVES, SEED

ITERATIONS = 30
POINTS = 10_000
_SETTINGS: dict[str, Any] = {
    "optimizer": "alternating",
    "loss": "squared_error",
    "n_projections": 10,
    "n_prototypes": 20,
    "sparsity_projection": 0.1,
    "gamma_numerator": 2.5,
    "init_projection": "nca",
    "iterations": ITERATIONS,
    "pass_epochs": 20,
    "random_state": SEED,
}
SUBSETS = [subset for size in (3, 2, 1) for subset in combinations(MATRICES, size)]


def measure(_: Row, dataset: Dataset) -> Iterator[Record]:
    """Yield the accuracies of each choice."""
    rows = np.random.default_rng(SEED).permutation(len(dataset.X_train))[:POINTS]
    for subset in SUBSETS:
        classifier = PaperProtoNNClassifier(trained=subset, **_SETTINGS)
        classifier.fit(
            dataset.X_train[rows],
            dataset.y_train[rows],
            evaluate_on=(dataset.X_test, dataset.y_test),
        )
        after = classifier.history_[len(subset) - 1 :: len(subset)]
        yield {"model": " and ".join(subset), "accuracies": [each.test_accuracy for each in after]}


def draw(records: Sequence[Record], folder: Path) -> None:
    """Draw the accuracy by iteration."""
    with panels(folder / "paper-figure5.svg", 1, 1, (5.5, 3.6)) as axes:
        by_step(axes[0][0], records, (PROTONN, *OTHERS), "iteration")
        axes[0][0].set_ylabel("test accuracy, %")


def _after(n: int) -> Column:
    return Column(f"iteration {n}", lambda record: record["accuracies"][n - 1], percent)


BENCHMARKS = {
    "figure5": Benchmark(
        "Accuracy by iteration, for each choice of what is trained.",
        [MNIST_HALVES],
        (
            figure("trained", "model"),
            *map(_after, (1, 5, 10, 20, ITERATIONS)),
        ),
        measure,
        draw,
    ),
}
