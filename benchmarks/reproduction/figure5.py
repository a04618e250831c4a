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
from printing import Columns, Record
from rows import SplitRow

from protonn_edge.data.dataset import Dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.objective import MATRICES
from reproduction.drawing import OTHERS, PROTONN, panels
from reproduction.part import Part, percent
from reproduction.sets import MNIST

SEED = 0
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

COLUMNS: Columns = [
    ("trained", lambda r: ", ".join(r["trained"])),
    *(
        (f"iteration {number}", lambda r, number=number: percent(r["accuracies"][number - 1]))
        for number in (1, 5, 10, 20, ITERATIONS)
    ),
]


def _rows(_: SplitRow, dataset: Dataset) -> Iterator[Record]:
    rows = np.random.default_rng(SEED).permutation(len(dataset.X_train))[:POINTS]
    for subset in SUBSETS:
        classifier = ProtoNNClassifier(trained=subset, **_SETTINGS)
        classifier.fit(
            dataset.X_train[rows],
            dataset.y_train[rows],
            evaluate_on=(dataset.X_test, dataset.y_test),
        )
        after = classifier.history_[len(subset) - 1 :: len(subset)]
        yield {"trained": subset, "accuracies": [each.test_accuracy for each in after]}


def _draw(records: Sequence[Record], path: Path) -> None:
    with panels(path, 1, 1, (5.5, 3.6)) as axes:
        axis = axes[0][0]
        for number, record in enumerate(records):
            whole = len(record["trained"]) == len(MATRICES)
            accuracies = [100 * each for each in record["accuracies"]]
            axis.plot(
                range(1, len(accuracies) + 1),
                accuracies,
                color=PROTONN if whole else OTHERS[(number - 1) % len(OTHERS)],
                linewidth=2.2 if whole else 1.3,
                label=" and ".join(record["trained"]),
            )
        axis.set_xlabel("iteration")
        axis.set_ylabel("test accuracy, %")
        axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


PART = Part(
    "accuracy by iteration, for each choice of what is trained", [MNIST], _rows, COLUMNS, _draw
)
