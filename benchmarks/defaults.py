"""What plain `train` chooses without being asked: the kind, the clipping and the default forest.

A part of the points is put aside and read once. Of the rest, `train` holds out a fifth, by which it
chooses, as for a user. Classes are judged by the integers (accuracy), and numbers, too (mean
absolute error, as a share of that of always answering the median). `default_sets.py` has the sets.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from unittest import mock

import click
import numpy as np
from columns import Record, figure, named
from default_sets import CLIPS, KINDS, NUMBERS, Parts, divided
from emulated import some_on_board
from numpy.typing import NDArray
from runner import Benchmark, Case
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.division import Division
from protonn_edge.data.points.splits import holdout
from protonn_edge.data.points.values import ValueDataset
from protonn_edge.learn import clipping
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.learn.better_kind import better_kind
from protonn_edge.learn.choices import Choice
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.registry import REGRESSORS

_HELD_OUT = 0.2
_ON_THE_UNO = 100  # points put aside that run on the emulated Uno
_FORESTS = ("digits", "cancer", "wine", "thresholds", "made, 5 classes", "spoken digits")
_UNLIMITED = (
    *(KNeighborsClassifier(n_neighbors=k) for k in (1, 5)),
    *(SVC(C=C) for C in (1, 10)),
    *(LinearSVC(), LogisticRegression(max_iter=1_000)),
    *(LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(reg_param=0.1), GaussianNB()),
    *(kind(200, random_state=0) for kind in (RandomForestClassifier, ExtraTreesClassifier)),
    *(HistGradientBoostingClassifier(random_state=0), MLPClassifier(max_iter=500, random_state=0)),
)


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


def kinds(case: Case, seeds: Sequence[int], unlimited: bool) -> Iterator[Record]:
    """Yield ProtoNN's accuracy on the points put aside, and that of the kind that is taken."""
    for seed in seeds:
        parts = divided(case.given(seed), seed, classes=True)
        names = tuple(map(str, range(int(parts.y.max()) + 1)))
        whole = Dataset(parts.X, parts.y, parts.X[:0], parts.y[:0], names)
        row = _chosen(case, seed, parts, whole, CLASSIFIERS["protonn"], _accuracy)
        yield row | (_best_unlimited(parts) if unlimited else {})


def _best_unlimited(parts: Parts) -> Record:
    """Return the best of models without a limit, picked on the points put aside, in floats."""
    found = {}
    for each in _UNLIMITED:
        model = make_pipeline(StandardScaler(), each).fit(parts.X, parts.y)
        found[str(each)] = 100 * model.score(parts.X_aside, parts.y_aside)
    best = max(found, key=found.__getitem__)
    return {"unlimited": found[best], "its model": best.partition("(")[0]}


def numbers(case: Case, seeds: Sequence[int]) -> Iterator[Record]:
    """Yield ProtoNN's error on the points put aside, and that of the kind that is taken."""
    for seed in seeds:
        parts = divided(case.given(seed), seed, classes=False)
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


_SHARES_BEFORE = (0.0, 0.02, 0.05, 0.1)  # of which `auto` took the best before


def _clip_key(clip: object) -> str:
    return f"clip {clip}".replace(".", "_")


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
            row[_clip_key(clip)] = _accuracy(learner.model_, parts)
            if clip == "auto":
                row["chosen"] = 0.0 if learner.clip_ is None else learner.clip_.share
        learner = CLASSIFIERS["linear"](random_state=seed, clip="auto")
        with mock.patch.multiple(clipping, _SHARES=_SHARES_BEFORE, CHOICE=Choice(by_chance=1.0)):
            learner.fit_accepted(parts.X, parts.y)
        row["before"] = _accuracy(learner.model_, parts)
        row["chosen before"] = 0.0 if learner.clip_ is None else learner.clip_.share
        yield row | {"gain": row[_clip_key("auto")] - row["before"]}


def forests(case: Case) -> Iterator[Record]:
    """Yield the default forest, and ten random trees in 16 kB, on the emulated Uno."""
    parts = divided(case.given(0), 0, classes=True)
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
        (*_OF_KINDS, *_TAKEN, figure("unlimited", "unlimited", ".3g"), *named("its model")),
        kinds,
        seeds=3,
        options=(
            click.option("--unlimited", is_flag=True, help="Fit thirteen models without limits."),
        ),
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
            *named("data", "seed", "chosen before", "chosen"),
            figure("before %", "before", ".2f"),
            *(figure(f"{each} %", _clip_key(each), ".2f") for each in ("auto", 0.0, 0.02, 0.1)),
            figure("gain", "gain", "+.2f"),
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
