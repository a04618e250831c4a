"""Figure 2: many classes, and sets of labels.

aloi cannot be had here. In its place is a mixture of 1,000 classes in as many dimensions as aloi's,
128: each class is three Gaussians of equal weight, whose centres lie in 20 of the dimensions and
whose noise, of deviation 1, is in all of them. So the best possible classifier is known, and its
accuracy on the test points is printed. There are 30 training and 10 test points a class. Sizes are
the paper's: d = 30, 1.5 and 5 prototypes a class, 5 labels a prototype, dense W and B, batches of
512. Beside it are linear discriminants and the nearest neighbour.

Of the paper's sets of labels delicious is at hand; bibtex is another one of that kind. Settings are
those of `protonn_rows`. What the paper prints of its methods has rows of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from columns import Column, Record, figure, named, percent
from drawing import OTHERS, PROTONN, panels
from numpy.typing import NDArray
from protonn_rows import LABEL_SETS, logistic_precision
from runner import Benchmark
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from trained import Row

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.research.kinds.paper.train.classifier import PaperProtoNNClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.head import matrices_of, paper_bytes
from protonn_edge.policy.label_sets.figures import precision_at
from reproduction.sets import SEED

PROTOTYPES = 1_500, 5_000
_LOGISTIC_PENALTY = 10.0  # of bibtex: what `protonn_rows.logistic` chooses
_ROWS_AT_ONCE = 500

# By data set and method: MB, and accuracy or precision at 1, 3 and 5 in %.
_PAPER: dict[str, dict[str, tuple[float, tuple[float, ...]]]] = {
    "aloi": {
        "logistic regression": (0.512, (86.96,)),
        "RBF-SVM": (38.74, (94.77,)),
        "FastXML": (254.53, (89.86,)),
        "Recall Tree": (3.69, (85.15,)),
        "ProtoNN, m = 1,500": (0.315, (89.6,)),
        "ProtoNN, m = 5,000": (0.815, (94.05,)),
    },
    "delicious": {
        "FastXML": (36.87, (69.41, 64.2, 59.83)),
        "DiSMEC": (1.97, (66.14, 61.26, 56.30)),
        "SLEEC": (7.34, (67.77, 61.27, 56.62)),
        "ProtoNN": (0.925, (68.92, 63.04, 58.32)),
    },
}


@dataclass(frozen=True)
class Mixture(Row):
    """A mixture of Gaussians, drawn with `SEED`."""

    n_classes: int = 1_000
    n_parts: int = 3
    n_features: int = 128
    dimensions: int = 20
    between_classes: float = 1.6  # deviations in each of the dimensions; that of the noise is 1
    between_parts: float = 1.0
    points: tuple[int, int] = (30, 10)  # of a class, to train and to test

    def centres(self) -> NDArray[np.float32]:
        """Return the centres, of shape (classes, parts, features)."""
        rng = np.random.default_rng(SEED)
        axes = np.linalg.qr(rng.standard_normal((self.n_features, self.dimensions)))[0].T
        shape = (self.n_classes, self.n_parts, self.dimensions)
        centres = self.between_classes * rng.standard_normal((shape[0], 1, shape[2]))
        centres = centres + self.between_parts * rng.standard_normal(shape)
        turned: NDArray[np.float32] = (centres @ axes).astype(np.float32)
        return turned

    def dataset(self) -> Dataset:
        """Return points of all classes."""
        centres, rng = self.centres(), np.random.default_rng(SEED + 1)
        X, y = [], []
        for count in self.points:
            y.append(np.repeat(np.arange(self.n_classes), count))
            own = centres[y[-1], rng.integers(self.n_parts, size=len(y[-1]))]
            X.append(own + rng.standard_normal(own.shape, dtype=np.float32))
        names = tuple(map(str, range(self.n_classes)))
        return Dataset(X[0], y[0], X[1], y[1], names)

    def best_classes(self, X: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the most likely class of each point, all centres known: the Bayes classifier."""
        flat = self.centres().reshape(-1, self.n_features)
        found = []
        for start in range(0, len(X), _ROWS_AT_ONCE):
            rows = X[start : start + _ROWS_AT_ONCE]
            exponents = rows @ flat.T - np.square(flat).sum(axis=1) / 2
            exponents -= exponents.max(axis=1, keepdims=True)
            parts = np.exp(exponents).reshape(len(rows), self.n_classes, self.n_parts)
            found.append(parts.sum(axis=2).argmax(axis=1))
        return np.concatenate(found)


MIXTURE = Mixture("mixture", None)
_PAPERS_NAME = {MIXTURE.name: "aloi"}
_DRAWN = {
    MIXTURE.name: ("1,000 classes: the mixture, and aloi (hollow)", "test accuracy, %", 78.0),
    "delicious": ("delicious: here, and in the paper (hollow)", "precision at 1, %", None),
}


