"""How many known points, and how many others, a model answers with "unknown".

Thresholds were chosen on parts of the training points that were held out in turn. The test points
are read once, for the false alarms and the accuracy that are printed; nothing is chosen by them,
nor by letters. Outlier exposure was chosen with Greek and Cyrillic letters and symbols against
points held out. A row that should reject 80 % of the printed letters and rejects fewer is SHORT.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import click
import numpy as np
from columns import Record, figure, named
from emulated import some_on_board
from kind_rows import HAR, MNIST
from letters import Canvas, drawn_letters, noise_kinds, printed_letters
from numpy.typing import NDArray
from runner import Benchmark
from trained import Row

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection import Statistic
from protonn_edge.policy.rejection.calibration import with_rejection
from protonn_edge.policy.rejection.held_out import held_out_statistics
from protonn_edge.system.errors import ProtoNNEdgeError

_BY: tuple[tuple[Statistic, ...], ...] = (
    ("score",),
    ("distance",),
    ("margin",),
    ("score", "margin"),
)
_LETTERS = "letters printed"
_WANTED = 80.0  # % of them
_NOISE_POINTS = 1_000
_VERIFIED = 300
_RATE = 0.01  # of false alarms
Points = NDArray[np.float32]


def _not_digits(canvas: Canvas, dataset: Dataset) -> dict[str, Points]:
    """Return images that are no digits; noise is made of test points."""
    generator = np.random.default_rng(0)
    test = dataset.X_test[:_NOISE_POINTS].astype(np.float64)
    kinds = noise_kinds(test, canvas, generator)
    kinds |= {
        _LETTERS: printed_letters(canvas),
        "letters drawn": drawn_letters(canvas, generator),
    }
    return {name: images.astype(np.float32) for name, images in kinds.items()}


def _without(left_out: str, whole: Dataset) -> Dataset:
    """Return a data set without a class; its test points there are of no class."""
    kept = [i for i, name in enumerate(whole.classes) if name != left_out]
    number = np.full(whole.n_classes, NO_CLASS)
    number[kept] = np.arange(len(kept))
    train = np.isin(whole.y_train, kept)
    return replace(
        whole,
        X_train=whole.X_train[train],
        y_train=number[whole.y_train[train]],
        y_test=number[whole.y_test],
        classes=tuple(whole.classes[i] for i in kept),
    )


_SMALL = {"n_projections": 10, "n_prototypes": 40, "batch_size": 64, "image_shape": (8, 8)}
_LARGE = {
    "n_projections": 24,
    "n_prototypes": 200,
    "image_shape": (28, 28),
    "epochs": 20,
    "features": "crop:24x24,pool:12x12",
}
_SETS = (
    ("digits", None, Canvas(8, 8, 0.0, 16.0), _SMALL),
    ("mnist10", MNIST, Canvas(28, 20, 0.0, 255.0, by_mass=True), _LARGE),
)
_ACTIVITIES = {"n_projections": 10, "n_prototypes": 30, "epochs": 60, "strangers": 0.5}
CASES = (
    *(
        Row(
            f"{name}-outlier-exposure" if share else name,
            file,
            settings | {"strangers": share},
            about={"canvas": canvas, "wanted": _WANTED if share and name == "digits" else 0},
        )
        for name, file, canvas, settings in _SETS
        for share in (0.0, 0.5)
    ),
    *(
        Row(f"har-without-{name.lower()}", HAR, _ACTIVITIES, part=partial(_without, name))
        for name in ("WALKING", "SITTING", "LAYING")
    ),
)


def measure(row: Row, dataset: Dataset) -> Iterator[Record]:
    """Train once; yield the figures of each choice of statistics, the default first."""
    model = row.train(dataset, 0)
    classifier = ProtoNNClassifier(random_state=0, **row.settings)
    known = held_out_statistics(classifier, dataset.X_train, dataset.y_train, model)
    left_out = dataset.y_test == NO_CLASS
    strange = {"left out": np.asarray(dataset.X_test)[left_out]}
    if "canvas" in row.about:
        strange = _not_digits(row.about["canvas"], dataset)
    tested = np.asarray(dataset.X_test)[~left_out], dataset.y_test[~left_out]
    for by in _BY:
        name = "+".join(by)
        try:
            rejecting = with_rejection(model, known, _RATE, by)
        except ProtoNNEdgeError as error:
            click.echo(f"{name}: {error}", err=True)
            continue
        figures = {"model": row.name, "by": name, **_figures(rejecting, *tested, strange)}
        if by == _BY[0]:
            some = [images[:: -(-len(images) // 30)] for images in strange.values()]
            points = np.concatenate([tested[0][:_VERIFIED], *some])
            figures |= some_on_board(rejecting, points)
            enough = figures["unknown_percent"].get(_LETTERS, 0) >= row.about.get("wanted", 0)
            figures["holds"] = enough and not figures["differ"]
        yield figures


def _figures(model: Model, X: Points, y: NDArray[Any], strange: dict[str, Points]) -> Record:
    """Return shares in % that are answered with "unknown", and the accuracy of the others."""
    integers = quantize(model)
    found, scores = integers.answers(integers.quantize(X))
    rejected, plain = found == NO_CLASS, scores.argmax(axis=1)
    shares = {
        name: float(np.mean(integers.predict(integers.quantize(images)) == NO_CLASS))
        for name, images in strange.items()
    }
    return {
        "false_alarms_percent": _percent(rejected.mean()),
        "accuracy_percent": _percent((plain == y).mean()),
        "unknown_percent": {name: _percent(share) for name, share in shares.items()},
    }


def _percent(share: Any) -> float:
    return round(100 * float(share), 2)


def _kinds(unknown: dict[str, float]) -> str:
    return ", ".join(f"{kind} {share}" for kind, share in unknown.items())


BENCHMARKS = {
    "rejection": Benchmark(
        'How many known points, and how many others, are answered with "unknown", in %.',
        CASES,
        (
            *named("model", "by"),
            figure("false alarms", "false_alarms_percent", ".2f"),
            figure("accuracy", "accuracy_percent", ".2f"),
            figure("unknown", "unknown_percent", _kinds),
            *named("cycles", "flash", "differ"),
        ),
        measure,
    ),
}
