"""Figure 2: many classes, and sets of labels.

aloi cannot be had here. In its place is a mixture of 1,000 classes in 128 dimensions, each of three
Gaussians of its own, 40 training and 10 test points a class. Sizes and the rest are as in the
paper: d = 30, 1.5 and 5 prototypes a class, few labels a prototype, dense W and B. Beside it are
one-against-all logistic regression and the nearest neighbour. Of the sets of labels, delicious is
at hand; bibtex is another one of that kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import ranking
from printing import Columns, Record
from rows import chosen
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from protonn_edge.evaluation.accuracy import share_right
from protonn_edge.training import ProtoNNClassifier
from reproduction.part import Part, percent

SEED = 0
CLASSES, FEATURES, PARTS = 1_000, 128, 3
_POINTS = {"train": 40, "test": 10}
_SPREAD, _BETWEEN_PARTS = 1.0, 0.9

COLUMNS: Columns = [
    ("data", lambda r: r["data"]),
    ("method", lambda r: r["method"]),
    ("accuracy or precision at 1, 3, 5 %", lambda r: " / ".join(map(percent, r["accuracies"]))),
    ("MB", lambda r: "-" if r["bytes"] is None else f"{r['bytes'] / 1e6:.3f}"),
    ("the paper's", lambda r: r["paper"]),
]


def mixture() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return points and classes of the training and of the test part."""
    rng = np.random.default_rng(SEED)
    centres = 0.45 * rng.standard_normal((CLASSES, 1, FEATURES))
    centres = centres + _BETWEEN_PARTS * 0.5 * rng.standard_normal((CLASSES, PARTS, FEATURES))
    found = {}
    for part, count in _POINTS.items():
        y = np.repeat(np.arange(CLASSES), count)
        chosen_part = rng.integers(PARTS, size=len(y))
        X = centres[y, chosen_part] + _SPREAD * rng.standard_normal((len(y), FEATURES))
        found[part] = X.astype(np.float32), y
    return found


def _rows() -> Iterator[Record]:
    data = mixture()
    for m, paper in ((1_500, "aloi: 89.6, 0.315 MB"), (5_000, "aloi: 94.05, 0.815 MB")):
        classifier = ProtoNNClassifier(
            n_projections=30,
            n_prototypes=m,
            sparsity_labels=5 / CLASSES,
            epochs=30,
            quantization_aware=False,
            random_state=SEED,
        )
        model = classifier.fit(*data["train"]).model_
        accuracy = share_right(model.predict(data["test"][0]), data["test"][1])
        yield _row("1,000 classes", f"ProtoNN, m = {m:,}", [accuracy], model.paper_bytes, paper)
    yield from _beside(data)
    for preset, dataset in chosen(ranking.PRESETS, None):
        record = ranking.measure_ranking(preset, dataset)
        precisions = [record[f"precision_at_{k}"] for k in (1, 3, 5)]
        yield _row(preset.name, "ProtoNN", precisions, int(record["paper_bytes"]), preset.others)


def _beside(data: dict[str, tuple[np.ndarray, np.ndarray]]) -> Iterator[Record]:
    logistic = LogisticRegression(C=0.01, max_iter=100).fit(*data["train"])
    accuracy = float(logistic.score(*data["test"]))
    size = 4 * (logistic.coef_.size + logistic.intercept_.size)
    yield _row("1,000 classes", "logistic regression", [accuracy], size, "aloi: 86.96, 0.512 MB")
    neighbour = KNeighborsClassifier(1).fit(*data["train"])
    accuracy = float(neighbour.score(*data["test"]))
    yield _row("1,000 classes", "1-NN", [accuracy], 4 * data["train"][0].size, "-")


def _row(data: str, method: str, accuracies: list[float], size: int | None, paper: str) -> Any:
    return {
        "data": data,
        "method": method,
        "accuracies": accuracies,
        "bytes": size,
        "paper": paper,
    }


PART = Part("many classes, and sets of labels", _rows, COLUMNS)
