"""Tables 1 and 2: ProtoNN at the paper's sizes beside classifiers of any size.

Sizes are counted as in the paper: 4 bytes a parameter, 4 more for the index of each that is not 0
where a matrix is sparse; boosting's by its file. ProtoNN's settings were chosen on points held out
of the training parts, as those of `presets`, within the paper's sizes; the integers of the same
models take about a quarter of that. The others are scikit-learn's, with settings that are usual for
standardized features and, unlike the paper's, were not tuned. The paper's numbers are in brackets.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from printing import Columns, Record
from rows import SplitRow
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from protonn_edge.data.dataset import Dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.quantization import quantize
from reproduction.part import Part, percent
from reproduction.sets import BINARY_SETS, MULTI_CLASS_SETS

SEED = 0
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
# By data set and method: kB and accuracy in %. The paper has neither letter of two classes nor har.
_PAPER: dict[str, dict[str, tuple[float, float]]] = {
    "usps": {
        "ProtoNN": (11.6, 95.67),
        "kNN": (7_291, 96.7),
        "boosting": (234.37, 95.91),
        "1-hidden NN": (504, 95.86),
        "RBF-SVM": (1_659.9, 96.86),
    },
    "mnist": {
        "ProtoNN": (15.96, 96.5),
        "kNN": (183_750, 96.9),
        "boosting": (1_171.87, 98.36),
        "1-hidden NN": (3_070, 98.33),
        "RBF-SVM": (35_159.4, 98.08),
    },
    "letter-26": {
        "ProtoNN": (63.4, 97.10),
        "kNN": (1_237.8, 95.26),
        "boosting": (20_312, 97.16),
        "1-hidden NN": (164.06, 96.38),
        "RBF-SVM": (568.14, 97.64),
    },
    "mnist-10": {
        "ProtoNN": (63.4, 95.88),
        "kNN": (183_984.4, 94.34),
        "boosting": (5_859.37, 97.9),
        "1-hidden NN": (4_652.34, 98.44),
        "RBF-SVM": (39_083.7, 97.3),
    },
    "usps-10": {
        "ProtoNN": (63.83, 94.92),
        "kNN": (7_291.4, 94.07),
        "boosting": (390.62, 94.32),
        "1-hidden NN": (519.53, 94.32),
        "RBF-SVM": (1_559.6, 95.4),
    },
}
# Features of all training points, times the trees of a round, that they are trained on at most.
_SVM_VALUES, _BOOSTING_VALUES = 8_000_000, 48_000_000


def _shown(number: float | None, style: str) -> str:
    return "-" if number is None else format(number, style)


def _in_integers(record: Record) -> str:
    if record["integer_accuracy"] is None:
        return "-"
    return f"{record['integer_bytes']:,}, {percent(record['integer_accuracy'])}"


COLUMNS: Columns = [
    ("data", lambda r: r["data"]),
    ("method", lambda r: r["method"]),
    ("trained on", lambda r: _shown(r.get("points"), ",")),
    ("kB (paper's)", lambda r: f"{r['bytes'] / 1000:,.1f} ({_shown(r['paper_kb'], ',.1f')})"),
    ("accuracy % (paper's)", lambda r: f"{percent(r['accuracy'])} ({_shown(r['paper'], '.2f')})"),
    ("in integers: B, %", _in_integers),
]


def _protonn(name: str, dataset: Dataset) -> Record:
    classifier = ProtoNNClassifier(random_state=SEED, **_SETTINGS[name])
    model = classifier.fit(dataset.X_train, dataset.y_train).to_model(classes=dataset.classes)
    integers = quantize(model)
    answers = integers.predict(integers.quantize(dataset.X_test))
    return {
        "points": len(dataset.y_train),
        "bytes": model.paper_bytes,
        "accuracy": share_right(model.predict(dataset.X_test), dataset.y_test),
        "integer_bytes": integers.model_bytes,
        "integer_accuracy": share_right(answers, dataset.y_test),
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
            "integer_bytes": None,
            "integer_accuracy": None,
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


def _rows(row: SplitRow, dataset: Dataset) -> Iterator[Record]:
    for method, measure in METHODS.items():
        paper_kb, paper = _PAPER.get(row.name, {}).get(method, (None, None))
        beside = {"paper_kb": paper_kb, "paper": paper}
        yield {"data": row.name, "method": method, **measure(row.name, dataset), **beside}


BINARY = Part("two classes, beside classifiers of any size", BINARY_SETS, _rows, COLUMNS)
MULTI_CLASS = Part("more classes, beside classifiers of any size", MULTI_CLASS_SETS, _rows, COLUMNS)
