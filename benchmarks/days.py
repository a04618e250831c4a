"""How near the accuracy that `train` promises is to that of new recordings, if something drifts.

Recordings are generated: 2 to 8 classes, each recorded in one block of rows or in several, in turn
or in random order; up to six features whose classes differ by nothing to much, and one to three
that drift (a room for each block, a battery, a warm-up, a season, a random walk), with noise. A new
recording is of the same classes, with the drift and the order of another day. Classifiers are
linear ones and forests in turn. Rows without drift are in mixed order, sorted by their class, or in
blocks, with normal or heavy-tailed noise.

points off   mean distance of the promised accuracy from that of three new recordings, in points
within 5     share of recordings in which it is at most 5 points
warned       recordings with a warning about drift; without drift, these are false alarms

"rows" is what rows at random promise (`--holdout-rows`), "blocks" what is held out by default. Of
numbers, the accuracy is 1 less the mean squared error, as a share of the variance of all numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from columns import Record, figure, named
from numpy.typing import NDArray
from runner import Benchmark, Case

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import holdout
from protonn_edge.data.points.values import ValueDataset
from protonn_edge.learn.search.limits import metric_of

_DRIFTS = ("room", "battery", "warm-up", "season", "walk")
_COURSES = ("walk", "season", "steps")  # of numbers
_NEW_DAYS = 3
_NEAR = 0.05
_KINDS = ("linear", "forest")

Points = tuple[NDArray[np.float32], NDArray[Any]]


def _drift(kind: str, n: int, scale: float, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return the course (n,) of a quantity that drifts on a day."""
    t = np.arange(n) / n
    if kind == "warm-up":
        return np.asarray(scale * (1 - np.exp(-t / generator.uniform(0.2, 1))))
    if kind == "battery":
        return np.asarray(-scale * t ** generator.uniform(0.7, 1.5))
    if kind == "season":
        phase = t * generator.uniform(0.3, 1.5) + generator.random()
        return np.asarray(scale * np.sin(2 * np.pi * phase))
    return np.asarray(scale * np.cumsum(generator.normal(size=n)) / np.sqrt(n))


