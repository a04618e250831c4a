"""What plain `train` chooses without being asked: the kind, the clipping and the default forest.

A part of the points is put aside and read once. Of the rest, `train` holds out a fifth, by which it
chooses, as for a user. Classes are judged by the integers (accuracy), and numbers, too (mean
absolute error, as a share of that of always answering the median).

The sets are generated, or come with scikit-learn; the others are read from PROTONN_EDGE_DATA. None
of them chose a constant of the rules. The generated devices differ by the gains of their features.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from columns import Record, figure, named
from emulated import some_on_board
from numpy.typing import NDArray
from runner import Benchmark, Case
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_classification,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_moons,
    make_regression,
    make_sparse_uncorrelated,
)
from sklearn.model_selection import train_test_split
from trained import DATA

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.division import Division
from protonn_edge.data.points.splits import holdout
from protonn_edge.data.points.values import ValueDataset
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.learn.better_kind import better_kind
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.registry import REGRESSORS

Points = tuple[NDArray[Any], NDArray[Any]]
_ASIDE, _HELD_OUT = 0.3, 0.2
_MOST = 3_000  # points of a set
_ON_THE_UNO = 100  # points put aside that run on the emulated Uno
_FORESTS = ("digits", "cancer", "wine", "thresholds", "made, 5 classes", "spoken digits")


class Parts(NamedTuple):
    """Points to train on, and those put aside."""

    X: NDArray[np.float32]
    y: NDArray[Any]
    X_aside: NDArray[np.float32]
    y_aside: NDArray[Any]


def _divided(points: Points, seed: int, *, classes: bool) -> Parts:
    X, y = points
    rows = np.random.default_rng(seed).permutation(len(y))[:_MOST]
    X, y = X[rows].astype(np.float32), y[rows]
    if classes:
        y = np.unique(y, return_inverse=True)[1]
    X, aside, y, y_aside = train_test_split(
        X, y, test_size=_ASIDE, random_state=seed, stratify=y if classes else None
    )
    return Parts(X, y, aside, y_aside)


def _of_file(name: str) -> Any:
    def load(_: int) -> Points:
        arrays = np.load(DATA / name, allow_pickle=False)
        X = np.concatenate([arrays["X_train"], arrays["X_test"]])
        return X.reshape(len(X), -1), np.concatenate([arrays["y_train"], arrays["y_test"]])

    return load


def _made(n: int, informative: int, classes: int, clusters: int = 2, noise: float = 0.05) -> Any:
    def make(seed: int) -> Points:
        found: Points = make_classification(
            n,
            20,
            n_informative=informative,
            n_redundant=2,
            n_classes=classes,
            n_clusters_per_class=clusters,
            flip_y=noise,
            class_sep=0.8,
            random_state=seed,
        )
        return found

    return make


def _thresholds(seed: int) -> Points:
    """Return switches and states: the class depends on which ranges two features are in."""
    rng = np.random.default_rng(seed)
    X = rng.random((1_500, 8)) * [1, 10, 100, 1, 1, 1, 5, 5]
    y = (np.floor(X[:, 0] * 4) + np.floor(X[:, 1] / 3)) % 3
    return X, np.where(rng.random(1_500) < 0.05, rng.integers(3, size=1_500), y).astype(int)


def _rule(seed: int) -> Points:
    """Return a number that steps with thresholds of two of eight features."""
    rng = np.random.default_rng(seed)
    X = rng.random((1_500, 8))
    levels = rng.normal(size=(5, 4))
    y = levels[np.floor(5 * X[:, 0]).astype(int), np.floor(4 * X[:, 1]).astype(int)]
    return X, y + rng.normal(0, 0.2, 1_500)


KINDS = (
    *(
        Case(name, lambda _, load=load: load(return_X_y=True))
        for name, load in (("digits", load_digits), ("cancer", load_breast_cancer))
    ),
    Case("wine", lambda _: load_wine(return_X_y=True)),
    Case("moons", lambda seed: make_moons(1_500, noise=0.25, random_state=seed)),
    Case("quantiles", lambda s: make_gaussian_quantiles(n_samples=2_000, n_features=6,
                                                        n_classes=3, random_state=s)),
    Case("hastie", lambda seed: make_hastie_10_2(2_000, random_state=seed)),
    Case("thresholds", _thresholds),
    Case("made, 2 classes", _made(1_500, 5, 2)),
    Case("made, linear", _made(1_200, 10, 2, clusters=1, noise=0.2)),
    Case("made, noisy", _made(2_000, 6, 2, noise=0.3)),
    Case("made, 5 classes", _made(3_000, 8, 5)),
    Case("made, few points", _made(600, 6, 3)),
    Case("mnist", _of_file("mnist10.npz"), "mnist10.npz"),
    Case("spoken digits", _of_file("fsdd_mfcc.npz"), "fsdd_mfcc.npz"),
)  # fmt: skip

NUMBERS = (
    Case("diabetes", lambda _: load_diabetes(return_X_y=True)),
    Case("friedman1", lambda seed: make_friedman1(2_000, noise=1, random_state=seed)),
    Case("friedman2", lambda seed: make_friedman2(2_000, noise=50, random_state=seed)),
    Case("friedman3", lambda seed: make_friedman3(2_000, noise=0.1, random_state=seed)),
    Case("sparse", lambda seed: make_sparse_uncorrelated(1_500, 20, random_state=seed)),
    Case("linear", lambda seed: make_regression(1_000, 30, n_informative=12, noise=60,
                                                random_state=seed)),
    Case("steps", _rule),
)  # fmt: skip


def _answers(model: Model, X: NDArray[np.float32]) -> NDArray[Any]:
    """Return the answers (n,) of integers to points (n, D): classes or numbers."""
    chain = quantize(model)
    scores = chain.scores(chain.quantize(X))
    values = chain.policy.values(scores)
    return scores.argmax(axis=1) if values is None else values


def _accuracy(model: Model, parts: Parts) -> float:
    return 100 * float(np.mean(_answers(model, parts.X_aside) == parts.y_aside))


def _relative_error(model: Model, parts: Parts) -> float:
    guess = np.abs(parts.y_aside - np.median(parts.y)).mean()
    return float(np.abs(_answers(model, parts.X_aside) - parts.y_aside).mean() / guess)


def kinds(case: Case, seeds: Sequence[int]) -> Iterator[Record]:
    """Yield ProtoNN's accuracy on the points put aside, and that of the kind that is taken."""
    for seed in seeds:
        parts = _divided(case.given(seed), seed, classes=True)
        names = tuple(map(str, range(int(parts.y.max()) + 1)))
        whole = Dataset(parts.X, parts.y, parts.X[:0], parts.y[:0], names)
        yield _chosen(case, seed, parts, whole, CLASSIFIERS["protonn"], _accuracy)


