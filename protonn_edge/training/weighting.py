"""Weights of points: their given weights times those of their classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from protonn_edge.errors import InputError

ClassWeight = Mapping[Any, float] | str | None


def point_weights(
    points: NDArray[Any],
    labels: NDArray[Any],
    sample_weight: ArrayLike | None,
    class_weight: ClassWeight,
) -> NDArray[np.float64] | None:
    """Return a weight for each point, or None if all are equal.

    - `points` (n, D): raw features.
    - `labels` (n,): labels.
    - `sample_weight` (n,): not negative.
    - `class_weight`: "balanced" gives every class the same total weight.

    Raises `ValueError` if a weight is negative, a label is unknown, or no point has a weight above
    0.
    """
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
    if not (weights > 0).any():
        raise InputError("every point has weight 0; give a class that has points a weight above 0")
    return weights
