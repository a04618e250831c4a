"""Figure 4, the one that matters here: small models on an Arduino Uno, their accuracy and time.

The paper has LDKL-L1, pruned networks and L1-logistic regression beside ProtoNN, in floats and in
integers, with 2 kB each. Here every classifier of the package is, on the emulated Uno: every test
point, compared with NumPy and host C. Energy is 0.2455 J/s times the time, as in the paper.

All settings were chosen on a quarter of the training points (of har, on a fifth of the people),
which were not trained on. Images are classified by averages, in 8 rows of 8 (trees' mnist: 14 of
14), or by their pixels, as the settings below say. A float build makes no averages, so ProtoNN in
floats is sent those that the host has made: its time is without them. The sizes of ProtoNN's are
such that a prediction of those points takes at most a millisecond.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from columns import Record, figure, named, percent
from drawing import OTHERS, PROTONN, panels
from emulated import MEASURED, run_on_uno
from runner import Benchmark
from trained import Row
from trainings import estimator_with

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.research.floats.model import float_build
from protonn_edge.learn.base import CLASSIFIERS, DeviceClassifier
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from reproduction.sets import BINARY_SETS, SEED

_USPS = {"image_shape": (16, 16), "features": "pool:8x8"}
_MNIST = {"image_shape": (28, 28), "features": "crop:24x24,pool:8x8"}
_NEAR = {"n_projections": 16, "n_prototypes": 54, "gamma_numerator": 3.5}
_PROTONN: dict[str, dict[str, Any]] = {
    "usps": {**_USPS, **_NEAR, "augment": True, "epochs": 100},
    "mnist": {**_MNIST, **_NEAR, "n_projections": 14, "n_prototypes": 52, "epochs": 60},
    "letter": {"n_projections": 16, "n_prototypes": 96, "gamma_numerator": 4.0, "input_noise": 0.1},
    "har": {"n_projections": 5, "n_prototypes": 20, "epochs": 60},
}
_LINEAR: dict[str, dict[str, Any]] = {
    "usps": {**_USPS, "regularization": 1e-4},
    "mnist": {"regularization": 1e-4},
    "letter": {"regularization": 1e-4},
    "har": {"regularization": 1e-4},
}
_BOOSTED = {"ensemble": "boosting", "n_trees": 40, "shrinkage": 0.3, "max_depth": 4}
FOREST: dict[str, dict[str, Any]] = {
    "usps": {**_USPS, **_BOOSTED, "size_budget": 2_000},
    "mnist": {**_MNIST, **_BOOSTED, "size_budget": 2_000},
    "letter": {**_BOOSTED, "size_budget": 2_000},
    "har": {"ensemble": "extra", "n_trees": 20, "size_budget": 2_000},
}
_PIXELS = {"learning_rate": 0.03, "hidden": "20", "size_budget": 2_000}
DENSE: dict[str, dict[str, Any]] = {
    "usps": {**_PIXELS, "input_noise": 0.2, "epochs": 100},
    "mnist": {**_PIXELS, "input_noise": 0.1, "epochs": 60},
    "letter": {
        "hidden": "60,15",
        "learning_rate": 0.03,
        "input_noise": 0.05,
        "epochs": 100,
        "size_budget": 2_000,
    },
    "har": {
        "hidden": "10",
        "learning_rate": 0.003,
        "input_noise": 0.3,
        "clip": 0.05,
        "epochs": 40,
        "size_budget": 2_000,
    },
}


@dataclass(frozen=True)
class Bar:
    """One classifier for one data set."""

    data: str
    classifier: str
    settings: dict[str, Any]
    precision: str = "int8"


_OFTEN = {"epochs": 100, "learning_rate": 0.02}
_POOLED = {
    "image_shape": (28, 28),
    "features": "pool:14x14",
    "epochs": 40,
    "input_noise": 0.3,
}
_BONSAI: dict[str, dict[str, Any]] = {
    "usps": {**_OFTEN, "depth": 3, "n_projections": 6},
    "mnist": {**_OFTEN, "depth": 3, "n_projections": 8, **_POOLED},
    "letter": {**_OFTEN, "depth": 4, "n_projections": 16, "epochs": 200},
    "har": {**_OFTEN, "depth": 1, "n_projections": 10, "epochs": 60},
}


def _thin(share: float) -> dict[str, float]:
    """Return settings with this share of all weights of a tree."""
    return dict.fromkeys(("sparsity_weights", "sparsity_gates", "sparsity_branches"), share)


_KERNEL: dict[str, dict[str, Any]] = {
    "usps": {"depth": 2, "epochs": 100, **_thin(0.2)},
    "mnist": {"depth": 3, **_thin(0.12), **_POOLED},
    "letter": {"depth": 4, "epochs": 200, "learning_rate": 0.02},
    "har": {"depth": 1, "epochs": 60},
}
_SETTINGS = {
    "linear": _LINEAR,
    "local-deep-kernel": _KERNEL,
    "forest": FOREST,
    "dense": DENSE,
    "bonsai": _BONSAI,
    "protonn": _PROTONN,
}
BARS = [
    *(Bar(data, name, each) for name, sets in _SETTINGS.items() for data, each in sets.items()),
    *(Bar(data, "protonn", settings, "float32") for data, settings in _PROTONN.items()),
]


def measure(row: Row, dataset: Dataset) -> Iterator[Record]:
    """Yield what each classifier takes of the Uno."""
    trained: dict[str, Model] = {}
    for bar in BARS:
        if bar.data == row.name:
            if bar.classifier not in trained:
                trained[bar.classifier] = _trained(bar, dataset)
            yield _measured(bar, trained[bar.classifier], dataset)


def _trained(bar: Bar, dataset: Dataset) -> Model:
    classifier: DeviceClassifier = estimator_with(bar.classifier, bar.settings)(
        random_state=SEED, **bar.settings
    )
    classifier.fit(dataset.X_train, dataset.y_train)
    return classifier.to_model(classes=dataset.classes)


def _measured(bar: Bar, model: Model, dataset: Dataset) -> Record:
    """Build a model and run all test points."""
    X = dataset.X_test
    if bar.precision == "float32" and model.features is not None:
        X = model.features.apply(X)
        model = replace(model, features=None, raw_exponents=None)
    reference = (float_build if bar.precision == "float32" else quantize)(model)
    built = DeviceModel(model, reference)
    record = run_on_uno(built, replace(dataset, X_test=X)).record
    about = {"data": bar.data, "classifier": bar.classifier, "precision": bar.precision}
    return about | record


def draw(records: Sequence[Record], folder: Path) -> None:
    """Draw a column of panels a data set: time above energy, with the accuracy on each bar."""
    sets = list(dict.fromkeys(record["data"] for record in records))
    with panels(folder / "paper-figure4.svg", 2, len(sets), (2.6 * len(sets), 4.8)) as axes:
        for place, data in enumerate(sets):
            of_it = [record for record in records if record["data"] == data]
            names = [_name(record) for record in of_it]
            colours = [_colour(record) for record in of_it]
            for row, key in enumerate(("latency_ms", "energy_mj")):
                axis = axes[row][place]
                bars = axis.bar(names, [record[key]["mean"] for record in of_it], color=colours)
                axis.set_yscale("log")
                axis.yaxis.set_major_formatter("{x:g}")
                axis.tick_params(axis="x", rotation=90, labelbottom=row == 1)
                axis.set_ylabel("" if place else f"{('ms', 'mJ')[row]} a prediction")
                if row == 0:
                    axis.set_title(data)
                    labels = [f"{100 * record['accuracy']:.1f}" for record in of_it]
                    axis.bar_label(bars, labels, fontsize=7)
                    axis.margins(y=0.12)


def _name(record: Record) -> str:
    return f"{record['classifier']}{' float' if record['precision'] == 'float32' else ''}"


def _colour(record: Record) -> str:
    return PROTONN if record["classifier"] == "protonn" else _colours()[record["classifier"]]


@cache
def _colours() -> dict[str, str]:
    others = [name for name in CLASSIFIERS if name != "protonn"]
    return dict(zip(others, OTHERS, strict=False))


BENCHMARKS = {
    "figure4": Benchmark(
        "Accuracy, time and energy of 2 kB models on the Uno.",
        BINARY_SETS,
        (
            *named("data", "classifier", "precision"),
            figure("accuracy %", "accuracy", percent),
            *MEASURED,
            figure("mJ", "energy_mj.mean", ".4f"),
            *named("model_bytes"),
        ),
        measure,
        draw,
    ),
}
