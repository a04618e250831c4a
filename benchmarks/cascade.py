"""Cascades on an Arduino Uno, beside their second models alone.

    python benchmarks/cascade.py [--only NAME] [--seeds N] [--models FOLDER] [--json]

prints one row a data set: the accuracy of the integers on the test part, the mean cycles of all
test points on the emulated Uno, the flash, and the same for the second model alone; *passed on* is
the share of test points that the second model answers. The test points are read for nothing else:
both models learn from the training part without a held-out share, on which the margin is chosen.

*cascade %* and *second %* are means of five seeds (`--seeds`), of which each is printed as JSON;
all else is of seed 0. With `--models`, trained models are kept in a folder, and used again.

The settings of the first models were chosen on the held-out shares. The data is read from the
folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from on_uno import BOUND_COLUMN, run_on_uno
from presets import PRESETS
from printing import Columns, Record, print_table
from rows import Row, chosen, integer_accuracy, over_seeds, seeds_option
from trained_networks import CASES as NETWORKS

from protonn_edge.data.dataset import Dataset
from protonn_edge.extensions.cascades.kinds.cascade.head import margins
from protonn_edge.extensions.cascades.kinds.cascade.integers import IntegerCascade
from protonn_edge.extensions.cascades.kinds.cascade.train import joined
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed, ProtoNNEdgeError

_HELD_OUT = 0.2  # of the training points or, of har, people; of MNIST, its last points

_ALONE = 1_000  # test points that the second model alone is given


@dataclass(frozen=True)
class Cascade(Row):
    """Two models, each as its kind and its settings."""

    first: tuple[str, dict[str, Any]] = field(default=("", {}), kw_only=True)
    second: tuple[str, dict[str, Any]] = field(default=("", {}), kw_only=True)
    last: int = field(default=0, kw_only=True)  # training points to hold out; 0 for a share of all
    # of points to pass on, and whether scores are added; None: chosen
    share: float | None = field(default=None, kw_only=True)
    adds: bool | None = field(default=None, kw_only=True)

    def divided(self, dataset: Dataset) -> tuple[Dataset, Dataset]:
        """Return what is learned, and what is held out."""
        n = len(dataset.y_train)
        held = np.arange(n) >= n - self.last
        if not self.last:
            held = np.zeros(n, bool)
            order = np.random.default_rng(0).permutation(n)
            held[order[: round(_HELD_OUT * n)]] = True
        if self.groups is not None:
            assert dataset.groups is not None
            people = np.unique(dataset.groups)
            chosen_people = np.random.default_rng(0).permutation(people)
            held = np.isin(dataset.groups, chosen_people[: round(_HELD_OUT * len(people))])
        parts = (
            replace(
                dataset,
                X_train=dataset.X_train[rows],
                y_train=dataset.y_train[rows],
                groups=None,
            )
            for rows in (~held, held)
        )
        return next(parts), next(parts)

    def model(self, part: str, learned: Dataset, seed: int, folder: Path | None) -> Model:
        """Return one of the models, from the folder if it is there."""
        path = folder / f"{self.name}-{part}-{seed}.npz" if folder else None
        if path is not None and path.exists():
            return load_model(path)
        kind, settings = getattr(self, part)
        classifier = CLASSIFIERS[kind](random_state=seed, **settings)
        classifier.fit(np.asarray(learned.X_train), learned.y_train)
        model: Model = classifier.to_model(classes=learned.classes)
        if path is not None:
            save_model(model, path)
        return model


def _settings_of(name: str) -> dict[str, Any]:
    every = (*PRESETS, *NETWORKS)
    return dict(next(each.settings for each in every if each.name == name))


def _forest(trees: int, n_bytes: int) -> tuple[str, dict[str, Any]]:
    return "forest", {"n_trees": trees, "size_budget": n_bytes}


def _network(layers: str, passes: int) -> tuple[str, dict[str, Any]]:
    settings = _settings_of("mnist10-12kB-fast")
    features = f"conv:{layers},bits:4"
    return "linear", settings | {"features": features, "network_epochs": passes}


_AUGMENTED = {"image_shape": (16, 16), "augment": True, "epochs": 40}
CASES = [
    Cascade(
        "mnist10",
        "mnist10.npz",
        first=("protonn", _settings_of("mnist10-gradients-2kB")),
        second=_network("5x5/2,12x3,max2,24x3,88x3", passes=96),
        last=4_000,
        share=0.08,  # as accurate on the last 10,000 images as any of 2 to 20 %
    ),
    Cascade(
        "mnist10-4kB",
        "mnist10.npz",
        first=("protonn", _settings_of("mnist10-gradients-2kB")),
        second=_network("6x5/2,8x3,max2,12x3,18x3", passes=64),
        last=4_000,
        share=0.1,
        adds=True,  # more accurate on the last 10,000 images, with each of three first models
    ),
    Cascade(
        "usps10",
        "usps10_libsvm.npz",
        first=("protonn", _settings_of("usps10-small") | _AUGMENTED),
        second=("protonn", _settings_of("usps10-gradients-2kB")),
    ),
    Cascade(
        "letter26",
        "letter26.npz",
        first=_forest(10, 12_000),
        second=("protonn", {"n_projections": 12, "n_prototypes": 260}),
    ),
    Cascade(
        "fsdd",
        "fsdd_mfcc.npz",
        first=_forest(15, 5_000),
        second=("protonn", _settings_of("fsdd")),
    ),
    Cascade(
        "har",
        "har_hapt.npz",
        first=_forest(15, 5_000),
        second=("protonn", _settings_of("har")),
        groups="subject_train",
    ),
]
COLUMNS: Columns = [
    ("data", lambda r: r["name"]),
    ("cascade %", lambda r: f"{100 * r['accuracy']:.2f}"),
    ("second %", lambda r: f"{100 * r['second']['accuracy']:.2f}"),
    ("first %", lambda r: f"{100 * r['first']['accuracy']:.2f}"),
    ("passed on %", lambda r: f"{100 * np.mean(r['shares']):.1f}"),
    ("cycles", lambda r: f"{r['cycles']['mean']:,.0f}"),
    ("second alone", lambda r: f"{r['second_cycles']:,.0f}" if r["second_cycles"] else "-"),
    ("times as fast", lambda r: f"{r['faster']:.2f}" if r["faster"] else "-"),
    BOUND_COLUMN,
    ("model B", lambda r: f"{r['model_bytes']:,}"),
    ("flash B", lambda r: f"{r['flash_bytes']:,}"),
    ("SRAM B", lambda r: f"{r['sram_bytes']} + {r['stack_bytes']}"),
    ("mismatches", lambda r: f"{r['mismatches'] + r['lost']}"),
]


def measure_case(
    case: Cascade, dataset: Dataset, seeds: Sequence[int], folder: Path | None
) -> Record:
    """Train both models with each seed, join them, and run the test points."""
    learned, held = case.divided(dataset)
    firsts, seconds = (
        [case.model(part, learned, seed, folder) for seed in seeds] for part in ("first", "second")
    )
    X, y = np.asarray(held.X_train).astype(np.float32), held.y_train
    pairs = zip(firsts, seconds, strict=True)
    cascades = [joined(*pair, X, y, share=case.share, adds=case.adds) for pair in pairs]
    record = run_on_uno(cascades[0], dataset).record
    alone = _cycles_of(seconds[0], dataset)
    accuracies = [integer_accuracy(each, dataset) for each in cascades]
    cycles = record["cycles"]["mean"]
    return record | {
        "name": case.name,
        **over_seeds(accuracies),
        "held_out": [_accuracy(each, X, y) for each in cascades],
        "shares": [_share(each, dataset) for each in cascades],
        "adds": [getattr(each.head, "adds", False) for each in cascades],
        "first": over_seeds([integer_accuracy(each, dataset) for each in firsts]),
        "second": over_seeds([integer_accuracy(each, dataset) for each in seconds]),
        "second_cycles": alone,
        "faster": alone and alone / cycles,
    }


def _accuracy(model: Model, X: np.ndarray, y: np.ndarray) -> float:
    chain = quantize(model)
    return float(np.mean(chain.predict(chain.quantize(X)) == y))


def _cycles_of(model: Model, dataset: Dataset) -> float | None:
    """Return the mean cycles of a model alone for some test points; None if it is too large."""
    some = replace(
        dataset, X_test=np.asarray(dataset.X_test)[:_ALONE], y_test=dataset.y_test[:_ALONE]
    )
    try:
        return float(run_on_uno(model, some).record["cycles"]["mean"])
    except CheckFailed:
        return None


def _share(model: Model, dataset: Dataset) -> float:
    """Return the share of test points that the second model answers."""
    chain = quantize(model)
    stage = chain.own_stages[0]
    assert isinstance(stage, IntegerCascade)
    values = chain.quantize(np.asarray(dataset.X_test))
    for each in (*chain.feature_stages, *stage.first.stages):
        values = each.run(values)
    return float(np.mean(margins(values.astype(np.int64)) < stage.margin))


@click.command()
@click.option("--only", type=click.Choice([case.name for case in CASES]), help="One row.")
@seeds_option
@click.option(
    "--models",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder to keep trained models in.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, seeds: Sequence[int], folder: Path | None, as_json: bool) -> None:
    """Print cascades on an Arduino Uno."""
    rows = chosen(CASES, only)
    records = (measure_case(case, data, seeds, folder) for case, data in rows)
    print_table(records, COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
