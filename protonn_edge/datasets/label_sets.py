"""Data whose points have sets of labels instead of one class each (multi-label)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from protonn_edge.datasets.dataset import (
    Dataset,
    Table,
    check_class_names,
    check_feature_count,
)
from protonn_edge.datasets.naming import check_names, in_order
from protonn_edge.datasets.rows import Sparse, sparse_rows
from protonn_edge.errors import InputError

LABEL_LIMIT = 20_000


@dataclass(frozen=True, eq=False)
class LabelSetTable(Table):
    """Points of a file whose labels are n tuples of names, or a CSR matrix (n, L) of ones."""

    labels: Any


@dataclass(frozen=True, eq=False)
class MultiLabelDataset(Dataset):
    """Training and test points with sets of labels.

    Attributes
    ----------
    X_train, X_test : ndarray or CSR matrix of shape (n, D), float32
        Raw features, finite, sparse if they are so in the file. The test part may have no rows.
    y_train, y_test : CSR matrix of shape (n, L), float32
        1 where a point has a label. A point may have no labels.
    classes : tuple of str
        L >= 2 names of labels, in an order as in `Dataset`.
    """

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any


def as_label_sets(table: Table) -> LabelSetTable:
    """Return a table with one label per point as one with sets of one label each."""
    if isinstance(table, LabelSetTable):
        return table
    sets = [(label,) for label in table.labels]
    return LabelSetTable(table.source, table.X, sets, feature_names=table.feature_names)


def label_set_dataset(
    train: LabelSetTable, test: LabelSetTable | None, names: tuple[str, ...] = ()
) -> MultiLabelDataset:
    """Combine the parts of a data set.

    Parameters
    ----------
    train, test : LabelSetTable
        A missing test part becomes one without rows.
    names : tuple of str
        The labels' names, for tables with indices; for tables with names, those of both parts are
        used, since a rare label may be in the test part alone.

    Raises
    ------
    InputError
        If there are no training points or labels, fewer than 2 or more than `LABEL_LIMIT` labels,
        unusable names, or another number of features in the test part.
    """
    if not train.X.shape[0]:
        raise InputError(f"{train.source} has no points; give it some")
    empty = replace(train, X=train.X[:0], labels=train.labels[:0])
    tested = test or empty
    if not names:
        names = in_order(set(_all_labels(train)) | set(_all_labels(tested)))
        check_class_names(names, train.source, LABEL_LIMIT)
        train, tested = (_numbered(table, names) for table in (train, tested))
    if len(names) < 2:
        raise InputError(f"{train.source} has fewer than 2 labels; a classifier needs at least 2")
    if not train.labels.nnz:
        raise InputError(f"{train.source} has no point with a label; give the labels of points")
    check_names(train.feature_names, f"{train.source}, among its features,", distinct=False)
    check_feature_count(tested, train.X.shape[1], "the training part has")
    return MultiLabelDataset(
        X_train=train.X,
        y_train=train.labels,
        X_test=tested.X,
        y_test=tested.labels,
        classes=names,
        feature_names=train.feature_names,
    )


def _numbered(table: LabelSetTable, names: Sequence[str]) -> LabelSetTable:
    """Return a table of names with indices instead."""
    index_of = {name: index for index, name in enumerate(names)}
    rows = [sorted({index_of[name] for name in labels}) for labels in table.labels]
    return replace(table, labels=_indicator(rows, len(names)))


def _indicator(rows: list[list[int]], n_columns: int) -> Sparse:
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    indices = np.array([index for row in rows for index in row], dtype=np.int64)
    ones = np.ones(len(indices), dtype=np.float32)
    return sparse_rows((ones, indices, indptr), (len(rows), n_columns))


def _all_labels(table: LabelSetTable) -> Iterable[str]:
    return (name for labels in table.labels for name in labels)
