"""Kinds of classifiers on the emulated Uno, beside others; settings are chosen without test points.

Accuracies are those of the integers, with the deviation of all seeds; what is measured on the Uno
is of the first.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from columns import Column, joined, mean_percent, percent
from emulated import MEASURED
from runner import Benchmark
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import ExtraTreeClassifier
from threadpoolctl import threadpool_limits
from trained import Row, Trained, first_tested, held_out_in_turn, in_two, integer_accuracy

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.kinds.forest.train import ForestClassifier, new_ensemble
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.model.head import matrices_of, paper_bytes
from protonn_edge.system.errors import InputError

USPS, MNIST, LETTER, HAR = "usps10_libsvm.npz", "mnist10.npz", "letter26.npz", "har_hapt.npz"

# --- columns of trained rows ----------------------------------------------------------------------

MODEL = Column("model", lambda r: r.name)
ACCURACY = Column("Uno %", lambda r: r.accuracies, mean_percent)
INTEGERS = Column("integers %", lambda r: r.accuracies, mean_percent)
FLOAT = Column("float %", lambda r: r.float_accuracy, percent)
MJ = Column("mJ", lambda r: r.uno["energy_mj"]["mean"], ".3f")
BYTES = Column("model B", lambda r: r.integers.model_bytes, ",")
SIZES = Column(
    "sizes",
    lambda r: [r.integers.n_inputs, *(s.number for s in r.integers.sizes), r.integers.n_classes],
    joined,
)
SECONDS = Column("s", lambda r: r.seconds, ".0f")


def _of_uno(column: Column) -> Column:
    return Column(column.heading, lambda row: column.value(row.uno), column.form)


ON_UNO = (ACCURACY, *map(_of_uno, MEASURED), SECONDS)

# --- linear classifiers, networks and forests beside scikit-learn's -------------------------------


def _linear_beside(row: Trained) -> float:
    """Return the accuracy of scikit-learn's regression of the same settings and points."""
    classifier = LinearClassifier(**row.row.settings)
    own = LogisticRegression(
        l1_ratio=1.0,
        C=1 / (classifier.regularization * len(row.dataset.y_train)),
        solver=row.model.record["trainer"],
        max_iter=classifier.max_iterations,
        tol=classifier.tolerance,
        random_state=0,
    )
    return _beside(own, row, np.float64)


def _dense_beside(row: Trained) -> float:
    """Return the accuracy of a network with the same hidden layers, which has all its weights."""
    own = MLPClassifier([size.number for size in row.model.sizes], random_state=0)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _beside(own, row, np.float32)


def _beside(own: Any, row: Trained, type_: Any) -> float:
    """Return the accuracy of an estimator on the same normalized points."""
    model, data = row.model, row.dataset
    own.fit(model.normalized(data.X_train).astype(type_, copy=False), data.y_train)
    return float(own.score(model.normalized(data.X_test).astype(type_, copy=False), data.y_test))


def _forest_beside(row: Trained) -> float:
    """Return the accuracy of the same ensemble, neither cut to a budget nor rounded."""
    settings: Any = ForestClassifier(**row.row.settings).frozen()
    own = new_ensemble(settings, 0)
    if settings.ensemble == "adaboost":  # of trees with some points in a leaf: whole ones are right
        tree = ExtraTreeClassifier(max_features=None, min_samples_leaf=3)
        own = AdaBoostClassifier(
            tree, n_estimators=settings.n_trees, learning_rate=0.3, random_state=0
        )
    own.fit(row.dataset.X_train, row.dataset.y_train)
    return float(own.score(row.dataset.X_test, row.dataset.y_test))


