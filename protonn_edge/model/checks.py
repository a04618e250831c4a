"""Checks of a model's arrays, each with a one-sentence error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_range, check_shape
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.schema import JsonObject

Arrays = dict[str, Array]  # arrays of a model file by their names
JSON_LIMIT_BYTES = 2**20


def little_endian(array: Array) -> Array:
    """Return an array in little-endian byte order, as in files and hashes."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def check_type(array: Array, name: str, wanted: str) -> None:
    """Refuse an array unless its type is `wanted`, such as "f8"; the byte order may differ."""
    check(array.dtype.str[1:] == wanted, name, array.dtype.name, np.dtype(wanted).name)


def single_value(array: Array, name: str, kinds: str) -> Any:
    """Return the only value of an array; its type must be one of NumPy's `kinds`."""
    if array.shape != () or array.dtype.kind not in kinds:
        raise unlike(array, name, "a single value")
    return array.item()


def unlike(array: Array, name: str, wanted: str) -> InvalidValue:
    """Return the error for an array that differs from the `wanted` one in a model file."""
    return InvalidValue(name, f"{array.dtype.name} of shape {array.shape}, expected {wanted}")


def only_zeros(name: str, remedy: str) -> InvalidValue:
    """Return the error for weights without any other value."""
    return InvalidValue(name, "only zeros, so every point would have the same scores", remedy)


def no_scale(name: str, remedy: str) -> InvalidValue:
    """Return the error for weights that no integers represent well enough."""
    return InvalidValue(name, "no integer scale fits", remedy)


def check_finite(array: Array, name: str) -> None:
    """Refuse an array with a NaN or infinite value; the message gives its position."""
    if not np.isfinite(array).all():
        where = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        raise InvalidValue(name, f"NaN or infinity at {where}, expected finite numbers")


def parsed_json(array: Array, name: str) -> Any:
    """Return the parsed JSON in an array of at most `JSON_LIMIT_BYTES` bytes."""
    if array.dtype != np.uint8 or array.ndim != 1 or array.size > JSON_LIMIT_BYTES:
        raise unlike(array, name, f"at most {JSON_LIMIT_BYTES:,} bytes of JSON")
    try:
        return json.loads(array.tobytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidValue(name, "not JSON") from error


_LARGEST_NUMBER = 1e39  # for values in a feature's unit; float32 has a smaller range

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]


def set_checked(instance: object, name: str, value: object) -> None:
    """Store a checked field of a frozen dataclass during its creation."""
    object.__setattr__(instance, name, value)


def _numbers(array: Array, name: str, dimensions: int, wanted: str) -> Array:
    given = np.asarray(array)
    if given.ndim != dimensions or given.size == 0 or given.dtype.kind not in "fiu":
        raise unlike(given, name, wanted)
    return given


def checked_matrix(
    array: Array, name: str, *, rows: int | None = None, columns: int | None = None
) -> Float32:
    """Return a read-only float32 copy in C order, checked."""
    given = _numbers(array, name, 2, "a matrix of numbers with at least one row and one column")
    for axis, wanted, word in ((0, rows, "rows"), (1, columns, "columns")):
        if wanted is not None:
            check(given.shape[axis] == wanted, name, f"{given.shape[axis]:,} {word}", f"{wanted:,}")
    with np.errstate(over="ignore"):
        matrix = np.array(given, dtype=np.float32, order="C")
    check_finite(matrix, name)
    matrix.flags.writeable = False
    return matrix


def checked_vector(
    array: Array, name: str, *, size: int | None = None, largest: float = _LARGEST_NUMBER
) -> Float64:
    """Return a read-only float64 copy, checked."""
    given = _numbers(array, name, 1, "a vector with one number per feature")
    if size is not None:
        check_shape(name, given.shape, (size,))
    vector = np.array(given, dtype=np.float64)
    check_finite(vector, name)
    if np.abs(vector).max() > largest:
        j = int(np.abs(vector).argmax())
        check_range(f"{name} of feature {j}", float(vector[j]), -largest, largest)
    vector.flags.writeable = False
    return vector


def checked_record(record: Any) -> JsonObject:
    """Return `record` after a JSON round trip, so that saved and loaded records are equal."""
    check(isinstance(record, Mapping), "record", type(record).__name__, "a JSON object")
    try:
        text = json.dumps(dict(record), allow_nan=False, ensure_ascii=False)
        size = len(text.encode())
        parsed = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValue("record", f"not JSON ({str(error)[:80]})") from error
    check_range("bytes of the record", size, 0, JSON_LIMIT_BYTES)
    return dict(parsed)