def numbers(case: Case, seeds: Sequence[int]) -> Iterator[Record]:
    """Yield ProtoNN's error on the points put aside, and that of the kind that is taken."""
    for seed in seeds:
        parts = _divided(case.given(seed), seed, classes=False)
        y = parts.y[:, None].astype(np.float64)
        whole = ValueDataset(parts.X, y, parts.X[:0], y[:0], ("number",))
        yield _chosen(case, seed, parts, whole, REGRESSORS["protonn"], _relative_error)


def _chosen(case: Case, seed: int, parts: Parts, whole: Dataset, kind: Any, judged: Any) -> Record:
    """Return the row of a set: what `train` trains, and what it takes."""
    warnings.simplefilter("ignore")
    dataset = holdout(replace(whole, division=Division("")), _HELD_OUT, seed)
    learner = kind(random_state=seed)
    begun = time.process_time()
    learner.fit_accepted(dataset.X_train, dataset.as_targets(dataset.y_train))
    trained = time.process_time()
    better = better_kind(learner, dataset, seed)
    spent = time.process_time() - trained
    taken = learner if better is None else better.learner
    figures = [judged(each.model_, parts) for each in (learner, taken)]
    return {
        "data": case.name,
        "seed": seed,
        "held out": len(dataset.y_test),
        "protonn": figures[0],
        "kind": taken.model_.head.kind,
        "taken": figures[1],
        "gain": figures[1] - figures[0],
        "training s": trained - begun,
        "trials s": spent,
    }