# Regularization: the largest with which integers are within a standard error of the best, that of a
# share of as many points. It was chosen in folds (har: of people; mnist2: a fourth held out).
LINEAR = (
    Row("usps10", USPS, {"regularization": 1e-4}, kind="linear"),
    Row("mnist2", MNIST, {"regularization": 1e-4}, kind="linear", part=in_two(5)),
    Row("har", HAR, {"clip": 0.05, "regularization": 3e-3}, kind="linear"),
)
# The most accurate of a few rates, noises and layers in 2 of 3 folds (mnist2: a fourth held out).
_NOISY = {"learning_rate": 0.03, "size_budget": 2_000}
DENSE = (
    Row("mnist2", MNIST, _NOISY | {"input_noise": 0.1, "epochs": 60}, kind="dense", part=in_two(5)),
    Row("usps10", USPS, _NOISY | {"hidden": "40", "input_noise": 0.2, "epochs": 100}, kind="dense"),
    Row(
        "har",
        HAR,
        {"learning_rate": 0.01, "input_noise": 0.5, "epochs": 40, "size_budget": 2_000},
        kind="dense",
    ),
)
# The most accurate in folds of several ensembles and numbers of trees at 8,000 and 24,000 B;
# AdaBoost at half of these bytes or less, with and without shared tests.
_ADABOOST = {"ensemble": "adaboost"}
_BOOSTED = {"ensemble": "boosting", "n_trees": 50, "shrinkage": 0.3, "size_budget": 8_000}
FOREST = (
    Row("har boosting", HAR, _BOOSTED, kind="forest"),
    Row("har adaboost", HAR, _ADABOOST | {"n_trees": 50, "size_budget": 4_000}, kind="forest"),
    Row(
        "letter26 packed",
        LETTER,
        _ADABOOST | {"n_trees": 30, "size_budget": 24_000, "tests": 230},
        kind="forest",
    ),
    Row("usps10 adaboost", USPS, _ADABOOST | {"n_trees": 40, "size_budget": 12_000}, kind="forest"),
)


def _weights(row: Trained) -> list[int]:
    """Return how many weights are not 0, and how many there are."""
    weights = [W for name, W in matrices_of(row.model.head).items() if name.startswith("W")]
    return [sum(int(np.count_nonzero(W)) for W in weights), sum(W.size for W in weights)]


# --- trees with products --------------------------------------------------------------------------


def _tree(name: str, file: str, split: int, *, kernel: bool = False, **settings: Any) -> Row:
    """Return a row of Bonsai or, with `kernel`, of a local deep kernel."""
    kind, rate = ("local-deep-kernel", 0.01) if kernel else ("bonsai", 0.02)
    settings = {"epochs": 100, "learning_rate": rate, **settings}
    return Row(name, file, settings, kind=kind, part=in_two(split))


# The most accurate within the bytes of some ten settings, on a fourth of the training points. The
# first has as many numbers as 2,048 bytes hold of 4 for each, and 4 for its place in a thin matrix.
_THIN = dict.fromkeys(("sparsity_weights", "sparsity_gates", "sparsity_branches"), 0.2)
TREES = (
    _tree(
        *("usps2 at 2 kB in floats", USPS, 5), depth=1, n_projections=8, sparsity_projection=0.105
    ),
    _tree("usps2", USPS, 5, depth=3, n_projections=6),
    _tree("letter2", LETTER, 13, depth=4, n_projections=16, epochs=200),
    _tree("kernel usps2", USPS, 5, kernel=True, depth=2, **_THIN),
    _tree("kernel letter2", LETTER, 13, kernel=True, depth=4, epochs=200, learning_rate=0.02),
)

# --- kinds of equal size --------------------------------------------------------------------------

TABLES = (
    Row("wifi_rooms", "wifi_rooms.npz", about={"bytes": 1_000}),
    Row("har", HAR, about={"bytes": 2_000}, groups="subject_train"),
)


def _tried(kind: str, size: int) -> Iterator[dict[str, Any]]:
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


def _in_folds(row: Row, dataset: Dataset) -> float:
    """Return the accuracy of the integers in folds of the training part; 0 where there are none."""
    parts = [replace(part, groups=None) for part in held_out_in_turn(dataset, 3)]
    try:
        return float(np.mean([integer_accuracy(row.train(part, 0), part) for part in parts]))
    except InputError:
        return 0.0


