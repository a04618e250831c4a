"""Columns are judged by what is in them: no name, position or resolution makes a leak a feature.

Tables and recordings of noise get a column that would give the label away, or that only counts: a
time, a counter, an identifier, a copy of the label, one-hot labels, a session. Either the points
are the same as without it, or the table is refused with a question. Real measurements that happen
to rise, or have few values, are used, or asked about, or reported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extension_parts import additions

from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.reading import load_dataset
from protonn_edge.system.errors import InputError

pytestmark = pytest.mark.usefixtures("python_words")

CASES = int(os.environ.get("PROTONN_EDGE_ROLE_CASES", "40"))
"""Random tables of each sort; 500 take a few minutes."""

NAMES = (
    *("uptime", "elapsed", "Zeitstempel", "Uhrzeit", "tiempo", "SampleTimeFine", "Nr.", "ticks"),
    *("frame", "packet", "seq", "kolumna", "données", "値", "время", "a", "q7", "x2", "value"),
    *("battery", "count", "temperature", "sensor", "Messung", "id", "step", "", "foo bar", "T"),
)

Rows = list[list[str]]


def noise(generator: np.random.Generator) -> tuple[list[str], Rows, list[str]]:
    """Return names and cells of measurements, and the labels, in runs or at random."""
    n = int(generator.integers(60, 400))
    features = int(generator.integers(2, 5))
    digits = int(generator.integers(2, 6))
    X = generator.normal(generator.normal(0, 10), generator.uniform(0.5, 20), (n, features))
    classes = ["left", "right", "up"][: int(generator.integers(2, 4))]
    if generator.random() < 0.6:
        labels = [classes[row * len(classes) // n] for row in range(n)]
    else:
        labels = generator.choice(classes, n).tolist()
        labels[: len(classes)] = classes
    cells = [[f"{value:.{digits}f}" for value in row] for row in X]
    return [f"m{index}" for index in range(features)], cells, labels


def times(generator: np.random.Generator, labels: Sequence[str]) -> list[list[str]]:
    n = len(labels)
    step = generator.choice([0.01, 0.02, 1, 20, 20_000, 1e7])
    jitter = generator.choice([0, 0.01, 0.1])
    values = (np.arange(n) + jitter * generator.uniform(-1, 1, n)) * step
    values += generator.choice([0, 1_000, 1.7e9])
    if generator.random() < 0.3:  # anew with each label
        run = np.flatnonzero(np.array(labels[1:]) != np.array(labels[:-1])) + 1
        if len(run) < n / 10:
            begins = np.zeros(n, np.int64)
            begins[run] = run
            values = values - values[np.maximum.accumulate(begins)]
    how = generator.integers(4)
    if how == 0:  # whole seconds of many rows
        return [[str(int(row // 10)) for row in range(n)]]
    if how == 1:
        begin = datetime(2024, 5, 1, 9, 30, tzinfo=UTC)
        moments = [begin + timedelta(milliseconds=20 * row) for row in range(n)]
        texts = [
            f"{each:%Y-%m-%d} {each:%H:%M:%S}.{each.microsecond // 1000:03d}" for each in moments
        ]
        if generator.random() < 0.5:
            return [[text.split()[0] for text in texts], [text.split()[1] for text in texts]]
        return [texts]
    if generator.random() < 0.15:
        values = values[::-1]
    return [
        [f"{value:.6g}" if step < 1 and values.max() < 1e5 else f"{value:.3f}" for value in values]
    ]


def counters(generator: np.random.Generator, labels: Sequence[str]) -> list[list[str]]:
    n, step = len(labels), int(generator.choice([1, 1, 2, 10, 20]))
    first = int(generator.integers(0, 1000))
    return [[str(first + step * row) for row in range(n)]]


def identifiers(generator: np.random.Generator, labels: Sequence[str]) -> list[list[str]]:
    n = len(labels)
    how = generator.integers(4)
    if how == 0:
        return [[str(each) for each in generator.permutation(n)]]
    if how == 1:
        return [[f"{each:08x}-{row}" for row, each in enumerate(generator.integers(0, 2**32, n))]]
    if how == 2:
        return [[f"row{row}" for row in range(n)]]
    first = int(generator.integers(1e5))
    return [[str(first + each) for each in generator.permutation(2 * n)[:n:2]] + [
        str(first + 3 * n + row) for row in range(n - (n + 1) // 2)
    ]]  # fmt: skip


def copies(generator: np.random.Generator, labels: Sequence[str]) -> list[list[str]]:
    classes = sorted(set(labels))
    codes = generator.permutation(10)[: len(classes)] * generator.choice([1, 0.5, 100])
    texts = ["A", "B", "C"] if generator.random() < 0.2 else [f"{code:g}" for code in codes]
    return [[texts[classes.index(label)] for label in labels]]


def one_hot(generator: np.random.Generator, labels: Sequence[str]) -> list[list[str]]:
    classes = sorted(set(labels))
    one = generator.choice(["1", "1.0", "True"])
    zero = {"1": "0", "1.0": "0.0", "True": "False"}[str(one)]
    return [[str(one) if label == each else zero for label in labels] for each in classes]


def sessions(generator: np.random.Generator, labels: Sequence[str]) -> list[list[str]]:
    n = len(labels)
    of_class = int(generator.integers(1, 4))
    numbers, session = [], int(generator.integers(0, 5))
    for row in range(n):
        changed = row and labels[row] != labels[row - 1]
        if changed or (row and row % max(10, n // (2 * of_class)) == 0):
            session += 1
        numbers.append(session)
    if len(set(numbers)) > n / 10:  # labels at random: blocks of rows
        numbers = [row // max(10, n // 6) for row in range(n)]
    return [[str(each) for each in numbers]]


ADDED: dict[str, Callable[[np.random.Generator, Sequence[str]], list[list[str]]]] = {
    "time": times,
    "counter": counters,
    "identifier": identifiers,
    "copy": copies,
    "one-hot": one_hot,
    "session": sessions,
}


def write(path: Path, names: Sequence[str], columns: Sequence[Sequence[str]]) -> None:
    lines = [",".join(names), *(",".join(row) for row in zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def table(
    path: Path,
    generator: np.random.Generator,
    added: Sequence[Sequence[str]],
    names: Sequence[str],
    cells: Rows,
    labels: Sequence[str],
) -> None:
    """Write a table with columns added at random places, under random names."""
    columns = [(name, [row[i] for row in cells]) for i, name in enumerate(names)]
    named = generator.permutation(NAMES)[: len(added)].tolist()
    place = int(generator.integers(len(columns) + 1))
    for name, column in zip(named, added, strict=True):
        columns.insert(place, (name, list(column)))
        place += 1 if generator.random() < 0.8 else 0
    columns.append(("label", list(labels)))
    write(path, [name for name, _ in columns], [column for _, column in columns])


READERS: dict[str, Callable[..., Any]] = {"table": load_dataset, **additions("readers")}


def read(
    path: Path, reader: str, options: TableOptions | None = None
) -> tuple[Dataset | None, str]:
    """Return the data of a table or recording, or the sentence that refuses it."""
    try:
        found = READERS[reader](path, options)
        return getattr(found, "dataset", found), ""
    except InputError as error:
        return None, str(error)


def is_same(dataset: Dataset, names: Sequence[str], cells: Rows) -> bool:
    X = np.array([[np.float32(cell) for cell in row] for row in cells])
    return dataset.feature_names == tuple(names) and np.array_equal(dataset.X_train, X)


@pytest.mark.parametrize("kind", ADDED)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_measurement_is_no_feature(tmp_path: Path, kind: str, reader: str) -> None:
    asked = 0
    count = -(-CASES // len(ADDED))
    for seed in range(count):
        generator = np.random.default_rng([seed, *kind.encode(), reader != "table"])
        names, cells, labels = noise(generator)
        path = tmp_path / "table.csv"
        table(path, generator, ADDED[kind](generator, labels), names, cells, labels)
        dataset, refusal = read(path, reader)
        if dataset is None:
            assert "drop=" in refusal, (seed, refusal)
            asked += 1
            continue
        assert is_same(dataset, names, cells), (seed, dataset.feature_names, path.read_text()[:300])
    assert kind in ("copy", "one-hot", "session", "time") or asked <= 0.2 * count


def rising(generator: np.random.Generator, labels: Sequence[str]) -> list[str]:
    n = len(labels)
    how = generator.integers(3)
    if how == 0:
        values = np.sort(generator.normal(20, 3, n))
    elif how == 1:
        values = np.cumsum(generator.exponential(1, n))
    else:
        values = 20 + np.round(np.linspace(0, generator.uniform(1, 5), n), 1)
    return [f"{value:.4g}" for value in values]


def few_values(generator: np.random.Generator, labels: Sequence[str]) -> list[str]:
    n = len(labels)
    how = generator.integers(3)
    if how == 0:
        return [str(each) for each in generator.integers(0, generator.integers(2, 5), n)]
    if how == 1:
        return [str(int(each)) for each in generator.random(n) < 0.05]
    walk = np.cumsum(generator.choice([-1, 0, 0, 0, 1], n)) / 10
    return [f"{20 + each:.1f}" for each in walk]


@pytest.mark.parametrize("measured", [rising, few_values])
@pytest.mark.parametrize("reader", READERS)
def test_a_measurement_is_not_lost_in_silence(
    tmp_path: Path, measured: Callable[..., list[str]], reader: str
) -> None:
    asked, used = 0, 0
    count = -(-CASES // 2)
    for seed in range(count):
        generator = np.random.default_rng([seed, *measured.__name__.encode(), reader != "table"])
        names, cells, labels = noise(generator)
        path = tmp_path / "table.csv"
        table(path, generator, [measured(generator, labels)], names, cells, labels)
        dataset, refusal = read(path, reader)
        if dataset is None:
            assert "keep=" in refusal, (seed, refusal)
            asked += 1
            header = path.read_text("utf-8").partition("\n")[0].split(",")
            (added,) = {*header} - {*names, "label"}
            kept = TableOptions(keep=(str(1 + header.index(added)),))
            dataset, _ = read(path, reader, kept)
            assert dataset is not None
            assert len(dataset.feature_names) == len(names) + 1
            continue
        used += len(dataset.feature_names) == len(names) + 1
        if len(dataset.feature_names) == len(names):
            reported = [each for each in dataset.notices if each.kind == "left_out"]
            assert any("keep=" in each.text for each in reported), (
                seed,
                path.read_text()[:300],
            )
    if measured is few_values:
        assert used > 0.7 * count
