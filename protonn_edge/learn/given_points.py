"""The checked arguments of `fit`: points, targets, weights and groups."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.data.naming import label_text
from protonn_edge.learn.points import Float32, Indices, Points, check_finite
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

_WEIGHT_RATIO = 1e30  # of float32 weights
ClassWeight = Mapping[Any, float] | str | None


class Taker(Protocol):
    """What takes the arguments of `fit`, see `Learner`."""

    class_weight: ClassWeight

    def matrix_of(self, X: ArrayLike, *, reset: bool) -> Float32:
        """Return points as a matrix (n, D)."""

    def column_of(self, y: ArrayLike | None, n: int) -> Array:
        """Return targets (n,)."""


def digest_of(points: Points, dtype: str) -> str:
    """Return the SHA-256 of all data that training depends on; targets are of this type."""
    digest = hashlib.sha256()
    for matrix, kind in (
        (points.X, "<f4"),
        (points.y, dtype),
        (points.weight, "<f8"),
        (points.group, "<i8"),
    ):
        if matrix is not None:
            digest.update(np.ascontiguousarray(matrix, dtype=kind).tobytes())
    return digest.hexdigest()


def point_weights(
    points: Float32,
    labels: Array,
    sample_weight: ArrayLike | None,
    class_weight: ClassWeight,
) -> NDArray[np.float64] | None:
    """Return a weight for each point, or None if all are equal."""
    if sample_weight is None and class_weight is None:
        return None
    weights = np.ones(len(points))
    if sample_weight is not None:
        from sklearn.utils.validation import _check_sample_weight

        weights = _check_sample_weight(
            sample_weight, points, dtype=np.float64, ensure_non_negative=True
        ).copy()
    classes, y = np.unique(labels, return_inverse=True)
    if class_weight == "balanced":
        totals = np.bincount(y, weights=weights)
        weights /= np.where(totals > 0, totals, 1.0)[y]
    elif isinstance(class_weight, Mapping):
        from sklearn.utils.class_weight import compute_class_weight

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

    `report.data_summary` checks this once, for all points.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        yield


def checked_points(learner: Taker, X: ArrayLike, what: str, *, reset: bool) -> Float32:
    """Return points without labels, checked."""
    points = learner.matrix_of(X, reset=reset)
    check_finite(points, what)
    return points


def class_indices(labels: Array, classes: Array, what: str) -> Indices:
    """Return the indices (n,) of labels in the classes (L,), which must include all labels."""
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise InputError(
            f"{what} has the label {label_text(str(unknown[0]))!r}, which is not among the "
            "training classes; leave out points with this label"
        )
    return np.searchsorted(classes, labels)
