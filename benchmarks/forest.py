"""Compare forests with scikit-learn's, and measure them on an Arduino Uno.

    python benchmarks/forest.py [--only NAME] [--seeds N] [--json]

prints one row a model: the accuracy of scikit-learn's forest of the same settings on the features
themselves, neither cut to a budget nor voting, and that of the integers on the emulated Uno, mean
and standard deviation over five seeds (`--seeds`), while all else is of seed 0; the test points on
which host C or the emulated Uno differ from the NumPy model (none may); trees and leaves, the bytes
of their table, and the plan with its mean and its bound.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import rounding  # noqa: F401 - before NumPy
from on_uno import ACCURACY_COLUMN, CHECKED, CYCLES, FLASH_COLUMN, SECONDS_COLUMN, run_on_uno
from printing import Columns
from rows import Row, integer_accuracy, over_seeds, table_command
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import ExtraTreeClassifier

from protonn_edge.data.dataset import Dataset
from protonn_edge.kinds.forest.train import ForestClassifier, new_ensemble
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model

SEED = 0
_LEAF_POINTS = 3  # whole trees make no mistakes to mend
ADABOOST = {"ensemble": "adaboost"}

# Chosen on points held out of the training parts alone: har in 3 folds of its people, the others in
# 2 of 3 folds. Of random forests and extra trees of 5, 10, 20 and 50 trees, votes and shares, and
# of 50 rounds of boosting of depth 3 and 5, at 8,000 and 24,000 B, the most accurate one; of har
# the best of boosting, too. AdaBoost at half of these bytes or less, of 15 to 100 trees, with and
# without shared tests; of letters also at the same bytes.
CASES = [
    Row("har", "har_hapt.npz", {"ensemble": "extra", "n_trees": 50, "size_budget": 24_000}),
    Row(
        "har boosting",
        "har_hapt.npz",
        {"ensemble": "boosting", "n_trees": 50, "shrinkage": 0.3, "size_budget": 8_000},
    ),
    Row("har adaboost", "har_hapt.npz", ADABOOST | {"n_trees": 50, "size_budget": 4_000}),
    Row("letter26", "letter26.npz", {"n_trees": 10, "size_budget": 24_000}),
    Row("letter26 adaboost", "letter26.npz", ADABOOST | {"n_trees": 20, "size_budget": 24_000}),
    Row(
        "letter26 packed",
        "letter26.npz",
        ADABOOST | {"n_trees": 30, "size_budget": 24_000, "tests": 230},
    ),
    Row(
        "letter26 small",
        "letter26.npz",
        ADABOOST | {"n_trees": 20, "size_budget": 12_000, "tests": 230},
    ),
    Row("usps10", "usps10_libsvm.npz", {"n_trees": 20, "size_budget": 24_000}),
    Row("usps10 adaboost", "usps10_libsvm.npz", ADABOOST | {"n_trees": 40, "size_budget": 12_000}),
    Row("usps10 small", "usps10_libsvm.npz", {"n_trees": 15, "size_budget": 6_500}),
    Row(
        "usps10 packed",
        "usps10_libsvm.npz",
        ADABOOST | {"n_trees": 15, "size_budget": 3_200, "tests": 240},
    ),
]
COLUMNS: Columns = [
    ("model", lambda r: r["name"]),
    ("D, L", lambda r: f"{r['inputs']}, {r['classes']}"),
    ("trees, leaves", lambda r: f"{r['trees']}, {r['leaves']:,}"),
    ("scikit-learn %", lambda r: f"{100 * r['sklearn_accuracy']:.2f}"),
    ACCURACY_COLUMN,
    *CHECKED,
    ("table B", lambda r: f"{r['model_bytes']:,}"),
    *CYCLES,
    FLASH_COLUMN,
    SECONDS_COLUMN,
]


def measure_case(case: Row, dataset: Dataset, seeds: Sequence[int]) -> dict[str, Any]:
    """Train a model with each seed, build the first, and run all test points."""
    settings = ForestClassifier(**case.settings).frozen()
    beside = _own_ensemble(settings).fit(dataset.X_train, dataset.y_train)
    begin = time.perf_counter()
    models = [_trained(case, dataset, seed) for seed in seeds]
    seconds = (time.perf_counter() - begin) / len(models)
    on_uno = run_on_uno(models[0], dataset)
    assert isinstance(on_uno.reference, IntegerChain)
    return {
        "name": case.name,
        "sklearn_accuracy": float(beside.score(dataset.X_test, dataset.y_test)),
        "seconds": seconds,
        **on_uno.record,
        **{size.name: size.number for size in on_uno.reference.sizes},
        **over_seeds([integer_accuracy(each, dataset) for each in models]),
    }


def _own_ensemble(settings: Any) -> Any:
    """Return scikit-learn's ensemble; for AdaBoost of trees with some points in a leaf."""
    if settings.ensemble != "adaboost":
        return new_ensemble(settings, SEED)
    tree = ExtraTreeClassifier(max_features=None, min_samples_leaf=_LEAF_POINTS)
    return AdaBoostClassifier(
        tree, n_estimators=settings.n_trees, learning_rate=0.3, random_state=SEED
    )


def _trained(case: Row, dataset: Dataset, seed: int) -> Model:
    classifier = ForestClassifier(random_state=seed, **case.settings)
    model: Model = classifier.fit(dataset.X_train, dataset.y_train).to_model(
        classes=dataset.classes
    )
    return model


SENTENCE = "Print forests beside scikit-learn's own."
main = table_command(CASES, COLUMNS, measure_case, SENTENCE)

if __name__ == "__main__":
    main()
