"""Feature vectors in files apart from their labels.

- A folder with ``X_train.txt`` beside ``y_train.txt``, as the UCI repository has them: numbers
  separated by blanks, and one label a line. ``X_test.txt`` and ``y_test.txt`` are the test part;
  each part may have a folder. ``features.txt`` and ``activity_labels.txt`` may name the features
  and the classes, after their numbers, and ``subject_train.txt`` the persons.
- A folder with a table for each class, named after it, or a folder of tables for each class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from protonn_edge.datasets.dataset import Table
from protonn_edge.datasets.naming import Notice, label_text
from protonn_edge.datasets.options import USUAL_DELIMITERS, TableOptions
from protonn_edge.datasets.points import read_table
from protonn_edge.datasets.roles import Expected
from protonn_edge.datasets.tables import RawTable, TableFile
from protonn_edge.datasets.takes import TABLES, takes_in
from protonn_edge.datasets.text import text_of
from protonn_edge.errors import InputError, counted, lacking
from protonn_edge.system.files import check_file

FILE_LIMIT_BYTES = 512 * 2**20


def vectors_in(path: Path) -> Path | None:
    """Return the file ``X_train.txt`` that a path is or that a folder has; None without."""
    if path.name.lower() == "x_train.txt" and path.is_file():
        return path
    places = (path / "X_train.txt", path / "train" / "X_train.txt")
    return next((each for each in places if each.is_file()), None)


def read_vectors(path: Path) -> tuple[Table, Table | None]:
    """Return the training part and, if it is there, the test part; `path` is ``X_train.txt``."""
    folder = path.parent.parent if path.parent.name == "train" else path.parent
    test = next(
        (p for p in (folder / "X_test.txt", folder / "test" / "X_test.txt") if p.is_file()), None
    )
    train = _part(path, folder, "train")
    return train, None if test is None else _part(test, folder, "test")


def _part(path: Path, folder: Path, part: str) -> Table:
    y = path.with_name(f"y_{part}.txt")
    if not y.is_file():
        raise lacking(path, f"file {y.name} beside it", "add it, with one label a line")
    X = _numbers(path)
    names = dict(_pairs(folder / "activity_labels.txt"))
    labels = [names.get(label, label) for label in _lines(y)]
    persons = path.with_name(f"subject_{part}.txt")
    sessions = _lines(persons) if persons.is_file() else None
    for other, lines in ((y, labels), (persons, sessions)):
        if lines is not None and len(lines) != len(X):
            raise InputError(
                f"{other} has {counted(len(lines), 'line')}, but {path} has {len(X):,}; give each "
                "point one"
            )
    features = tuple(name for _, name in _pairs(folder / "features.txt"))
    named = len(features) == X.shape[1] and len(set(features)) == len(features)
    return Table(str(path), X, labels, feature_names=features if named else (), sessions=sessions)


def _numbers(path: Path) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    check_file(path, limit_bytes=FILE_LIMIT_BYTES)
    options = TableOptions(labelled="any", delimiter="space")
    raw = RawTable.read([TableFile.opened(path, " ", options)], options)
    X = np.empty((raw.n, len(raw.columns)), np.float32)
    for column in raw.columns:
        if column.values is None or column.gaps or column.unreadable:
            first = ((column.gaps, column.first_gap), (column.unreadable, column.first_unreadable))
            row = min((row for count, (row, _) in first if count), default=0)
            raise InputError(
                f"{raw.place(row)} has a cell without a number in column {column.index + 1}; "
                "correct the line"
            )
        X[:, column.index] = column.values
    return X


def _lines(path: Path) -> list[str]:
    check_file(path, limit_bytes=FILE_LIMIT_BYTES)
    with text_of(path) as stream:
        return [label_text(line) for line in stream if line.strip()]


def _pairs(path: Path) -> list[tuple[str, str]]:
    """Return the numbers and the names on the lines of a file; none without it."""
    if not path.is_file():
        return []
    pairs = [line.split(maxsplit=1) for line in _lines(path)]
    return [(pair[0], pair[1]) for pair in pairs if len(pair) > 1]


def has_tables(folder: Path) -> bool:
    """Return whether a folder has tables, in itself or in its folders."""
    places = (path for pattern in ("*", "*/*", "*/*/*") for path in folder.glob(pattern))
    return any(path.suffix.lower() in TABLES for path in places)


def read_class_files(
    folder: Path, options: TableOptions, expected: Expected | None
) -> tuple[Table, Table | None]:
    """Return the rows of a folder's tables as points, labelled by the names of files or folders.

    Raises `InputError` if there are times, as in recordings.
    """
    takes = takes_in(folder, options.name, TABLES)
    given = replace(options, name=None, labelled=takes[0].label)

    def part(tested: bool) -> Table | None:
        chosen = [take for take in takes if take.tested == tested]
        if not chosen:
            return None
        paths: Sequence[Path] = [take.path for take in chosen]
        usual = USUAL_DELIMITERS[paths[0].suffix.lower()]
        labels = [take.label for take in chosen]
        table = read_table(paths, delimiter=usual, options=given, expected=expected, labels=labels)
        if table.times is not None:
            raise InputError(
                f"{folder} has times in column {table.times.name!r}, as recordings do; cut them "
                "with 'protonn-edge windows', or use each row as a point with --read "
                f"drop={table.times.name!r}"
            )
        text = "each row is a point of the class that its file or its folder is named after"
        return replace(table, source=str(folder), notices=(*table.notices, Notice("rows", text)))

    train, test = part(False), part(True)
    if train is None:
        raise lacking(folder, "training part", "add one, or name its folder 'train'")
    return train, test
