"""Checks of training points, each with a one-sentence error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from protonn_edge.errors import InputError


def check_finite(X: Any, what: str = "X", first_row: int = 0) -> None:
    """Refuse points X (n, D) with a NaN or an infinite value; `first_row` is the number of X[0]."""
    values = X.data if issparse(X) else X
    if X.dtype.kind != "f" or np.isfinite(np.sum(values, dtype=np.float64)):
        return
    bad = ~np.isfinite(values)
    if not bad.any():  # only their sum overflows
        return
    if issparse(X):
        places, first = X.tocoo(), int(bad.argmax())
        row, feature = int(places.row[first]), int(places.col[first])
    else:
        row, feature = (int(index) for index in np.argwhere(bad)[0])
    value = "NaN" if np.isnan(X[row, feature]) else "inf, or too large for float32"
    raise InputError(
        f"row {first_row + row:,} of {what} has {value} as feature {feature:,}; fix or drop the "
        "point"
    )


def check_varying(lower: NDArray[Any], upper: NDArray[Any]) -> None:
    """Refuse features that are all constant, by their smallest and largest values (D,)."""
    if not (lower < upper).any():
        raise InputError(
            f"every feature is constant (feature 0 is always {float(lower[0]):g}), so the points "
            "cannot be distinguished; give features that differ"
        )


def check_prototype_count(n_prototypes: int, n_points: int) -> None:
    """Refuse more prototypes than there are points."""
    if n_prototypes > n_points:
        raise InputError(
            f"the number of prototypes is {n_prototypes:,}, the training data has {n_points:,} "
            "points; try fewer prototypes or more points"
        )
