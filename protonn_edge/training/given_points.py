"""The checked arguments of `fit`: points, targets, weights and groups; and sets of labels."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_array, validate_data

from protonn_edge.datasets.naming import label_text
from protonn_edge.errors import InputError, InvalidValue
from protonn_edge.system.checks import check
from protonn_edge.training.mapped_rows import MappedRows, Rows, are_mapped
from protonn_edge.training.points import Float32, Indices, Points, check_finite

_WEIGHT_RATIO = 1e30  # of float32 weights
ClassWeight = Mapping[Any, float] | str | None
_TAKEN: dict[str, Any] = {"dtype": np.float32, "ensure_all_finite": False}


def digest_of(points: Points) -> str:
    """Return the SHA-256 of all data that training depends on."""
    digest = hashlib.sha256()
    X = points.X
    chunks = X.chunks() if isinstance(X, MappedRows) else [(None, X)]
    for _, rows in chunks:
        _digest_matrix(digest, rows, "<f4")
    _digest_matrix(digest, points.y, points.labels.digested)
    if points.weight is not None:
        _digest_matrix(digest, points.weight, "<f8")
    if points.group is not None:
        _digest_matrix(digest, points.group, "<i8")
    return digest.hexdigest()


def given_points(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike | None, sample_weight: Any
) -> tuple[Points, NDArray[Any]]:
    """Return raw points, checked, and their classes (L,) in the order of the scores.

    Sets the estimator's number and names of features. A class is dropped if all of its points have
    weight 0.
    """
    points, labels = labelled_points(estimator, X, y)
    class_weight: ClassWeight = estimator.class_weight
    weights = point_weights(points, labels, sample_weight, class_weight)
    classes = np.unique(labels if weights is None else labels[weights > 0])
    y = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)  # of weight 0
    return Points(points, y, weights, n_classes=len(classes)), classes


def given_label_sets(
    estimator: BaseEstimator, X: ArrayLike, y: Any, sample_weight: Any
) -> tuple[Points, NDArray[Any]]:
    """Return points with sets of labels, checked, and their labels; see `given_points`."""
    points = checked_points(estimator, X, "X", reset=True)
    sets, classes = label_matrix(y)
    check_consistent_length(points, sets)
    if not sets.any():
        raise InvalidValue("the points", "no labels", "give each point its labels")
    weights = point_weights(points, np.zeros(sets.shape[0]), sample_weight, None)
    return Points(points, sets, weights), classes


def labelled_points(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike | None, *, reset: bool = True
) -> tuple[Rows, NDArray[Any]]:
    """Return points and labels, checked."""
    if are_mapped(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        labels = column_or_1d(y)
        check_consistent_length(X, labels)
        points: Any = MappedRows(X)
        for place, rows in points.chunks():
            check_finite(rows, first_row=place.start)
    else:
        points, labels = validate_data(estimator, X, y, reset=reset, **_TAKEN)
        check_finite(points)
    with labels_are_classes():
        check_classification_targets(labels)
    return points, labels


def point_weights(
    points: Rows,
    labels: NDArray[Any],
    sample_weight: ArrayLike | None,
    class_weight: ClassWeight,
) -> NDArray[np.float64] | None:
    """Return a weight for each point, or None if all are equal."""
    if sample_weight is None and class_weight is None:
        return None
    weights: NDArray[np.float64] = _check_sample_weight(
        sample_weight, points, dtype=np.float64, ensure_non_negative=True
    ).copy()
    classes, y = np.unique(labels, return_inverse=True)
    if class_weight == "balanced":
        totals = np.bincount(y, weights=weights)
        weights /= np.where(totals > 0, totals, 1.0)[y]
    elif isinstance(class_weight, Mapping):
        weights *= compute_class_weight(dict(class_weight), classes=classes, y=labels)[y]
    positive = weights[weights > 0]
    if not len(positive):
        raise InputError(
            "every point has weight 0; give a larger weight to at least one class that has points"
        )
    limit = min(math.inf, _WEIGHT_RATIO * float(positive.min()))
    if not (weights.min() >= 0 and positive.max() < limit):
        raise InputError(
            f"the weights of points and classes range from {weights.min():g} to {weights.max():g}, "
            f"but none may be below 0, and the largest may be at most {_WEIGHT_RATIO:g} times the "
            "smallest above 0; give weights of similar size"
        )
    return weights


@contextmanager
def labels_are_classes() -> Iterator[None]:
    """Keep scikit-learn from checking in each fit whether many classes are measurements.

    `datasets.summary` checks this once, for all points.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        yield


