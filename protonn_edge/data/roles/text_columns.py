"""Columns of text, left out of the features, that say how the rows of a table belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, in_order, label_text, listed, quoted
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.preparation import Preparation
from protonn_edge.data.roles.part_names import are_parts
from protonn_edge.data.tables.columns import Column
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import counted

_FEWEST_ROWS = 4  # in which two texts may be a feature
_FEWEST_ROUNDS = 5  # in which a table has a row for each of several sensors


def about_texts(dataset: Dataset) -> Iterator[Notice]:
    """Yield a warning for each column that names the sensor of its row."""
    for column in dataset.columns:
        if column.role != "text" or not column.texts:
            continue
        texts, codes = column.texts.texts, column.texts.codes
        if len(codes) == len(dataset.y_train) and take_turns(codes, dataset.y_train):
            text = (
                f"{column.title} has {listed(texts)} in turns, as a table with a row for each "
                "sensor has; give each sensor a column of its own, because values of all are mixed "
                "now"
            )
            yield Notice("rows", text, warning=True, columns=(column.key,))


def is_flag(column: Column) -> bool:
    """Return whether a column has two texts, which are not those of parts of the rows."""
    if column.values is not None or column.texts is None:
        return False
    names = {*column.names().texts} - {""}
    return len(names) == 2 and not are_parts(names) and len(column.texts) >= _FEWEST_ROWS


def about_flag(column: Column) -> Notice:
    """Return the notice of a column of two texts, which are features."""
    names = {*column.names().texts} - {""}
    made = " and ".join(quoted(f"{column.name}={each}") for each in in_order(names))
    text = f"{column.title} has two texts, which become the features {made} of 0 and 1; "
    text += f"--drop {column.flag_value} leaves it out"
    return Notice("flag", text, columns=(column.key,))


def take_turns(codes: NDArray[np.int64], y: Array) -> bool:
    """Return whether texts (n,) recur in order, and rows of a round have one label in y."""
    count, places = int(codes.max()) + 1, np.arange(len(codes))
    if count < 2 or len(codes) < _FEWEST_ROUNDS * count or (y == y[0]).all():
        return False
    first = places - places % count
    return np.array_equal(codes, places % count) and np.array_equal(y, y[first])


def about_new_texts(columns: Iterable[Column], preparation: Preparation) -> Iterator[Notice]:
    """Yield a warning for each column of text with values that were not in training rows."""
    for column in columns:
        trained = {"", *preparation.one_hot[column.name]}
        new = [text for text in map(label_text, column.names()) if text not in trained]
        if new:
            text = (
                f"{column.title} has {counted(len(new), 'cell')} with values that were not in the "
                f"training data ({listed(dict.fromkeys(new))}); in these rows, all features of the "
                "column are 0"
            )
            yield Notice("new_texts", text, warning=True, columns=(column.name,))
