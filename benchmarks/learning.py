"""Integer models on skewed and ordinary features: forests, ProtoNN, linear and dense classifiers.

    python benchmarks/learning.py [--only NAME] [--seeds N] [--beside FOLDER] [--json]

prints one row a data set: for each learner, the accuracy of its integers on test points and, for
forests, that of scikit-learn's forest with as many trees in floats (for adaboost, a random forest);
on few points, both are means of four random states, because chance moves a forest by points. Then
what `clip="auto"` chose for ProtoNN, and in how many runs a forest was named on a fifth of the
training part: right ones, in which the forest is better on the test points, too, and false ones.
A star marks forests that the budget of 16,000 B cut in some run.

--beside names an older checkout: its accuracy comes first in each cell, and the CPU time is that of
all trainings together, as a multiple of the older one's.

The points are drawn here or come with scikit-learn; the last rows are files in the folder that
PROTONN_EDGE_DATA names (default ../shared/data), and are left out without them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from printing import Columns, Record, print_table
from rows import DATA
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
    make_classification,
    make_moons,
)
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from protonn_edge import LinearClassifier
from protonn_edge.data.dataset import Dataset
from protonn_edge.data.division import Division
from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.kinds.forest.train import ForestClassifier
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.lazy import later

_better_kind = later("protonn_edge.learn.advice", "better_kind")

Split = tuple[Any, Any, Any, Any]  # X and y for training, X and y for testing

_HELD_OUT = 0.2
_SEEDS = 3
_NEARLY_FULL = 15_000  # bytes of trees that are grown to the budget of 16,000
_FORESTS, _FEW_POINTS = 4, 4_000  # random states of each forest, if points are few


def _split(X: Any, y: Any, seed: int, test: float = 0.3) -> Split:
    given = X.astype(np.float32), np.unique(y, return_inverse=True)[1]
    X, X_test, y, y_test = train_test_split(
        *given, test_size=test, random_state=seed, stratify=given[1]
    )
    return X, y, X_test, y_test


def _lognormal(seed: int) -> Split:
    Z = np.random.default_rng(200 + seed).normal(size=(1200, 12)) * 2
    return _split(np.exp(Z), Z[:, 0] + Z[:, 1] - Z[:, 2] > 0, seed)


def _sigma(sigma: float, seed: int) -> Split:
    Z = np.random.default_rng(100 + seed).normal(size=(2400, 6))
    return _split(np.exp(sigma * Z), Z[:, 0] + Z[:, 1] - Z[:, 2] > 0, seed)


def _heavy(seed: int) -> Split:
    X, y = make_classification(1000, 8, n_informative=5, random_state=4 + seed)
    return _split(np.sign(X) * np.expm1(2.5 * np.abs(X)) / 1e4, y, seed)


def _cauchy(seed: int) -> Split:
    X = np.random.default_rng(300 + seed).standard_cauchy((800, 6))
    return _split(X, np.arctan(X[:, 0]) + np.arctan(X[:, 1]) > 0, seed)


def _tails(seed: int) -> Split:
    """Return points of which rare, large values of a feature decide about 12 %."""
    rng, n = np.random.default_rng(400 + seed), 3000
    X, rare = rng.normal(size=(n, 4)), rng.random(n) < 0.12
    X[rare, 0] = rng.uniform(50, 1000, rare.sum())
    return _split(X, np.where(rare, 2 + (X[:, 0] > 500), X[:, 1] > 0), seed)


def _tails2(seed: int) -> Split:
    """Return points with rare values at both ends of a feature whose sign decides the others."""
    rng, n = np.random.default_rng(500 + seed), 3000
    X, rare = rng.normal(size=(n, 4)), rng.random(n) < 0.06
    sign = np.where(rng.random(rare.sum()) < 0.5, 1, -1)
    X[rare, 0] = sign * rng.uniform(50, 1000, rare.sum())
    return _split(X, np.where(rare, 2 + (np.abs(X[:, 0]) > 500), X[:, 0] > 0), seed)


def _checkerboard(seed: int) -> Split:
    X = np.random.default_rng(600 + seed).random((4000, 2)) * 4
    return _split(X, np.floor(X).sum(axis=1) % 2, seed, test=0.675)


def _steps60(seed: int) -> Split:
    X = np.random.default_rng(700 + seed).random((4000, 60))
    return _split(X, (X[:, 3] > 0.6) + 2 * (X[:, 17] > 0.5), seed, test=0.675)


def _spirals(seed: int) -> Split:
    rng, n = np.random.default_rng(800 + seed), 3000
    y, radius = rng.integers(0, 3, n), rng.random(n)
    angle = 2 * np.pi * (y / 3 + 1.25 * radius)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _split(X + rng.normal(0, 0.015, (n, 2)), y, seed)


def _xor8(seed: int) -> Split:
    rng = np.random.default_rng(900 + seed)
    X = rng.normal(size=(2000, 8))
    return _split(X, (X[:, 0] > 0) ^ (X[:, 1] > 0), seed)


def _imbalanced(seed: int) -> Split:
    X, y = make_classification(2000, 10, n_informative=6, weights=[0.93], random_state=seed)
    return _split(X, y, seed)


def _loaded(load: Callable[..., Any], seed: int) -> Split:
    X, y = load(return_X_y=True)
    return _split(X, y, seed)


def _made(make: Callable[..., Any], settings: dict[str, Any], seed: int) -> Split:
    X, y = make(random_state=seed, **settings)
    return _split(X, y, seed)


def _file(name: str, _seed: int) -> Split:
    with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
        X, y, X_test, y_test = (file[each] for each in ("X_train", "y_train", "X_test", "y_test"))
    classes = np.unique(y)
    parts = (X.reshape(len(X), -1), y, X_test.reshape(len(X_test), -1), y_test)
    X, y, X_test, y_test = (part.astype(np.float32) if part.ndim == 2 else part for part in parts)
    return X, np.searchsorted(classes, y), X_test, np.searchsorted(classes, y_test)


_SKEWED: dict[str, Callable[[int], Split]] = {
    "lognormal": _lognormal,
    "heavy": _heavy,
    "cauchy": _cauchy,
    **{f"sigma{sigma:g}": partial(_sigma, sigma) for sigma in (1, 1.5, 2)},
    "tails": _tails,
    "tails2": _tails2,
    "checkerboard": _checkerboard,
    "steps60": _steps60,
    "spirals": _spirals,
}
_ORDINARY: dict[str, Callable[[int], Split]] = {
    "iris": partial(_loaded, load_iris),
    "wine": partial(_loaded, load_wine),
    "cancer": partial(_loaded, load_breast_cancer),
    "digits": partial(_loaded, load_digits),
    "moons": partial(_made, make_moons, {"n_samples": 1000, "noise": 0.2}),
    "circles": partial(_made, make_circles, {"n_samples": 1000, "noise": 0.1, "factor": 0.6}),
    "blobs": partial(_made, make_blobs, {"n_samples": 1000, "centers": 5, "cluster_std": 2.0}),
    "xor8": _xor8,
    "imbalanced": _imbalanced,
}
_FILES = (
    *("wifi_rooms", "occupancy", "har_hapt", "usps10", "letter26"),
    *("watch_exercise", "gesturepod_blocks"),
)
_CASES: dict[str, Callable[[int], Split]] = {
    **_SKEWED,
    **_ORDINARY,
    **{name: partial(_file, name) for name in _FILES},
}

# what learns, and scikit-learn's forest with as many trees
_LEARNERS: dict[str, tuple[Any, Any]] = {
    "forest": (ForestClassifier, partial(RandomForestClassifier, 10)),
    "extra": (partial(ForestClassifier, ensemble="extra", n_trees=20),
              partial(ExtraTreesClassifier, 20)),
    "boosting": (partial(ForestClassifier, ensemble="boosting", n_trees=20),
                 partial(GradientBoostingClassifier, n_estimators=20)),
    "adaboost": (partial(ForestClassifier, ensemble="adaboost", n_trees=20),
                 partial(RandomForestClassifier, 20)),
    "ProtoNN": (ProtoNNClassifier, None),
    "linear": (LinearClassifier, None),
    "dense": (DenseClassifier, None),
}  # fmt: skip


def _right(classifier: Any, X: Any, y: Any) -> float:
    integers = quantize(classifier.model_)
    return float(np.mean(integers.predict(integers.quantize(X)) == y))


def measured(name: str, seeds: int) -> Record:
    """Return the figures of a data set, means of some seeds."""
    each: dict[str, list[float]] = {}
    cpu, clips, told, cut = 0.0, list[Any](), {"right": 0, "false": 0}, set[str]()
    draw = _CASES[name]
    for seed in range(seeds):
        X, y, X_test, y_test = draw(seed)
        for learner, (kind, peer) in _LEARNERS.items():
            repeated = _FORESTS if peer is not None and len(y) < _FEW_POINTS else 1
            for state in range(seed, seed + repeated):
                began = time.process_time()
                classifier = kind(random_state=state).fit(X, y)
                cpu += (time.process_time() - began) / repeated
                each.setdefault(learner, []).append(_right(classifier, X_test, y_test))
                cut |= _cut_by_budget(classifier.model_, learner)
                if peer is not None:
                    floats = peer(random_state=state).fit(X, y)
                    each.setdefault(f"{learner}, floats", []).append(floats.score(X_test, y_test))
            if learner == "ProtoNN":
                clips.append(getattr(getattr(classifier, "clip_", None), "share", None))
        if (better := _named_forest(X, y, X_test, y_test, seed)) is not None:
            told["right" if better else "false"] += 1
    shares = {learner: float(np.mean(shares)) for learner, shares in each.items()}
    facts = {"cpu_s": cpu, "clips": clips, "told": told, "cut": sorted(cut)}
    return {"name": name, "seeds": seeds, **facts, **shares}


def _cut_by_budget(model: Model, learner: str) -> set[str]:
    """Return the learner if its trees were cut to the budget of bytes."""
    facts = model.record.get("ccp_alpha"), model.record.get("rounds")
    limited = quantize(model).model_bytes > _NEARLY_FULL and learner == "adaboost"
    return {learner} if limited or any(fact is not None for fact in facts) else set()


def _named_forest(X: Any, y: Any, X_test: Any, y_test: Any, seed: int) -> bool | None:
    """Return whether the forest that `train` names is better on test points, or None."""
    X, y, X_held_out, y_held_out = _split(X, y, seed, _HELD_OUT)
    classes = tuple(map(str, range(int(y.max()) + 1)))
    held_out = Division("", share=_HELD_OUT)
    dataset = Dataset(X, y, X_held_out, y_held_out, classes, division=held_out)
    try:
        advised = _better_kind
        learned = ProtoNNClassifier(random_state=seed).fit(X, y)
        if advised(learned.model_, dataset, seed) is None:
            return None
    except ModuleNotFoundError:  # in an older checkout
        return None
    forest = ForestClassifier(random_state=seed).fit(X, y)
    return _right(forest, X_test, y_test) > _right(learned, X_test, y_test)


def _beside(record: Record, folder: Path) -> Record:
    """Return a record with the figures of an older checkout."""
    command = [sys.executable, __file__, "--only", record["name"], "--json"]
    given = {**os.environ, "PYTHONPATH": str(folder)}
    options = ["--seeds", str(record["seeds"])]
    done = subprocess.run([*command, *options], env=given, check=True, stdout=subprocess.PIPE)
    return {**record, "before": json.loads(done.stdout)}


def _cell(learner: str) -> Callable[[Record], str]:
    def cell(record: Record) -> str:
        text = f"{100 * record[learner]:.1f}"
        if "before" in record:
            text = f"{100 * record['before'][learner]:.1f} > {text}"
        floats = record.get(f"{learner}, floats")
        mark = "*" if learner in record["cut"] else ""
        return text if floats is None else f"{text}{mark} ({100 * floats:.1f})"

    return cell


def _clips(record: Record) -> str:
    return ", ".join("-" if share is None else f"{share:g}" for share in record["clips"])


def _cpu(record: Record) -> str:
    before = record.get("before")
    times = "" if before is None else f", {record['cpu_s'] / before['cpu_s']:.2f} x"
    return f"{record['cpu_s']:.1f} s{times}"


_COLUMNS: Columns = (
    ("data", lambda record: record["name"]),
    *((f"{learner} %", _cell(learner)) for learner in _LEARNERS),
    ("clip", _clips),
    ("told, false", lambda record: "{right}, {false}".format(**record["told"])),
    ("CPU", _cpu),
)


@click.command()
@click.option("--only", type=click.Choice([*_CASES]), help="One row.")
@click.option("--seeds", default=_SEEDS, show_default=True)
@click.option("--beside", type=click.Path(path_type=Path), help="An older checkout.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, seeds: int, beside: Path | None, as_json: bool) -> None:
    """Print the accuracy of integer models on skewed and ordinary features."""
    warnings.simplefilter("ignore", ConvergenceWarning)

    def rows() -> Iterator[Record]:
        for name in _CASES:
            is_there = name not in _FILES or (DATA / f"{name}.npz").is_file()
            if is_there and only in (None, name):
                record = measured(name, seeds)
                yield record if beside is None else _beside(record, beside)

    print_table(rows(), _COLUMNS, as_json)


if __name__ == "__main__":
    main()
