"""Points with sets of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import in_order, listed
from protonn_edge.data.points.dataset import (
    LABEL_LIMIT,
    Dataset,
    Table,
    check_class_names,
    check_table_size,
    parts_of,
)
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, lacking

SET_MARK = "|"
"""The mark between the labels of a set in one text."""


@dataclass(frozen=True, eq=False)
class LabelSetTable(Table):
    """Points of a file with labels as n tuples of names, or a matrix (n, L) of ones."""

    labels: Any


@dataclass(frozen=True, eq=False)
class MultiLabelDataset(Dataset):
    """Training and test points with sets of labels.

    `y_train` and `y_test` are matrices (n, L), float32: 1 where a point has a label. A point may
    have none.
    """

    predicts: ClassVar[str] = "labels"

    y_train: Array
    y_test: Array


def as_label_sets(table: Table) -> LabelSetTable:
    """Convert a table with one label per point, or a set as one text, to one with sets."""
    if isinstance(table, LabelSetTable):
        return table
    sets = [tuple(filter(None, text.split(SET_MARK))) for text in table.labels.texts]
    labels = [sets[code] for code in table.labels.codes.tolist()]
    return LabelSetTable(**{**vars(table), "labels": labels})


def named_sets(table: LabelSetTable, names: Sequence[str]) -> tuple[LabelSetTable, Sequence[str]]:
    """Return a table of sets as a matrix, as in training, and the names of its columns."""
    if isinstance(table.labels, np.ndarray):
        return table, names
    names = in_order(set().union(*table.labels))
    return _numbered(table, names), names


def known_sets(
    table: LabelSetTable, names: Sequence[str], classes: Sequence[str]
) -> NDArray[np.float64]:
    """Return sets (n, L) of a model's labels, of a table of names, or of indices of `names`."""
    table, names = named_sets(table, names)
    place_of = {name: place for place, name in enumerate(classes)}
    some = table.labels.any(axis=0)
    used = [names[column] for column in np.flatnonzero(some).tolist()]
    unknown = [name for name in used if name not in place_of]
    if unknown:
        raise InputError(
            f"{table.source} has labels that the model does not know, {listed(sorted(unknown))}; "
            "use data with the labels of its training"
        )
    sets = np.zeros((len(table.labels), len(classes)))
    for column in np.flatnonzero(some).tolist():
        sets[:, place_of[names[column]]] = table.labels[:, column]
    return sets


def label_set_dataset(
    train: LabelSetTable, test: LabelSetTable | None, names: tuple[str, ...] = ()
) -> MultiLabelDataset:
    """Combine the parts of a data set of label sets; a missing test part has no rows.

    Tables of indices come with the labels' `names`. Tables of names use the names in both parts,
    since a rare label may be in the test part only.
    """
    tested, parts = parts_of(train, test)
    y_train, y_test = train.labels, tested.labels
    if not names:
        names = in_order(set().union(*y_train, *y_test))
        check_class_names(names, train.source, LABEL_LIMIT)
        y_train, y_test = (_numbered(table, names).labels for table in (train, tested))
    if len(names) < 2:
        raise InputError(f"{train.source} has fewer than 2 labels; use at least 2")
    if not y_train.any():
        raise lacking(train.source, "point with a label", "give each point its labels")
    return MultiLabelDataset(y_train=y_train, y_test=y_test, classes=names, **parts)


def _numbered(table: LabelSetTable, names: Sequence[str]) -> LabelSetTable:
    """Return a table of names with a matrix of ones instead."""
    check_table_size(table.source, len(table.labels), len(names))
    labels = np.zeros((len(table.labels), len(names)), np.float32)
    place_of = {name: place for place, name in enumerate(names)}
    for row, own in zip(labels, table.labels, strict=True):
        row[[place_of[name] for name in own]] = 1
    return replace(table, labels=labels)
