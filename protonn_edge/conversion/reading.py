"""Read what a fitted estimator has learned, and believe none of it: sizes and numbers are checked.

An estimator may have been changed by hand, or read from somewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from protonn_edge.errors import InputError

LIMIT_BYTES = 2**30

Shape = tuple[int | None, ...]


def check_fitted(estimator: Any) -> None:
    """Refuse an estimator that has learned nothing yet."""
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError) as error:
        raise InputError(
            f"the {type(estimator).__name__} is not fitted; call its fit before it is converted"
        ) from error


def numbers_of(estimator: Any, name: str, shape: Shape) -> NDArray[np.float64]:
    """Return a fitted attribute as finite float64 numbers; None in `shape` is any size but 0.

    Raises
    ------
    InputError
        If there is no such attribute, or it is anything else.
    """
    value = attribute(estimator, name)
    if issparse(value):
        if 8 * value.shape[0] * value.shape[1] > LIMIT_BYTES:
            raise _unusable(estimator, name, "is too large to be made dense")
        value = value.toarray()
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise _unusable(estimator, name, "is not made of numbers")
    fits = array.ndim == len(shape) and all(
        size > 0 if wanted is None else size == wanted
        for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = " x ".join("any" if size is None else f"{size:,}" for size in shape)
        raise _unusable(estimator, name, f"has the shape {array.shape} where {wanted} belongs")
    if not np.isfinite(array).all():
        raise _unusable(estimator, name, "has a NaN or infinite number")
    return array.astype(np.float64)


def flag_of(estimator: Any, name: str) -> bool:
    """Return a parameter that is true or false."""
    return bool(attribute(estimator, name))


def attribute(estimator: Any, name: str) -> Any:
    """Return an attribute of a fitted estimator."""
    check_fitted(estimator)
    if not hasattr(estimator, name):
        raise _unusable(estimator, name, "is missing")
    return getattr(estimator, name)


def _unusable(estimator: Any, name: str, what: str) -> InputError:
    return InputError(f"{name!r} of the {type(estimator).__name__} {what}; fit the estimator again")
