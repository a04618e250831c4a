"""Tables 1 and 2: ProtoNN at the paper's sizes beside classifiers of any size.

Sizes are counted as in the paper: 4 bytes a parameter, 4 more for the index of each that is not 0
where a matrix is sparse; boosting's by its file. ProtoNN's settings were chosen on points held out
of the training parts, as those of `presets`, within the paper's sizes; the integers of the same
models take about a quarter of that. The others are scikit-learn's, with settings that are usual for
standardized features and, unlike the paper's, were not tuned. The paper's own numbers of ProtoNN
are in brackets.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from columns import Column, Record, figure, named, percent
from runner import Benchmark
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from trained import Row, integer_accuracy

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.head import matrices_of, paper_bytes
from protonn_edge.model.quantization import quantize
from reproduction.sets import BINARY_SETS, MULTI_CLASS_SETS, SEED

HIDDEN = 100

_USPS = {"image_shape": (16, 16), "augment": True}
_MNIST_12 = {"image_shape": (28, 28), "features": "crop:24x24,pool:12x12"}
_SETTINGS: dict[str, dict[str, Any]] = {
    "usps": {**_USPS, "features": "pool:8x8", "n_projections": 12, "n_prototypes": 150},
    "mnist": {**_MNIST_12, "n_projections": 12, "n_prototypes": 160, "epochs": 60},
    "letter": {"n_projections": 16, "n_prototypes": 200},
    "har": {"n_projections": 10, "n_prototypes": 40},
    "letter-26": {
        "n_projections": 16,
        "n_prototypes": 370,
        "init_projection": "nca",
        "input_noise": 0.2,
    },
    "mnist-10": {
        **_MNIST_12,
        "features": "deskew,crop:24x24,pool:12x12",
        "augment": True,
        "input_noise": 0.05,
        "gamma_numerator": 2.5,
        "init_projection": "nca",
        "n_projections": 25,
        "n_prototypes": 350,
        "epochs": 60,
    },
    "usps-10": {**_USPS, "n_projections": 20, "n_prototypes": 300},
}
# The paper's ProtoNN: kB and accuracy in %. The paper has neither letter of two classes nor har.
_PAPER = {
    "usps": (11.6, 95.67),
    "mnist": (15.96, 96.5),
    "letter-26": (63.4, 97.10),
    "mnist-10": (63.4, 95.88),
    "usps-10": (63.83, 94.92),
}
# Features of all training points, times the trees of a round, that they are trained on at most.
_SVM_VALUES, _BOOSTING_VALUES = 8_000_000, 48_000_000


def _protonn(name: str, dataset: Dataset) -> Record:
    classifier = ProtoNNClassifier(random_state=SEED, **_SETTINGS[name])
    model = classifier.fit(dataset.X_train, dataset.y_train).to_model(classes=dataset.classes)
    return {
        "points": len(dataset.y_train),
        "bytes": int(paper_bytes(matrices_of(model.head).values())),
        "accuracy": share_right(model.predict(dataset.X_test), dataset.y_test),
        "paper": _PAPER.get(name),
        "integer_bytes": quantize(model).model_bytes,
        "integer_accuracy": integer_accuracy(model, dataset),
    }


def _beside(
    estimator: Any,
    size: Callable[[Any], int],
    most: Callable[[Dataset], int] = lambda dataset: len(dataset.y_train),
) -> Any:
    """Return what trains an estimator on standardized features, and counts its bytes.

    `most` is how many of the points it is trained on.
    """

    def run(_: str, dataset: Dataset) -> Record:
        scaler = StandardScaler().fit(dataset.X_train)
        rows = np.random.default_rng(SEED).permutation(len(dataset.X_train))[: most(dataset)]
        fitted = estimator.fit(scaler.transform(dataset.X_train[rows]), dataset.y_train[rows])
        accuracy = float(fitted.score(scaler.transform(dataset.X_test), dataset.y_test))
        return {
            "points": len(rows),
            "bytes": size(fitted),
            "accuracy": accuracy,
        }

    return run


def _trees_a_round(dataset: Dataset) -> int:
    return 1 if dataset.n_classes == 2 else dataset.n_classes


METHODS = {
    "ProtoNN": _protonn,
    "kNN": _beside(KNeighborsClassifier(1), lambda fitted: 4 * fitted._fit_X.size),
    "boosting": _beside(
        HistGradientBoostingClassifier(random_state=SEED),
        lambda fitted: len(pickle.dumps(fitted)),
        lambda dataset: _BOOSTING_VALUES // (dataset.n_features * _trees_a_round(dataset)),
    ),
    "1-hidden NN": _beside(
        MLPClassifier(HIDDEN, early_stopping=True, random_state=SEED),
        lambda fitted: 4 * sum(each.size for each in (*fitted.coefs_, *fitted.intercepts_)),
    ),
    "RBF-SVM": _beside(
        SVC(C=10),
        lambda fitted: 4 * (fitted.support_vectors_.size + fitted.dual_coef_.size),
        lambda dataset: _SVM_VALUES // dataset.n_features,
    ),
}


def measure(row: Row, dataset: Dataset) -> Iterator[Record]:
    """Yield the row of each method."""
    for method, of_method in METHODS.items():
        yield {"data": row.name, "method": method, **of_method(row.name, dataset)}


COLUMNS = (
    *named("data", "method", "points"),
    Column("kB", lambda r: r["bytes"] / 1000, ",.1f"),
    figure("accuracy %", "accuracy", percent),
    figure("the paper's kB, %", "paper", "{0[0]:.1f}, {0[1]:.2f}".format),
    figure("integers B", "integer_bytes", ","),
    figure("integers %", "integer_accuracy", percent),
)
BENCHMARKS = {
    "table1": Benchmark(
        "Two classes, beside classifiers of any size.", BINARY_SETS, COLUMNS, measure
    ),
    "table2": Benchmark(
        "More classes, beside classifiers of any size.", MULTI_CLASS_SETS, COLUMNS, measure
    ),
}
