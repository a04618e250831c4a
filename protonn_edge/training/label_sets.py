"""Targets that are sets of labels: how they are recognized, and the score threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array

from protonn_edge.datasets.dataset import Sparse
from protonn_edge.errors import InputError

_SETS = (set, frozenset)
_COLLECTIONS = (set, frozenset, list, tuple, np.ndarray)


def are_label_sets(y: Any) -> bool:
    """Return whether targets are sets of labels: an indicator matrix, or a sequence of collections.

    An indicator matrix has zeros and ones in at least two columns, in any form that scikit-learn
    accepts. Sets are always sets of labels; so are lists and tuples unless they form such a matrix.
    """
    if y is None:
        return False  # data validation has a better message
    if _are_collections(y):
        return True
    with np.errstate(invalid="ignore"):  # it turns infinite values into integers
        return bool(type_of_target(y, input_name="y") == "multilabel-indicator")


def label_matrix(y: Any, classes: NDArray[Any] | None = None) -> tuple[Sparse, NDArray[Any]]:
    """Return label sets as a matrix, 1 where a point has a label, and the labels of its columns.

    If they are not known, they are those that occur, sorted, or the column numbers. Raises
    `InputError` if a label is not among the known ones, or labels of several types cannot be
    sorted.
    """
    if _are_collections(y):
        return _matrix_of_collections(y, classes)
    given = check_array(y, accept_sparse="csr", dtype=None, input_name="y")
    Y = csr_array(given, dtype=np.float32)
    Y.sum_duplicates()
    Y.eliminate_zeros()
    if classes is not None and Y.shape[1] != len(classes):
        raise InputError(
            f"the label matrix has {Y.shape[1]:,} columns, training had {len(classes):,}; give a "
            "column for each label"
        )
    return Y, np.arange(Y.shape[1]) if classes is None else classes


def best_threshold(
    scores: NDArray[np.float64], Y: Sparse, weights: NDArray[np.float32] | None = None
) -> float:
    """Return the threshold of scores (n, L) with the largest F1 over all decisions.

    It is between two scores, and maximizes the micro-averaged ``2 TP / (predicted + actual)``.
    """
    order = np.argsort(-scores, axis=None, kind="stable")
    falling = scores.ravel()[order]
    counted = np.ones(len(scores)) if weights is None else weights.astype(np.float64)
    by_score = np.broadcast_to(counted[:, None], scores.shape).ravel()[order]
    actual = np.asarray(Y.toarray()).ravel()[order] * by_score
    f1 = 2.0 * np.cumsum(actual) / (np.cumsum(by_score) + actual.sum())
    last = np.append(falling[:-1] > falling[1:], True)  # equal scores are on the same side
    best = int(np.argmax(np.where(last, f1, -1.0)))
    below = falling[best + 1] if best + 1 < len(falling) else falling[best]
    middle = float((falling[best] + below) / 2.0)
    return middle if middle > below else float(falling[best])


def _are_collections(y: Any) -> bool:
    rows = _rows_of(y)
    if not rows or not all(isinstance(labels, _COLLECTIONS) for labels in rows):
        return False
    return any(isinstance(labels, _SETS) for labels in rows) or not _is_table(rows)


def _rows_of(y: Any) -> list[Any]:
    """Return the elements of a list, a tuple or a one-dimensional array of objects."""
    if isinstance(y, list | tuple):
        return list(y)
    values = y.to_numpy() if hasattr(y, "to_numpy") else y  # a column of pandas
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype == object:
        return list(values)
    return []


def _is_table(y: list[Any]) -> bool:
    """Return whether rows have one length, 2 or more, and only zeros and ones, or no labels."""
    lengths = {len(row) for row in y}
    if len(lengths) > 1 or lengths == {0}:
        return False
    if lengths == {1}:  # a column of a matrix, for scikit-learn to validate
        return True
    return all(isinstance(v, int | float | np.number) and v in (0, 1) for row in y for v in row)


def _matrix_of_collections(y: Any, classes: NDArray[Any] | None) -> tuple[Sparse, NDArray[Any]]:
    sets = [set(labels) for labels in _rows_of(y)]
    if classes is None:
        try:
            found = sorted(set().union(*sets))
        except TypeError as error:
            raise InputError(
                f"the labels cannot be sorted ({str(error)[:80]}); give them one type"
            ) from error
        classes = np.array(found, dtype=None if _of_one_kind(found) else object)
    known = set(classes.tolist())
    unknown = [label for labels in sets for label in labels if label not in known]
    if unknown:
        raise InputError(
            f"a point has the label {str(unknown[0])[:40]!r}, which the training data does not "
            "have; leave it out"
        )
    binarizer = MultiLabelBinarizer(classes=classes, sparse_output=True)
    Y = csr_array(binarizer.fit_transform(sets), dtype=np.float32)
    Y.sort_indices()
    return Y, classes


def _of_one_kind(labels: list[Any]) -> bool:
    return len({isinstance(label, str) for label in labels}) < 2