def measure(row: Row, dataset: Dataset) -> Iterator[Record]:
    """Yield what is measured, and what the paper has."""
    yield from _of_mixture(dataset) if row is MIXTURE else _of_label_sets(row, dataset)
    name = _PAPERS_NAME.get(row.name, row.name)
    for method, (megabytes, shares) in _PAPER.get(name, {}).items():
        yield _record(name, method, [each / 100 for each in shares], 1e6 * megabytes, "the paper")


def _of_mixture(dataset: Dataset) -> Iterator[Record]:
    train, test = (dataset.X_train, dataset.y_train), (dataset.X_test, dataset.y_test)
    best = share_right(MIXTURE.best_classes(test[0]), test[1])
    yield _record(MIXTURE.name, "best possible", [best], None)
    for m in PROTOTYPES:
        classifier = PaperProtoNNClassifier(
            n_projections=30,
            n_prototypes=m,
            sparsity_labels=5 / MIXTURE.n_classes,
            epochs=12,
            batch_size=512,
            quantization_aware=False,
            random_state=SEED,
        )
        model = classifier.fit(*train).model_
        accuracy = share_right(model.predict(test[0]), test[1])
        yield _record(MIXTURE.name, f"ProtoNN, m = {m:,}", [accuracy], _bytes(model.head))
    linear = LinearDiscriminantAnalysis().fit(*train)
    size = 4 * (linear.coef_.size + linear.intercept_.size)
    yield _record(MIXTURE.name, "linear discriminants", [float(linear.score(*test))], size)
    neighbour = KNeighborsClassifier(1, algorithm="brute").fit(*train)
    size = 4 * train[0].shape[0] * train[0].shape[1]
    yield _record(MIXTURE.name, "nearest neighbour", [float(neighbour.score(*test))], size)


def _of_label_sets(row: Row, dataset: Dataset) -> Iterator[Record]:
    model = row.train(dataset, SEED)
    shares = [*precision_at(model.scores(dataset.X_test), dataset.y_test).values()]
    yield _record(row.name, "ProtoNN", shares, _bytes(model.head))
    if not row.about["others"]:
        by_place = logistic_precision(dataset, _LOGISTIC_PENALTY)
        size = 4 * dataset.y_train.shape[1] * (dataset.n_features + 1)
        yield _record(row.name, "logistic regression", list(by_place.values()), size)


def _bytes(head: Any) -> int:
    return int(paper_bytes(matrices_of(head).values()))


def _record(
    data: str, method: str, shares: Sequence[float], size: float | None, source: str = "here"
) -> Record:
    return {"data": data, "method": method, "from": source, "shares": shares, "bytes": size}


def draw(records: Sequence[Record], folder: Path) -> None:
    """Draw accuracy, or precision at 1, by size; what is the paper's is hollow."""
    with panels(folder / "paper-figure2.svg", 1, len(_DRAWN), (8.6, 3.5)) as axes:
        for axis, (data, (title, what, lowest)) in zip(axes[0], _DRAWN.items(), strict=True):
            names = data, _PAPERS_NAME.get(data)
            _draw_sizes(axis, [record for record in records if record["data"] in names])
            axis.set_title(title, fontsize=9)
            axis.set_ylabel(what)
            axis.set_ylim(bottom=lowest)


def _draw_sizes(axis: Any, records: Sequence[Record]) -> None:
    labelled = set()
    for record in records:
        share, method = 100 * record["shares"][0], record["method"]
        if record["bytes"] is None:
            axis.axhline(share, color="#999999", linestyle="--", linewidth=1, label=method)
            axis.legend(fontsize=7, loc="lower right")
            continue
        ours, here = method.startswith("ProtoNN"), record["from"] == "here"
        place, colour = (record["bytes"] / 1e6, share), PROTONN if ours else OTHERS[0]
        axis.plot(*place, "o", color=colour, fillstyle="full" if here else "none")
        if method not in labelled:
            labelled.add(method)
            text = {"textcoords": "offset points", "ha": "center", "color": colour, "fontsize": 7}
            axis.annotate(method, place, xytext=(0, 7 if ours else -12), **text)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("MB, in the paper's accounting")
    axis.margins(0.2, 0.12)


BENCHMARKS = {
    "figure2": Benchmark(
        "Many classes, and sets of labels.",
        (MIXTURE, *LABEL_SETS[:2]),
        (
            *named("data", "method", "from"),
            Column("accuracy, or P@1 / 3 / 5 %", lambda r: " / ".join(map(percent, r["shares"]))),
            figure("MB", "bytes", lambda size: f"{size / 1e6:.3f}"),
        ),
        measure,
        draw,
    ),
}