class Recordings:
    """Recordings of the same classes, or numbers, on several days; see the module's text."""

    def __init__(self, seed: int, *, blocks: tuple[int, ...], of_numbers: bool, drifts: bool):
        generator = np.random.default_rng((seed, len(blocks), of_numbers, drifts))
        self.seed, self.of_numbers, self.drifts = seed, of_numbers, drifts
        self.n_classes, self.rows = (int(generator.integers(*each)) for each in ((2, 9), (60, 300)))
        width = int(generator.integers(1, 7))
        apart = generator.choice([0, 0.5, 1, 2, 4])
        self.means = apart * generator.normal(size=(self.n_classes, width))
        self.kind, self.course = str(generator.choice(_DRIFTS)), str(generator.choice(_COURSES))
        if of_numbers and self.kind == "room":
            self.kind = "walk"
        self.n_drifting = int(generator.integers(1, 4)) if drifts else 0
        self.scale = float(np.exp(generator.uniform(0, np.log(40))))
        self.blocks, self.in_turn = int(generator.choice(blocks)), generator.random() < 0.6
        self.order = str(generator.choice(["mixed", "sorted", "blocks"]))
        self.is_heavy = generator.random() < 0.3

    def of_day(self, day: int) -> Points:
        """Return points (n, D) and labels (n,) of a day."""
        generator = np.random.default_rng((self.seed, day, 1))
        y = self._numbers(generator) if self.of_numbers else self._classes(generator)
        means = np.outer(y, self.means[0]) if self.of_numbers else self.means[y]
        noise = generator.standard_t(2, means.shape) if self.is_heavy and not self.drifts else None
        X = means + (generator.normal(size=means.shape) if noise is None else noise)
        starts = 0.15 * self.scale * generator.normal(size=self.n_drifting)
        columns = [X, *(self._drifting(y, start, generator)[:, None] for start in starts)]
        return np.hstack(columns).astype(np.float32), y

    def _drifting(self, y: NDArray[Any], start: float, generator: np.random.Generator) -> Any:
        noise = generator.normal(size=len(y))
        if self.kind != "room":
            return start + _drift(self.kind, len(y), self.scale, generator) + noise
        block = np.concatenate([[0], np.cumsum(y[1:] != y[:-1])])
        within = np.arange(len(y)) / len(y) * 0.3 * self.scale
        return self.scale / 3 * generator.normal(size=block[-1] + 1)[block] + within + noise

    def _classes(self, generator: np.random.Generator) -> NDArray[np.int64]:
        every, blocks = np.arange(self.n_classes), self.blocks
        if not self.drifts and self.order != "blocks":
            y = np.repeat(every, self.rows)
            return generator.permutation(y) if self.order == "mixed" else y
        order = generator.permutation(np.repeat(every, blocks))
        if self.in_turn or blocks == 1:
            order = np.concatenate([generator.permutation(every) for _ in range(blocks)])
        return np.repeat(order, max(10, self.rows // blocks))

    def _numbers(self, generator: np.random.Generator) -> NDArray[np.float64]:
        n = 4 * self.rows
        if not self.drifts:
            y = generator.normal(size=n)
            return y if self.order == "mixed" else np.sort(y)
        if self.course == "steps":
            return np.repeat(2 * generator.normal(size=8), n // 8)
        return _drift(self.course, n, 2, generator)


def _dataset(points: Points) -> Dataset:
    X, y = points
    if y.dtype.kind == "f":
        parts: Any = {"X_train": X, "X_test": X[:0], "y_train": y[:, None], "y_test": y[:0, None]}
        return ValueDataset(**parts, classes=("value",))
    names = tuple(map(str, range(int(y.max()) + 1)))
    return Dataset(X_train=X, y_train=y, X_test=X[:0], y_test=y[:0], classes=names)


def _promise(dataset: Dataset, kind: str, new: Points) -> float:
    """Return how far the promised accuracy of a classifier is above that of new days."""
    learner = metric_of(dataset, "accuracy").estimators[kind](random_state=0)
    model = learner.fit(dataset.X_train, dataset.as_targets(dataset.y_train)).to_model()

    def accuracy(X: Any, y: NDArray[Any]) -> float:
        answers = model.predict(X)
        if y.dtype.kind != "f":
            return float((answers == y).mean())
        return max(-1.0, float(1 - np.square(answers - y).mean() / dataset.y_train.var()))

    return accuracy(dataset.X_test, dataset.as_targets(dataset.y_test)) - accuracy(*new)


def measure(case: Case, seeds: range) -> Iterator[Record]:
    """Yield the row of some recordings."""
    off: list[tuple[float, float]] = []
    warned = 0
    for seed in seeds:
        days = Recordings(seed, **case.given)
        dataset = _dataset(days.of_day(0))
        held = holdout(dataset, 0.2, 0)
        warned += bool(held.notices)
        if not days.drifts:
            continue
        parts = zip(*(days.of_day(day) for day in range(1, _NEW_DAYS + 1)), strict=True)
        new: Any = tuple(np.concatenate(part) for part in parts)
        kind = _KINDS[seed % len(_KINDS)]
        by_rows = _promise(holdout(dataset, 0.2, 0, by_rows=True), kind, new)
        off.append((by_rows, _promise(held, kind, new) if held.notices else by_rows))
    record: Record = {"recordings": case.name, "n": len(seeds), "warned": warned}
    if off:
        far = np.abs(off)
        record |= {"off": (100 * far.mean(axis=0)).tolist()}
        record |= {"near": (100 * (far <= _NEAR).mean(axis=0)).tolist()}
    yield record


def _case(name: str, *blocks: int, of_numbers: bool = False, drifts: bool = True) -> Case:
    return Case(name, {"blocks": blocks, "of_numbers": of_numbers, "drifts": drifts})


BENCHMARKS = {
    "days": Benchmark(
        "The promised accuracy of recordings that drift beside that of other days.",
        (
            _case("one-block", 1),
            _case("several-blocks", 2, 3, 5),
            _case("numbers", 1, of_numbers=True),
            _case("without-drift", 1, drifts=False),
            _case("numbers-without-drift", 1, of_numbers=True, drifts=False),
        ),
        (
            *named("recordings", "n", "warned"),
            figure("points off: rows > blocks", "off", "{0[0]:.1f} > {0[1]:.1f}".format),
            figure("within 5 %: rows > blocks", "near", "{0[0]:.0f} > {0[1]:.0f}".format),
        ),
        measure,
        seeds=100,
    ),
}
