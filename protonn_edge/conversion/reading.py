"""Read the attributes of a fitted estimator, and check all sizes and numbers.

An estimator may have been changed by hand, or come from an untrusted file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from protonn_edge.errors import InputError, shortened

LIMIT_BYTES = 2**30
LARGEST = 1e30
"""Largest magnitude of an estimator's numbers, so that sums of products fit floats."""

Shape = tuple[int | None, ...]


def check_fitted(estimator: Any) -> None:
    """Refuse an estimator that is not fitted, or lacks parameters."""
    name = type(estimator).__name__
    for parameter in getattr(type(estimator), "_get_param_names", list)():
        if not hasattr(estimator, parameter):
            raise _unusable(estimator, parameter, "is missing")
    try:
        if isinstance(estimator, BaseEstimator):
            estimator._validate_params()
    except ValueError as error:  # InvalidParameterError, whose sentences list types
        raise InputError(
            f"the {name} has a parameter out of its range ({shortened(str(error), 120)}); fit the "
            "estimator again"
        ) from error
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError) as error:
        raise InputError(
            f"the {name} is not fitted; call its fit before it is converted"
        ) from error


def numbers_of(estimator: Any, name: str, shape: Shape) -> NDArray[np.float64]:
    """Return a fitted attribute as finite float64 numbers; None in `shape` is any size but 0.

    Raises
    ------
    InputError
        If there is no such attribute, or it is not such an array.
    """
    array = array_of(estimator, name)
    if array.dtype.kind not in "fiu":
        raise _unusable(estimator, name, "does not contain numbers")
    fits = array.ndim == len(shape) and all(
        size > 0 if wanted is None else size == wanted
        for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = " x ".join("any" if size is None else f"{size:,}" for size in shape)
        raise _unusable(estimator, name, f"has the shape {array.shape} where {wanted} belongs")
    if not np.isfinite(array).all():
        raise _unusable(estimator, name, "has a NaN or infinite number")
    found: NDArray[np.float64] = array.astype(np.float64)
    if np.abs(found).max() > LARGEST:
        raise _unusable(estimator, name, f"has a number above {LARGEST:g}")
    return found


def array_of(estimator: Any, name: str) -> NDArray[Any]:
    """Return a fitted attribute as an array of any type."""
    value = attribute(estimator, name)
    try:
        return _dense(estimator, name, value) if issparse(value) else np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:  # such as a ragged list
        if isinstance(error, InputError):
            raise
        raise _unusable(estimator, name, "is no array") from error


def _dense(estimator: Any, name: str, value: Any) -> NDArray[Any]:
    """Return a sparse matrix dense, after checking its indices, which compiled code does not do."""
    try:
        rows = csr_array(value)
        rows.check_format(full_check=True)
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise _unusable(estimator, name, "is a damaged sparse matrix") from error
    if 8 * rows.shape[0] * rows.shape[1] > LIMIT_BYTES:
        raise _unusable(estimator, name, "is too large to be made dense")
    return np.asarray(rows.toarray())


def labels_of(estimator: Any) -> NDArray[Any]:
    """Return the labels of an estimator's classes, as an array of any shape."""
    labels = array_of(estimator, "classes_")
    if labels.dtype.kind not in "biufUSO":
        raise _unusable(estimator, "classes_", "is not a list of labels")
    return labels


def flag_of(estimator: Any, name: str) -> bool:
    """Return a boolean parameter."""
    value = attribute(estimator, name)
    if not isinstance(value, bool | np.bool_):
        raise _unusable(estimator, name, "is neither true nor false")
    return bool(value)


def text_of(estimator: Any, name: str) -> str:
    """Return a parameter that is a text; "a function" for anything else."""
    value = attribute(estimator, name)
    return value if isinstance(value, str) else "a function"


def attribute(estimator: Any, name: str) -> Any:
    """Return an attribute of a fitted estimator."""
    check_fitted(estimator)
    try:
        return getattr(estimator, name)
    except (AttributeError, TypeError, ValueError, LookupError) as error:  # some are computed
        raise _unusable(estimator, name, "is missing") from error


def _unusable(estimator: Any, name: str, what: str) -> InputError:
    return InputError(f"{name!r} of the {type(estimator).__name__} {what}; fit the estimator again")
