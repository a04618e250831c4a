"""Checks of the arrays of a model file, common to all parts of a model."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError

Arrays = dict[str, NDArray[Any]]
"""Arrays of a model file by their names."""

JSON_LIMIT_BYTES = 2**20


def little_endian(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in little endian, as in files and hashes."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def check_type(array: NDArray[Any], name: str, wanted: str) -> None:
    """Refuse an array whose type is not the `wanted` one, such as "f8", in any byte order."""
    if array.dtype.str[1:] != wanted:
        raise InputError(
            f"array {name!r} has the type {array.dtype.name}, a model file has "
            f"{np.dtype(wanted).name} there; train the model again"
        )


def single_value(array: NDArray[Any], name: str, kinds: str) -> Any:
    """Return the only value of an array, whose type is of one of NumPy's `kinds`."""
    if array.shape != () or array.dtype.kind not in kinds:
        raise InputError(
            f"array {name!r} has the shape {array.shape} and the type {array.dtype.name}, a model "
            "file has a single value there; train the model again"
        )
    return array.item()


def check_finite(array: NDArray[Any], name: str) -> None:
    """Refuse an array with a value that is NaN or infinite, and name its place."""
    if not np.isfinite(array).all():
        where = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        raise InputError(
            f"array {name!r} has a value at {where} that is NaN or infinite; train the model again"
        )


def parsed_json(array: NDArray[Any], name: str) -> Any:
    """Return the parsed JSON in an array of at most `JSON_LIMIT_BYTES` bytes."""
    if array.dtype != np.uint8 or array.ndim != 1 or array.size > JSON_LIMIT_BYTES:
        raise InputError(
            f"array {name!r} must be at most {JSON_LIMIT_BYTES:,} bytes of JSON; train the model "
            "again"
        )
    try:
        return json.loads(array.tobytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"array {name!r} is not JSON; train the model again") from error
