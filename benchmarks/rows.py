"""What the benchmarks share: a row is a data set and the settings of a classifier for it."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
from printing import Columns, Record, print_table
from threadpoolctl import threadpool_info

from protonn_edge.data.dataset import Dataset
from protonn_edge.data.groups import with_groups
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.learn.folds import fold_numbers
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import ProtoNNEdgeError

DATA = Path(
    os.environ.get("PROTONN_EDGE_DATA", Path(__file__).parents[1] / ".." / "shared" / "data")
)

SEEDS = range(5)
SEEDS_OF_A_FOLD = range(2)

seeds_option = click.option(
    "--seeds",
    type=click.IntRange(1),
    default=len(SEEDS),
    show_default=True,
    callback=lambda _context, _option, count: range(count),
    metavar="N",
    help="Train with N seeds, from 0 on.",
)


@dataclass(frozen=True)
class Row:
    """One model; `file` is a name in the folder of the data, or None for scikit-learn's digits.

    `groups` names the file's array with the person of each training point.
    """

    name: str
    file: str | None
    settings: dict[str, Any] = field(default_factory=dict)
    groups: str | None = field(default=None, kw_only=True)

    def dataset(self) -> Dataset | None:
        """Return the data set, or None where this machine does not have it."""
        if self.file is None:
            return load_digits_dataset()
        path = DATA / self.file
        if not path.is_file():
            return None
        dataset = load_dataset(path)
        return dataset if self.groups is None else with_groups(dataset, self.groups, path)

    def train(self, dataset: Dataset, seed: int) -> tuple[Model, float]:
        """Return the trained model and the seconds that it took."""
        begin = time.perf_counter()
        classifier = ProtoNNClassifier(random_state=seed, **self.settings)
        classifier.fit(dataset.X_train, dataset.y_train, groups=dataset.groups)
        seconds = time.perf_counter() - begin
        model = classifier.to_model(classes=dataset.classes)
        assert isinstance(model.head, ProtoNNHead)
        return model, seconds

    def integer_accuracy(self, dataset: Dataset, seed: int) -> float:
        """Return the accuracy of the integers of a trained model on the test part, 0..1."""
        return integer_accuracy(self.train(dataset, seed)[0], dataset)


@dataclass(frozen=True)
class SplitRow(Row):
    """A row; with `split` there are two classes, the labels below it and the others."""

    split: int | None = None

    def dataset(self) -> Dataset | None:
        """Return the data set, or None where this machine does not have it."""
        found = super().dataset()
        if found is None or self.split is None:
            return found
        return replace(
            found,
            y_train=(found.y_train >= self.split).astype(np.int64),
            y_test=(found.y_test >= self.split).astype(np.int64),
            classes=(f"below {self.split}", f"from {self.split}"),
        )


@dataclass(frozen=True)
class LabelSetRow(Row):
    """A row whose file has the numbers of each point's labels, which become a matrix."""

    def dataset(self) -> Dataset | None:
        """Return the data set, or None where this machine does not have it."""
        path = DATA / str(self.file)
        if not path.is_file():
            return None
        with np.load(path) as given, tempfile.TemporaryDirectory() as folder:
            arrays: dict[str, Any] = {}
            for part in ("train", "test"):
                starts, numbers = (given[f"Y_{part}_{each}"] for each in ("indptr", "indices"))
                labels = np.zeros((len(starts) - 1, int(given["n_labels"])), np.uint8)
                labels[np.repeat(np.arange(len(labels)), np.diff(starts)), numbers] = 1
                arrays |= {f"X_{part}": given[f"X_{part}"], f"y_{part}": labels}
            whole = Path(folder) / path.name
            np.savez(whole, **arrays)
            return load_dataset(whole)


def integer_accuracy(model: Model, dataset: Dataset) -> float:
    """Return the accuracy of a model's integers on the test part, 0..1."""
    integers = quantize(model)
    return share_right(integers.predict(integers.quantize(dataset.X_test)), dataset.y_test)


def over_seeds(accuracies: Sequence[float]) -> Record:
    """Return a row's entries for accuracies, one a seed: their mean and standard deviation."""
    return {
        "accuracy": float(np.mean(accuracies)),
        "std": float(np.std(accuracies, ddof=1)) if len(accuracies) > 1 else None,
        "accuracies": list(accuracies),
        "trained_on": _trained_on(),
    }


def _trained_on() -> str:
    """Return what sums of floats depend on: the processor, and the loops chosen for it."""
    libraries = [each for each in threadpool_info() if each["user_api"] == "blas"]
    loops = {f"{each['internal_api']} ({each.get('architecture')})" for each in libraries}
    return ", ".join([_processor(), f"NumPy {np.__version__}", *sorted(loops)])


def _processor() -> str:
    described = Path("/proc/cpuinfo")  # Linux'
    lines = described.read_text("utf-8").splitlines() if described.is_file() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


AnyRow = TypeVar("AnyRow", bound=Row)


def chosen(rows: Sequence[AnyRow], only: str | None) -> Iterator[tuple[AnyRow, Dataset]]:
    """Yield the rows, or the one called `only`, with their data; say which data is missing."""
    for row in rows:
        if only not in (None, row.name):
            continue
        dataset = row.dataset()
        if dataset is not None:
            yield row, dataset
            continue
        sentence = f"{row.name}: no {row.file} in {DATA}; set PROTONN_EDGE_DATA"
        if only is not None:
            raise click.UsageError(sentence)
        click.echo(sentence, err=True)


def table_command(
    cases: Sequence[AnyRow],
    columns: Columns,
    measure: Callable[[AnyRow, Dataset, Sequence[int]], Record],
    sentence: str,
) -> click.Command:
    """Return the command that prints what is measured of each case, or of one, with each seed."""

    @click.command(help=sentence)
    @click.option("--only", type=click.Choice([case.name for case in cases]), help="One row.")
    @seeds_option
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
    def command(only: str | None, seeds: Sequence[int], as_json: bool) -> None:
        try:
            records = (measure(case, dataset, seeds) for case, dataset in chosen(cases, only))
            print_table(records, columns, as_json)
        except ProtoNNEdgeError as error:
            sys.exit(f"error: {error}")

    return command


def held_out_in_turn(dataset: Dataset, folds: int) -> Iterator[Dataset]:
    """Yield the training part with each fold of it, of its people if known, as the test part."""
    X, y, people = np.asarray(dataset.X_train), dataset.y_train, dataset.groups
    fold_of = fold_numbers(y, folds, 0, people)
    for fold in range(fold_of.max() + 1):
        trained, tested = fold_of != fold, fold_of == fold
        groups = None if people is None else people[trained]
        part = replace(dataset, X_train=X[trained], y_train=y[trained], groups=groups)
        yield replace(part, X_test=X[tested], y_test=y[tested])
