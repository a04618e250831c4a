"""Read UBJSON as XGBoost writes it: JSON with type markers, and sizes of texts and arrays."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

_NUMBERS = dict(zip("iUIlLdD", (">i1", ">u1", ">i2", ">i4", ">i8", ">f4", ">f8"), strict=True))
_DEEPEST = 32


def parse(content: bytes) -> Any:
    """Return the value: dicts, lists, text, numbers, and arrays if all numbers have the same type.

    Raises `ValueError` or `LookupError` if the bytes are not a single UBJSON value.
    """
    stream = BytesIO(content)
    value = _value(stream, _mark(stream), 0)
    if stream.read(1):
        raise ValueError("there are bytes after the value")
    return value


def _take(stream: BytesIO, size: int) -> bytes:
    taken = stream.read(max(0, size))
    if len(taken) != size:
        raise ValueError("a value extends beyond the end of the file")
    return taken


def _mark(stream: BytesIO) -> str:
    return _take(stream, 1).decode("latin-1")


def _numbers(stream: BytesIO, mark: str, count: int = 1) -> Any:
    kind = np.dtype(_NUMBERS[mark])
    return np.frombuffer(_take(stream, count * kind.itemsize), kind)


def _text(stream: BytesIO, mark: str) -> str:
    return _take(stream, int(_numbers(stream, mark)[0])).decode("utf-8")


def _value(stream: BytesIO, mark: str, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError("values are nested too deeply")
    if mark == "S":
        return _text(stream, _mark(stream))
    if mark == "[":
        return _array(stream, depth + 1)
    if mark != "{":
        return _numbers(stream, mark)[0]
    sizes = iter(lambda: _mark(stream), "}")
    return {_text(stream, size): _value(stream, _mark(stream), depth + 1) for size in sizes}


def _array(stream: BytesIO, depth: int) -> Any:
    mark, kind = _mark(stream), ""
    if mark == "$":  # all elements have this type
        kind, mark = _mark(stream), _mark(stream)
    if mark != "#":
        raise ValueError("an array has no size")
    size = int(_numbers(stream, _mark(stream))[0])
    if kind:
        return _numbers(stream, kind, size)
    return [_value(stream, _mark(stream), depth) for _ in range(size)]