def checked_points(estimator: BaseEstimator, X: ArrayLike, what: str, *, reset: bool) -> Float32:
    """Return points without labels, checked."""
    points: Float32 = validate_data(estimator, X, reset=reset, **_TAKEN)
    check_finite(points, what)
    return points


def points_to_report_on(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, classes: NDArray[Any], *, sets: bool
) -> Points:
    """Return raw points to report on, with classes or `sets` of labels as in training."""
    points = checked_points(estimator, X, "evaluate_on", reset=False)
    if sets:
        matrix, _ = label_matrix(y, classes)
        check_consistent_length(points, matrix)
        return Points(points, matrix)
    labels = column_or_1d(y)
    check_consistent_length(points, labels)
    indices = class_indices(labels, classes, "evaluate_on")
    return Points(points, indices, n_classes=len(classes))


def class_indices(labels: NDArray[Any], classes: NDArray[Any], what: str) -> Indices:
    """Return the indices (n,) of labels in the classes (L,), which must include all labels."""
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise InputError(
            f"{what} has the label {label_text(str(unknown[0]))!r}, which is not among the "
            "training classes; leave out points with this label"
        )
    return np.searchsorted(classes, labels)


def _digest_matrix(digest: Any, matrix: Any, dtype: str) -> None:
    """Add a matrix or a vector to a digest."""
    digest.update(np.ascontiguousarray(matrix, dtype=dtype).tobytes())


_SETS = (set, frozenset)
_COLLECTIONS = (set, frozenset, list, tuple, np.ndarray)


def are_label_sets(y: Any) -> bool:
    """Return whether targets are sets of labels: an indicator matrix, or a sequence of collections.

    An indicator matrix has zeros and ones in at least two columns, in any form that scikit-learn
    accepts. Sets are always sets of labels; so are lists and tuples unless they form such a matrix.
    """
    if y is None:
        return False  # validation gives a better message
    if _are_collections(y):
        return True
    with np.errstate(invalid="ignore"):  # it turns infinite values into integers
        return bool(type_of_target(y, input_name="y") == "multilabel-indicator")


def label_matrix(y: Any, classes: NDArray[Any] | None = None) -> tuple[Float32, NDArray[Any]]:
    """Return label sets as a matrix, 1 where a point has a label, and the labels of its columns.

    If `classes` are not given, they are the labels that occur, sorted, or the column numbers.
    Raises `InputError` if a label is not among given classes, or if labels of several types cannot
    be sorted.
    """
    if _are_collections(y):
        return _matrix_of_collections(y, classes)
    given = y.toarray() if hasattr(y, "toarray") else y  # of scipy's matrices
    Y = check_array(given, dtype=None, input_name="y").astype(np.float32)
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
    """Return whether rows all have one length, at least 2, and contain only zeros and ones."""
    lengths = {len(row) for row in y}
    if len(lengths) > 1 or lengths == {0}:
        return False
    if lengths == {1}:  # a column of a matrix, for scikit-learn to validate
        return True
    return all(isinstance(v, int | float | np.number) and v in (0, 1) for row in y for v in row)


def _matrix_of_collections(y: Any, classes: NDArray[Any] | None) -> tuple[Float32, NDArray[Any]]:
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
