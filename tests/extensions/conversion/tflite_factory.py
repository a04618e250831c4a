"""Files of TensorFlow Lite for tests, also ones that no converter would write."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Fields = Mapping[int, Any]
"""A table's values by number: numbers, tables, lists of tables, and arrays."""

FLOAT32, INT32, INT8 = 0, 2, 9
OPTIONS = {
    1: 5,
    3: 1,
    4: 2,
    9: 8,
    17: 5,
    40: 27,
}  # the type of an operator's options, by its number


def flatbuffer(fields: Fields) -> bytes:
    """Return a file of TensorFlow Lite with this first table."""
    content = bytearray(b"\0\0\0\0TFL3")
    struct.pack_into("<I", content, 0, _table(content, fields))
    return bytes(content)


def network(
    tensors: Sequence[Fields], operators: Sequence[tuple[int, list[int], int, Fields]]
) -> bytes:
    """Return a file with tensors, from the first to the last operator's output.

    Operators are a number, inputs, an output and options.
    """
    numbered = [
        {0: n, 1: np.array(inputs, "<i4"), 2: np.array([output], "<i4"), 4: options}
        | ({3: OPTIONS[code]} if code in OPTIONS else {})
        for n, (code, inputs, output, options) in enumerate(operators)
    ]
    graph = {
        0: [{k: v for k, v in each.items() if k != "data"} for each in tensors],
        1: np.array([0], "<i4"),
        2: np.array([operators[-1][2]], "<i4"),
        3: numbered,
    }
    codes = [{0: code, 2: 1, 3: code} for code, *_ in operators]
    buffers: list[Fields] = [{}]
    for given, each in zip(tensors, graph[0], strict=True):  # type: ignore[call-overload]
        if "data" in given:  # type: ignore[comparison-overlap]
            each[2] = len(buffers)
            buffers.append({0: np.frombuffer(given["data"].tobytes(), np.uint8)})  # type: ignore[index]
    return flatbuffer({0: 3, 1: codes, 2: [graph], 4: buffers})


def tensor(
    shape: Sequence[int], scale: Any = None, zero: int = 0, kind: int = INT8, **data: Any
) -> dict[Any, Any]:
    """Return a tensor, perhaps with its `data`, an array."""
    scales = np.array([] if scale is None else scale, "<f4").ravel()
    zeros = np.full(len(scales), zero, "<i8")
    return {0: np.array(shape, "<i4"), 1: kind, 4: {2: scales, 3: zeros}, **data}


def _table(content: bytearray, fields: Fields) -> int:
    """Append a table, and what it refers to; return where it begins."""
    entries = max(fields, default=-1) + 1
    places = {number: 4 + 4 * slot for slot, number in enumerate(fields)}
    _align(content, 4)
    vtable = len(content)
    offsets = [places.get(number, 0) for number in range(entries)]
    content += struct.pack(f"<{2 + entries}H", 4 + 2 * entries, 4 + 4 * len(fields), *offsets)
    _align(content, 4)
    table = len(content)
    content += struct.pack("<i", table - vtable) + bytes(4 * len(fields))
    for number, value in fields.items():
        if isinstance(value, int):
            struct.pack_into("<i", content, table + places[number], value)
        else:
            _refer(content, table + places[number], value)
    return table


def _refer(content: bytearray, place: int, value: Any) -> None:
    """Append a table or a vector, and write the distance to it at a place."""
    if isinstance(value, Mapping):
        begin = _table(content, value)
    elif isinstance(value, np.ndarray):
        _align(content, 16, after=4)
        begin = len(content)
        content += struct.pack("<I", len(value)) + value.tobytes()
    else:
        _align(content, 4)
        begin = len(content)
        content += struct.pack("<I", len(value)) + bytes(4 * len(value))
        for number, each in enumerate(value):
            _refer(content, begin + 4 + 4 * number, each)
    struct.pack_into("<I", content, place, begin - place)


def _align(content: bytearray, size: int, after: int = 0) -> None:
    content += bytes(-(len(content) + after) % size)
