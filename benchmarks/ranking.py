"""The rows of `accuracy.py` on sets of labels: precision at 1, 3 and 5 of float models.

Settings were chosen on held-out parts of the training data, by means over two or three of them; the
test part is read at the end alone. A row may have a baseline: scikit-learn's logistic regression,
one label against the rest, its C chosen in the same way.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rows import LabelSetRow, over_seeds
from scipy.sparse import csc_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize

from protonn_edge.data.dataset import Dataset
from protonn_edge.data.splits import holdout
from protonn_edge.model.head import matrices_of, paper_bytes
from protonn_edge.policy.label_sets.figures import PLACES, precision_at

HEADING = (
    "| preset | paper's accounting kB | P@1 % | P@3 % | P@5 % | others | s |\n"
    "|---|---|---|---|---|---|---|"
)

_INVERSE_PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0)
_HELD_OUT = 0.2


@dataclass(frozen=True)
class RankingPreset(LabelSetRow):
    """A row, what others reach there, and whether logistic regression is one of them."""

    others: str = "-"
    logistic: bool = False


PRESETS = [
    RankingPreset(
        "delicious",
        "delicious.npz",
        {
            "n_projections": 60,
            "n_prototypes": 190,
            "normalization": "l2",
            "learning_rate": 0.03,
            "input_noise": 0.03,
            "epochs": 60,
        },
        "ProtoNN 925 kB: 68.92 / 63.04 / 58.32, FastXML 36.87 MB: 69.41 / 64.2 / 59.83",
    ),
    RankingPreset(
        "bibtex",
        "bibtex.npz",
        {
            "n_projections": 150,
            "n_prototypes": 480,
            "sparsity_projection": 0.25,
            "sparsity_labels": 0.25,
            "gamma_numerator": 1.0,
            "normalization": "l2",
            "learning_rate": 0.03,
            "input_noise": 0.03,
            "epochs": 60,
        },
        logistic=True,
    ),
]


def measure_ranking(
    preset: RankingPreset, dataset: Dataset, seeds: Sequence[int]
) -> dict[str, Any]:
    """Train a preset with each seed and return the means."""
    runs = [measure_once(preset, dataset, seed) for seed in seeds]
    record = {
        "name": preset.name,
        "others": preset.others,
        **{key: float(np.mean([run[key] for run in runs])) for key in runs[0]},
        **over_seeds([run["precision_at_1"] for run in runs]),
        "paper_bytes": int(max(run["paper_bytes"] for run in runs)),
    }
    if preset.logistic:
        baseline = measure_logistic(dataset)
        record |= {f"logistic_{key}": value for key, value in baseline.items()}
        figures = " / ".join(f"{100 * baseline[f'precision_at_{k}']:.2f}" for k in PLACES)
        record["others"] = f"logistic regression, C = {baseline['C']:g}: {figures}"
    return record


def measure_once(preset: RankingPreset, dataset: Dataset, seed: int) -> dict[str, float]:
    """Train a preset with one seed and return its figures."""
    model, seconds = preset.train(dataset, seed)
    found = precision_at(model.scores(dataset.X_test), dataset.y_test)
    return {
        **{f"precision_at_{k}": found[k] for k in PLACES},
        "paper_bytes": paper_bytes(matrices_of(model.head).values()),
        "seconds": seconds,
    }


def measure_logistic(dataset: Dataset) -> dict[str, float]:
    """Return the test figures of one-vs-rest logistic regression on points of unit norm."""
    begin = time.perf_counter()
    parts = [holdout(dataset, _HELD_OUT, seed) for seed in range(3)]
    reached = [
        np.mean([logistic_precision(part, C)[1] for part in parts]) for C in _INVERSE_PENALTIES
    ]
    C = _INVERSE_PENALTIES[int(np.argmax(reached))]
    figures = {f"precision_at_{k}": value for k, value in logistic_precision(dataset, C).items()}
    return {"C": C, **figures, "seconds": time.perf_counter() - begin}


def logistic_precision(dataset: Dataset, C: float) -> dict[int, float]:
    """Return precision at k of one-vs-rest logistic regression on points of unit norm."""
    classifier = OneVsRestClassifier(LogisticRegression(C=C, solver="liblinear"))
    labels = csc_matrix(dataset.y_train)
    seen = np.flatnonzero(np.diff(labels.indptr))  # a label that no point has cannot be learned
    classifier.fit(normalize(dataset.X_train), labels[:, seen].toarray())
    scores = np.zeros(dataset.y_test.shape)
    scores[:, seen] = classifier.predict_proba(normalize(dataset.X_test))
    return precision_at(scores, dataset.y_test)


def table_row(record: dict[str, Any]) -> str:
    """Return a row of the table under `HEADING`."""
    cells = [
        record["name"],
        f"{record['paper_bytes'] / 1000:.1f}",
        *(f"{100 * record[f'precision_at_{k}']:.2f}" for k in PLACES),
        record["others"],
        f"{record['seconds']:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"
