"""A row: a data set and the settings of a classifier for it; and its models, once trained."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from columns import Record
from emulated import Beside, OnUno, run_on_uno
from threadpoolctl import threadpool_info

from protonn_edge.codegen.projects.project import BuildOptions
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.roles.groups import with_groups
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.learn.folds import fold_numbers
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

DATA = Path(
    os.environ.get("PROTONN_EDGE_DATA", Path(__file__).parents[1] / ".." / "shared" / "data")
)


@dataclass(frozen=True)
class Row:
    """A classifier for a data set.

    Attributes
    ----------
    file : str or None
        A name in the folder of the data; None for scikit-learn's digits.
    groups : str, optional
        The file's array with the person of each training point.
    part : callable, optional
        What is made of the data set before anything else, such as two classes of ten.
    divided : callable, optional
        The data set of a seed, if each has its own.
    tested : callable, optional
        The points that run on the Uno, as the test part; by default the test part.
    build : BuildOptions
        What narrows the choice of a plan.
    beside : callable, optional
        What else is measured of the build.
    about : dict
        What columns show beside the measurements.
    """

    name: str
    file: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    kind: str = field(default="protonn", kw_only=True)
    groups: str | None = field(default=None, kw_only=True)
    part: Callable[[Dataset], Dataset] | None = field(default=None, kw_only=True)
    divided: Callable[[Dataset, int], Dataset] | None = field(default=None, kw_only=True)
    tested: Callable[[Dataset], Dataset] | None = field(default=None, kw_only=True)
    build: BuildOptions = field(default_factory=BuildOptions, kw_only=True)
    beside: Beside | None = field(default=None, kw_only=True)
    about: dict[str, Any] = field(default_factory=dict, kw_only=True)

    def dataset(self) -> Dataset:
        """Return the data set."""
        return self.whole() if self.part is None else self.part(self.whole())

    def whole(self) -> Dataset:
        """Return what the file has."""
        if self.file is None:
            return load_digits_dataset()
        path = DATA / self.file
        dataset = load_dataset(path)
        return dataset if self.groups is None else with_groups(dataset, self.groups, path)

    def train(self, dataset: Dataset, seed: int) -> Model:
        """Return the trained model."""
        # of the tests, which only run.py makes importable
        from trainings import estimator_with

        classifier = estimator_with(self.kind, self.settings)(random_state=seed, **self.settings)
        classifier.fit(dataset.X_train, dataset.y_train, groups=dataset.groups)
        model: Model = classifier.to_model(classes=dataset.classes)
        return model

    def changed(self, **settings: Any) -> Row:
        """Return the row with other settings."""
        return replace(self, settings=self.settings | settings)


class Trained:
    """A row with its models, one a seed; what a column asks for is measured once, of the first."""

    def __init__(self, row: Row, dataset: Dataset, seeds: Sequence[int]) -> None:
        begin = time.perf_counter()
        self.row, self.name = row, row.name
        self.datasets = [row.divided(dataset, seed) if row.divided else dataset for seed in seeds]
        pairs = zip(self.datasets, seeds, strict=True)
        self.models = [row.train(part, seed) for part, seed in pairs]
        self.seconds = (time.perf_counter() - begin) / len(seeds)
        self.dataset, self.model = self.datasets[0], self.models[0]

    @cached_property
    def accuracies(self) -> list[float]:
        """The accuracy of the integers on the test part, 0..1, for each seed."""
        pairs = zip(self.models, self.datasets, strict=True)
        return [integer_accuracy(model, part) for model, part in pairs]

    @property
    def float_accuracy(self) -> float:
        """The accuracy in floats, the mean of all seeds."""
        pairs = zip(self.models, self.datasets, strict=True)
        return float(
            np.mean([share_right(m.predict(np.asarray(d.X_test)), d.y_test) for m, d in pairs])
        )

    @cached_property
    def integers(self) -> IntegerChain:
        """The integer model."""
        return quantize(self.model)

    @cached_property
    def on_uno(self) -> OnUno:
        """What came of it on the emulated Uno."""
        row, dataset = self.row, self.dataset
        tested = dataset if row.tested is None else row.tested(dataset)
        return run_on_uno(self.model, tested, row.build, row.beside)

    @property
    def uno(self) -> Record:
        """What was measured there."""
        return self.on_uno.record

    def record(self, values: Record) -> Record:
        """Return the values of columns for JSON."""
        return {"name": self.name, **values, "trained_on": trained_on()}


def integer_accuracy(model: Model, dataset: Dataset) -> float:
    """Return the accuracy of a model's integers on the test part, 0..1."""
    integers = quantize(model)
    return share_right(integers.predict(integers.quantize(dataset.X_test)), dataset.y_test)


def trained_on() -> str:
    """Return what sums of floats depend on: the processor, and the loops chosen for it."""
    libraries = [each for each in threadpool_info() if each["user_api"] == "blas"]
    loops = {f"{each['internal_api']} ({each.get('architecture')})" for each in libraries}
    described = Path("/proc/cpuinfo")  # Linux'
    lines = described.read_text("utf-8").splitlines() if described.is_file() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    processor = names[0] if names else platform.processor() or platform.machine()
    return ", ".join([processor, f"NumPy {np.__version__}", *sorted(loops)])


def in_two(split: int) -> Callable[[Dataset], Dataset]:
    """Return what makes two classes: the labels below a number, and the others."""

    def part(dataset: Dataset) -> Dataset:
        return replace(
            dataset,
            y_train=(dataset.y_train >= split).astype(np.int64),
            y_test=(dataset.y_test >= split).astype(np.int64),
            classes=(f"below {split}", f"from {split}"),
        )

    return part


def first_tested(count: int) -> Callable[[Dataset], Dataset]:
    """Return what keeps the first test points."""
    return lambda dataset: replace(
        dataset, X_test=dataset.X_test[:count], y_test=dataset.y_test[:count]
    )


def held_out_in_turn(dataset: Dataset, folds: int) -> Iterator[Dataset]:
    """Yield the training part with each fold of it, of its people if known, as the test part."""
    X, y, people = np.asarray(dataset.X_train), dataset.y_train, dataset.groups
    fold_of = fold_numbers(y, folds, 0, people)
    for fold in range(fold_of.max() + 1):
        trained, tested = fold_of != fold, fold_of == fold
        groups = None if people is None else people[trained]
        part = replace(dataset, X_train=X[trained], y_train=y[trained], groups=groups)
        yield replace(part, X_test=X[tested], y_test=y[tested])
