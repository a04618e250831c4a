"""Data files: one is refused in one sentence, or read as finite points of known classes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from laws.fuzz.mutation import (
    NUMBERS,
    TEXTS,
    encoded,
    mutated_arrays,
    mutated_bytes,
    mutated_text,
    npz_bytes,
    pick,
)
from laws.fuzz.sentences import REFUSALS, check_command, check_refusal

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.points.label_sets import MultiLabelDataset
from protonn_edge.data.points.values import ValueDataset
from protonn_edge.data.reading import load_dataset, load_points

BRIEF_CASES = 20

_SUFFIXES = (".csv", ".tsv", ".txt", ".svm", ".t", "")


def run_case(seed: int, folder: Path) -> None:
    """Read a changed data file twice; now and then train on it, or cut windows of it."""
    rng = np.random.default_rng(seed)
    path = _write(rng, folder)
    try:
        dataset = load_dataset(path)
    except REFUSALS as error:
        check_refusal(error)
    else:
        _check_dataset(dataset)
        _check_equal(dataset, load_dataset(path))
        _check_points(path, dataset)
    if rng.random() < 0.3:
        check_command("data", path, *_options(rng), "--json")
    if rng.random() < 0.05:
        small = ("--epochs", 2, "--projection-dim", 2, "--prototypes", 4)
        made = folder / "model.npz"
        _check_output("train", path, *small, "-o", made, output=made)
    if rng.random() < 0.05:
        cut = ("--window", pick(rng, (2, 3, 8)), "-o", folder / "windows.npz")
        _check_output("windows", path, *cut, output=folder / "windows.npz")


def _options(rng: np.random.Generator) -> tuple[object, ...]:
    """Return options that say how a table is laid out, now and then ones that make no sense."""
    chance = rng.random()
    if chance < 0.5:
        return ()
    if chance < 0.7:
        return ("--label", pick(rng, ("last", "1", "label", "f0", "99", "x" * 3000)))
    if chance < 0.85:
        return (
            "--drop",
            pick(rng, ("f0", "f1,f2", "label", "nothing", "1", ",", "a\nb", '"')),
        )
    return ("--delimiter", pick(rng, (";", ",", "tab", "|")))


def _write(rng: np.random.Generator, folder: Path) -> Path:
    chance = rng.random()
    if chance < 0.4:
        path = folder / "data.npz"
        path.write_bytes(_npz(rng))
        return path
    text = pick(rng, _TEXTS)(rng)
    suffix = pick(rng, _SUFFIXES)
    if chance < 0.9:
        path = folder / f"data{suffix}"
        path.write_bytes(_file_bytes(rng, text))
        return path
    path = folder / "data"
    path.mkdir()
    (path / "train.txt").write_bytes(_file_bytes(rng, text))
    (path / "test.txt").write_bytes(_file_bytes(rng, text))
    return path


def _file_bytes(rng: np.random.Generator, text: str) -> bytes:
    if rng.random() < 0.8:
        text = mutated_text(rng, text)
    data = encoded(rng, text)
    return mutated_bytes(rng, data) if rng.random() < 0.1 else data


# --- what is changed ------------------------------------------------------------------------------


def _table(rng: np.random.Generator) -> str:
    """Return a table of text as people have them, with and without names and labels of text."""
    n, width = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, width)).round(int(rng.integers(0, 6))) * 10.0 ** rng.integers(-3, 4)
    y = rng.integers(0, 3, n)
    labels = [pick(rng, ("setosa", "virginica", 'a "b"'))[: 1 + k * 5] or "x" for k in y]
    if rng.random() < 0.5:
        labels = [str(k) for k in y]
    place = int(rng.choice([0, width]))
    rows = [[f"{value:g}" for value in row] for row in X]
    for row, label in zip(rows, labels, strict=True):
        row.insert(place, label)
    if rng.random() < 0.5:
        names = [f"f{i}" for i in range(width)]
        names.insert(place, pick(rng, ("label", "class", "species", "y", "Target", "")))
        rows.insert(0, names)
    mark = pick(rng, (",", ",", ",", "\t", ";"))
    return "\n".join(mark.join(row) for row in rows) + "\n"


def _libsvm(rng: np.random.Generator) -> str:
    lines = []
    sets = rng.random() < 0.3
    for _ in range(int(rng.integers(2, 12))):
        chosen = np.flatnonzero(rng.random(8) < 0.5) + 1
        pairs = [f"{index}:{rng.normal():.3g}" for index in chosen]
        label = ",".join(map(str, rng.integers(0, 4, rng.integers(0, 4)))) if sets else None
        lines.append(" ".join([str(rng.integers(0, 3)) if label is None else label, *pairs]))
    if rng.random() < 0.3:
        odd = pick(rng, (pick(rng, TEXTS), str(pick(rng, NUMBERS))))
        row = int(rng.integers(len(lines)))
        lines[row] += f" {pick(rng, (9, 0, -1, 10**6, 10**12, odd))}:{odd}"
    return "\n".join(lines) + "\n"


_TEXTS: tuple[Callable[[np.random.Generator], str], ...] = (_table, _table, _libsvm)


def _npz(rng: np.random.Generator) -> bytes:
    arrays = pick(rng, (_plain, _keras, _one_part, _named, _sets))(rng)
    whole = npz_bytes(rng, arrays if rng.random() < 0.05 else mutated_arrays(rng, arrays))
    return mutated_bytes(rng, whole) if rng.random() < 0.1 else whole


def _plain(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        "X_train": rng.normal(size=(8, 3)),
        "y_train": np.arange(8) % 2,
        "X_test": rng.normal(size=(4, 3)),
        "y_test": np.arange(4) % 2,
    }


def _keras(rng: np.random.Generator) -> dict[str, np.ndarray]:
    images = rng.integers(0, 256, (6, 4, 5), np.uint8)
    return {
        "x_train": images,
        "y_train": np.arange(6) % 3,
        "x_test": images[:3],
        "y_test": np.arange(3),
    }


def _one_part(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"X": rng.integers(0, 9, (6, 2)), "y": np.array(list("abcabc"))}


def _named(rng: np.random.Generator) -> dict[str, np.ndarray]:
    names = {"class_names": np.array(["no", "yes"]), "feature_names": np.array(["a", "b", "c"])}
    return _plain(rng) | names | {"groups_train": np.arange(8) // 4}


def _sets(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"X_train": rng.normal(size=(8, 3)), "y_train": rng.integers(0, 2, (8, 4))}


# --- what must hold -------------------------------------------------------------------------------


def _check_dataset(dataset: Dataset) -> None:
    n_classes, width = dataset.n_classes, dataset.n_features
    of_values = isinstance(dataset, ValueDataset)
    assert n_classes >= 2 - of_values, f"a data set has {n_classes} classes"
    assert len(set(dataset.classes)) == n_classes, "two classes have the same name"
    assert not dataset.feature_names or len(dataset.feature_names) == width, "names are missing"
    for X, y in ((dataset.X_train, dataset.y_train), (dataset.X_test, dataset.y_test)):
        assert X.dtype == np.float32, f"features have the type {X.dtype}"
        assert np.isfinite(X).all(), "a feature is not finite"
        assert X.shape[1] == width, "the parts have different features"
        assert X.shape[0] == y.shape[0], "a point lacks its label"
        if not isinstance(dataset, MultiLabelDataset | ValueDataset):
            assert ((y >= 0) & (y < n_classes)).all(), "a label is none of the classes"
    assert dataset.X_train.shape[0] > 0, "there is no training point"


def _check_equal(one: Dataset, other: Dataset) -> None:
    assert one.classes == other.classes, "the classes differ when the file is read again"
    for name in ("X_train", "X_test", "y_train", "y_test"):
        left, right = (getattr(each, name) for each in (one, other))
        assert np.array_equal(left, right), f"{name} differs when the file is read again"


def _check_points(path: Path, dataset: Dataset) -> None:
    try:
        expected = Expected(
            n_features=dataset.n_features,
            classes=dataset.classes,
            predicts=dataset.predicts,
        )
        X, y = load_points(path, expected)
    except REFUSALS as error:
        check_refusal(error)
        return
    assert X.shape == (len(y), dataset.n_features), "points have another width than the data set"
    assert np.isfinite(X).all(), "a feature is not finite"


def _check_output(*arguments: object, output: Path) -> None:
    succeeded = check_command(*arguments)
    assert succeeded == output.exists(), f"{arguments[0]} left an output that it refused, or none"