def _devices(seed: int) -> Parts:
    """Return skewed points, and points of other devices: each has its own gain of a feature."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(3, 6))

    def of_devices(first: int, devices: int) -> Points:
        Z = rng.normal(size=(devices * 100, 6))
        gains = np.exp(rng.normal(0, 0.15 if first else 0.05, (devices, 6))).repeat(100, axis=0)
        y = (Z @ directions.T + rng.gumbel(0, 0.5, (len(Z), 3))).argmax(axis=1)
        return np.sign(Z) * np.expm1(2.0 * np.abs(Z)) * gains, y

    return Parts(*(part for first in (0, 1) for part in of_devices(first, 6)))


def clips(case: Case, seeds: Sequence[int]) -> Iterator[Record]:
    """Yield the accuracy of a linear model on a test part of other devices, people or days."""
    warnings.simplefilter("ignore")
    for seed in seeds if case.file == "" else seeds[:1]:
        X, y, X_aside, y_aside = case.given(seed)
        parts = Parts(X.astype(np.float32), y, X_aside.astype(np.float32), y_aside)
        row: Record = {"data": case.name, "seed": seed}
        for clip in ("auto", 0.0, 0.02, 0.1):
            learner = CLASSIFIERS["linear"](random_state=seed, clip=clip)
            learner.fit_accepted(parts.X, parts.y)
            row[f"clip {clip}"] = _accuracy(learner.model_, parts)
            if clip == "auto":
                row["chosen"] = 0.0 if learner.clip_ is None else learner.clip_.share
        yield row


def _given_parts(name: str) -> Any:
    def load(_: int) -> Any:
        arrays = np.load(DATA / name, allow_pickle=False)
        return [arrays[each] for each in ("X_train", "y_train", "X_test", "y_test")]

    return load


CLIPS = (
    Case("other devices, generated", _devices),
    *(
        Case(name.removesuffix(".npz"), _given_parts(name), name)
        for name in ("har_hapt.npz", "watch_exercise.npz", "gesturepod_blocks.npz", "occupancy.npz")
    ),
)


def forests(case: Case) -> Iterator[Record]:
    """Yield the default forest, and ten random trees in 16 kB, on the emulated Uno."""
    parts = _divided(case.given(0), 0, classes=True)
    before: dict[str, Any] = {"ensemble": "random", "n_trees": 10, "size_budget": 16_000}
    for name, settings in {"10 random trees": before, "default": {}}.items():
        model = CLASSIFIERS["forest"](random_state=0, **settings).fit(parts.X, parts.y).model_
        measured = some_on_board(model, parts.X_aside[:_ON_THE_UNO])
        yield {"data": case.name, "forest": name, "accuracy": _accuracy(model, parts), **measured}


_OF_KINDS = (*named("data", "seed", "held out"), figure("ProtoNN", "protonn", ".3g"))
_TAKEN = (*named("kind"), figure("taken", "taken", ".3g"), figure("gain", "gain", "+.3g"))

BENCHMARKS = {
    "default_kind": Benchmark(
        "The kind that `train` takes automatically: accuracy (%) on points put aside.",
        KINDS,
        (*_OF_KINDS, *_TAKEN),
        kinds,
        seeds=3,
    ),
    "default_number": Benchmark(
        "The same for numbers: mean absolute error relative to always answering the median.",
        NUMBERS,
        (*_OF_KINDS, *_TAKEN),
        numbers,
        seeds=3,
    ),
    "default_clip": Benchmark(
        "The share that `--clip auto` takes, and the accuracy (%) on other devices and days.",
        CLIPS,
        (
            *named("data", "seed", "chosen"),
            *(figure(f"{each} %", f"clip {each}", ".2f") for each in ("auto", 0.0, 0.02, 0.1)),
        ),
        clips,
        seeds=3,
    ),
    "default_forest": Benchmark(
        "The default forest and ten random trees on the emulated Uno.",
        tuple(case for case in KINDS if case.name in _FORESTS),
        (
            *named("data", "forest"),
            figure("accuracy %", "accuracy", ".2f"),
            figure("cycles", "cycles", ",.0f"),
            *named("flash", "differ"),
        ),
        forests,
    ),
}
