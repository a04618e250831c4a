"""Data for a model are read as its training data were, unless options say otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, label_text, listed, names_at
from protonn_edge.data.options import USUAL_DELIMITERS, TableOptions, options_of_texts
from protonn_edge.data.points.dataset import Float32
from protonn_edge.data.points.division import digest_of
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.tables.table_file import opened_table
from protonn_edge.data.tables.usual_names import ANSWER, LABEL_NAMES

_JUDGED_POINTS = 5  # some values of fewer points, up to a share, may be out of range by chance
_OF_FEW_POINTS = 0.9
_JUDGED_CONSTANT = 20
_INSIDE = 0.48  # of the range from its middle; at an end, a feature may be off


def is_table(path: Path) -> bool:
    """Return whether a file is read as a table, by its name."""
    return path.suffix.lower() in USUAL_DELIMITERS and not path.is_dir()


def as_in_training(path: Path, given: TableOptions, expected: Expected) -> TableOptions:
    """Return options as given, completed by those of the training.

    Of another file than that of the training, only tables are read as in training, without the
    columns that they do not have; gaps are a matter of the model.
    """
    division = expected.division
    if division is None or not division.read:
        return given
    learned = options_of_texts(division.read)
    if digest_of(path) != division.sha256:
        if not is_table(path):
            return given
        learned = _for_other_table(path, learned, given, expected)
    chosen = {
        name: value for name, value in vars(given).items() if value != getattr(TableOptions(), name)
    }
    drop = tuple(name for name in learned.drop if name != given.label)
    return replace(learned, **{"drop": drop, **chosen})


def _for_other_table(
    path: Path, learned: TableOptions, given: TableOptions, expected: Expected
) -> TableOptions:
    """Return the options of the training that suit another table."""
    marks = TableOptions(
        delimiter=given.delimiter or learned.delimiter, decimal=given.decimal or learned.decimal
    )
    file = opened_table(path, marks)

    def there(names: tuple[str, ...]) -> tuple[str, ...]:
        numbers = {*map(str, range(1, 1 + len(file.columns)))}
        return tuple(name for name in names if name in {*file.names, *numbers})

    drop, label = there(learned.drop), learned.label and expected.label
    if not file.header and len(file.columns) - len(drop) > expected.n_features:
        label = learned.label
    elif label not in file.names:
        label = None
    labels = learned.labels if there(learned.labels) == learned.labels else ()
    return replace(marks, label=label, labels=labels, drop=drop, keep=there(learned.keep))


def with_label(path: Path, options: TableOptions, expected: Expected) -> tuple[TableOptions, bool]:
    """Return options that name the label of a table, if it is not the usual one; and if it has one.

    This is the column of the training file or, without one, a column of the model's classes.
    """
    if not is_table(path) or options.label is not None or options.labels:
        return options, True
    file, features = opened_table(path, options), {*expected.feature_names}
    if not (file.header and features):
        return options, len(file.columns) - len(options.drop) > expected.n_features
    one_hot = len(expected.classes) > 1 and {*file.names} - features >= {*expected.classes}
    if one_hot or any(name.lower() in LABEL_NAMES for name in file.names):
        return options, True
    others = [
        column
        for column in file.columns
        if column.name not in features and not ANSWER.fullmatch(column.name)
    ]
    named = [each for each in others if each.name == expected.label != ""]
    classes = {*expected.classes}
    cells = {each: {label_text(row[each.index]) for row in file.first} - {""} for each in others}
    of_classes = [each for each in others if set() < cells[each] <= classes]
    for column in (*named, *of_classes)[:1]:
        return replace(options, label=str(column.index + 1)), True
    return options, False


def about_new_points(X: Float32, expected: Expected) -> Iterator[Notice]:
    """Yield warnings about features of points (n, D) that a mistake may have changed."""
    if expected.limits is None:
        return
    least, end = expected.limits
    yield from about_outside(X, least, end, expected.feature_names, "data and are clamped")
    if len(X) < _JUDGED_CONSTANT:
        return
    inside = np.abs((X[0] - least) / (end - least) - 0.5) < _INSIDE
    stuck = np.flatnonzero((X[0] == X).all(axis=0) & inside & (X[0] % 1 != 0)).tolist()
    if names := names_at(stuck, expected.feature_names):
        text = (
            f"{len(names):,} of {X.shape[1]:,} features have the same value in all {len(X):,} "
            f"points, but not in training: {listed(names)}; check that the sensor was on"
        )
        yield Notice("constant", text, warning=True, columns=names)


def about_outside(
    X: Float32,
    least: NDArray[np.floating[Any]],
    end: NDArray[np.floating[Any]],
    names: Sequence[str],
    what: str = "part",
) -> Iterator[Notice]:
    """Yield a warning if most values of a feature of points (n, D) are not from `least` to `end`.

    - `what`: how the sentence continues behind "of the training"
    """
    n, outside = len(X), ((least > X) | (end < X)).sum(axis=0)
    if n < _JUDGED_POINTS and outside.sum() < _OF_FEW_POINTS * n * outside.size:
        return
    if found := names_at(np.flatnonzero(2 * outside > n).tolist(), names):
        text = (
            f"most values of {len(found):,} of {len(outside):,} features are outside the range "
            f"of the training {what}: {listed(found)}; check the units and the order of "
            "the columns"
        )
        yield Notice("clamped", text, warning=True, columns=found)
