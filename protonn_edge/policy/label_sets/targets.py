"""Sets of labels as targets of a training: their forms, checked, as a matrix."""

from __future__ import annotations

from itertools import chain
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.learn.given_points import Taker, checked_points, point_weights
from protonn_edge.learn.points import Float32, Points
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_shape
from protonn_edge.system.errors import InputError, InvalidValue


def given_sets(
    learner: Taker, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Points, Array]:
    """Return points with sets of labels, checked, and the labels (L,); see `given_points`."""
    points = checked_points(learner, X, "X", reset=True)
    sets, classes = label_matrix(y)
    check_shape("the label matrix", sets.shape[:1], points.shape[:1])
    weights = point_weights(points, np.zeros(sets.shape[0]), sample_weight, None)
    if not (sets if weights is None else sets[weights > 0]).any():
        raise InvalidValue("the points", "no labels", "give each point its labels")
    return Points(points, sets, weights), classes


_SETS = (set, frozenset)
_COLLECTIONS = (set, frozenset, list, tuple, np.ndarray)


def are_label_sets(y: ArrayLike | None) -> bool:
    """Return whether targets are sets of labels: an indicator matrix, or a sequence of collections.

    An indicator matrix has zeros and ones in at least two columns, in any form that scikit-learn
    accepts. Sets are always sets of labels; so are lists and tuples unless they form such a matrix.
    """
    if y is None:
        return False  # validation gives a better message
    if _has_numbers(y):
        few = np.unique(y) if y.ndim == 2 and y.shape[1] > 1 else np.zeros(3)
        return len(few) < 3 and bool((few == np.round(few)).all())
    if _are_collections(y):
        return True
    from sklearn.utils.multiclass import type_of_target

    with np.errstate(invalid="ignore"):  # it turns infinite values into integers
        return bool(type_of_target(y, input_name="y") == "multilabel-indicator")


def label_matrix(y: ArrayLike, classes: Array | None = None) -> tuple[Float32, Array]:
    """Return label sets as a matrix, 1 where a point has a label, and the labels of its columns.

    If `classes` are not given, they are the labels that occur, sorted, or the column numbers.
    Raises `InputError` if a label is not among given classes, or if labels of several types cannot
    be sorted.
    """
    if _are_collections(y):
        return _matrix_of_collections(y, classes)
    given = y.toarray() if hasattr(y, "toarray") else y  # of scipy's matrices
    if not _has_numbers(given):
        from sklearn.utils.validation import check_array

        given = check_array(given, dtype=None, ensure_2d=False, input_name="y")
    Y = given.astype(np.float32)
    fits = Y.ndim == 2 and bool(np.isin(Y, (0, 1)).all())
    found = f"{Y.ndim} dimensions" if Y.ndim != 2 else "other values"
    check(fits, "the label matrix", found, "zeros and ones, with a column per label")
    if classes is not None:
        check(
            Y.shape[1] == len(classes),
            "the label matrix",
            f"{Y.shape[1]:,} columns",
            f"one for each of {len(classes):,} labels",
            "give one column per label",
        )
    return Y, np.arange(Y.shape[1]) if classes is None else classes


def best_threshold(
    scores: NDArray[np.float64], Y: Float32, weights: NDArray[np.float32] | None = None
) -> float:
    """Return the threshold of scores (n, L) with the largest F1 over all decisions.

    It is between two scores, and maximizes the micro-averaged ``2 TP / (predicted + actual)``.
    """
    order = np.argsort(-scores, axis=None, kind="stable")
    falling = scores.ravel()[order]
    counted = np.ones(len(scores)) if weights is None else weights.astype(np.float64)
    by_score = np.broadcast_to(counted[:, None], scores.shape).ravel()[order]
    actual = Y.ravel()[order] * by_score
    f1 = 2.0 * np.cumsum(actual) / np.maximum(np.cumsum(by_score) + actual.sum(), 1e-30)
    last = np.append(falling[:-1] > falling[1:], True)  # equal scores are on the same side
    best = int(np.argmax(np.where(last, f1, -1.0)))
    below = falling[best + 1] if best + 1 < len(falling) else falling[best]
    middle = float((falling[best] + below) / 2.0)
    return middle if middle > below else float(falling[best])


def _are_collections(y: ArrayLike) -> bool:
    rows = _rows_of(y)
    if not rows or not all(isinstance(labels, _COLLECTIONS) for labels in rows):
        return False
    return any(isinstance(labels, _SETS) for labels in rows) or not _is_table(rows)


def _has_numbers(y: Any) -> TypeGuard[Array]:
    """Return whether targets are an array of numbers or truths, and not another form of these."""
    is_array = type(y) is np.ndarray and y.size > 0 and y.dtype.kind in "biuf"
    return is_array and bool(np.isfinite(y).all())


def _rows_of(y: ArrayLike) -> list[Any]:
    """Return the elements of a list, a tuple or a one-dimensional array of objects."""
    if isinstance(y, list | tuple):
        return list(y)
    values = y.to_numpy() if hasattr(y, "to_numpy") else y  # a column of pandas
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype == object:
        return list(values)
    return []


def _is_table(y: list[Any]) -> bool:
    """Return whether rows all have one length, at least 2, and contain only zeros and ones."""
    lengths = {len(row) for row in y}
    if len(lengths) > 1 or lengths == {0}:
        return False
    if lengths == {1}:  # a column of a matrix, for scikit-learn to validate
        return True
    return all(isinstance(v, int | float | np.number) and v in (0, 1) for row in y for v in row)


def _matrix_of_collections(y: ArrayLike, classes: Array | None) -> tuple[Float32, Array]:
    for label in chain.from_iterable(_rows_of(y)):
        is_name = isinstance(label, str | int | float | np.generic) and str(label) != "nan"
        check(is_name, "a label", str(label)[:40], "a text or a number")
    sets = [set(labels) for labels in _rows_of(y)]
    if classes is None:
        try:
            distinct = sorted(set().union(*sets))
        except TypeError as error:
            raise InputError(
                f"the labels cannot be sorted ({str(error)[:80]}); use labels of one type"
            ) from error
        kinds = {isinstance(label, str) for label in distinct}
        classes = np.array(distinct, dtype=None if len(kinds) < 2 else object)
    allowed = set(classes.tolist())
    unknown = [label for labels in sets for label in labels if label not in allowed]
    if unknown:
        raise InputError(
            f"a point has the label {str(unknown[0])[:40]!r}, which does not occur in the training "
            "data; leave this label out"
        )
    place_of = {label: place for place, label in enumerate(classes.tolist())}
    Y = np.zeros((len(sets), len(classes)), np.float32)
    for row, own in zip(Y, sets, strict=True):
        row[[place_of[label] for label in own]] = 1
    return Y, classes