def best_of_each(row: Row, dataset: Dataset) -> Iterator[Trained]:
    """Choose settings of each kind in folds, and train it."""
    warnings.simplefilter("ignore")
    alone = replace(dataset, groups=None)
    for kind in ("forest", "linear", "protonn"):
        rows = [
            replace(row, kind=kind, settings=settings)
            for settings in _tried(kind, row.about["bytes"])
        ]
        shares = [_in_folds(each, dataset) for each in rows]
        best = rows[int(np.argmax(shares))]
        yield Trained(replace(best, about={"folds": max(shares)}), alone, [0])


# --- what a change of this package makes of small models ------------------------------------------

_AS_IMAGES: dict[str, Any] = {"epochs": 20, "image_shape": (8, 8)}
_SETTINGS: dict[str, dict[str, Any]] = {
    "protonn": {"epochs": 20},
    "protonn, 4 bits": {"epochs": 20, "projection_bits": 4},
    "protonn, averages": {**_AS_IMAGES, "features": "pool:4x4"},
    "protonn, gradients": {**_AS_IMAGES, "features": "gradients:4x4"},
    "linear": {"regularization": 1e-3},
    "dense": {"epochs": 25},
    "bonsai": {"epochs": 20},
    "local-deep-kernel": {"epochs": 20},
    "forest": {"n_trees": 10},
}
SMALL = [
    Row(name, None, settings, kind=name.partition(",")[0], tested=first_tested(100))
    for name, settings in _SETTINGS.items()
]

BENCHMARKS = {
    "linear": Benchmark(
        "Linear classifiers beside scikit-learn's logistic regression of the same settings.",
        LINEAR,
        (MODEL, Column("scikit-learn %", _linear_beside, percent), *ON_UNO),
        seeds=5,
    ),
    "dense": Benchmark(
        "Pruned networks beside scikit-learn's MLPClassifier, which keeps all of its weights.",
        DENSE,
        (
            *(MODEL, SIZES, Column("weights", _weights, "{0[0]:,} of {0[1]:,}".format), BYTES),
            *(Column("scikit-learn %", _dense_beside, percent), FLOAT, *ON_UNO),
        ),
        seeds=5,
    ),
    "forest": Benchmark(
        "Forests beside scikit-learn's ensembles, neither cut to a budget nor rounded.",
        FOREST,
        (MODEL, SIZES, BYTES, Column("scikit-learn %", _forest_beside, percent), *ON_UNO),
        seeds=5,
    ),
    "bonsai": Benchmark(
        "Bonsai and local deep kernels with at most 2 kB of parameters, or 2 kB in floats.",
        TREES,
        (
            *(MODEL, Column("depth", lambda r: r.row.settings["depth"]), FLOAT, BYTES),
            Column("B in floats", lambda r: paper_bytes(matrices_of(r.model.head).values()), ","),
            *ON_UNO,
        ),
        seeds=5,
    ),
    "families": Benchmark(
        "Forests, linear models and ProtoNN on tables, with equal bytes; settings by three folds.",
        TABLES,
        (
            *(MODEL, Column("classifier", lambda r: r.row.kind)),
            Column("settings", lambda r: r.row.settings, str),
            *(Column("folds %", lambda r: r.row.about["folds"], percent), BYTES, *ON_UNO),
        ),
        best_of_each,
    ),
    "figures": Benchmark(
        "What a change makes of small models of digits; 100 test points run on the Uno.",
        SMALL,
        (
            *(MODEL, Column("Uno %", lambda r: r.uno["accuracy"], percent), BYTES, *ON_UNO[1:-1]),
            Column("hash of the model", lambda r: r.integers.model_sha256[:16]),
        ),
        lambda row, dataset: Trained(row, dataset, [0]),
    ),
}
