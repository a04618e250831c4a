"""Numbers and names as literals of Python, which MicroPython and CPython read alike."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

_BYTES_A_LINE = 23  # of at most four characters each
_FEW = 10  # numbers that are written in decimal


def bytes_literal(values: ArrayLike) -> str:
    """Return whole numbers, 0..255, as bytes, in lines of less than 100 characters."""
    data = np.asarray(values, np.uint8).tobytes()
    lines = [
        repr(data[begin : begin + _BYTES_A_LINE])
        for begin in range(0, max(1, len(data)), _BYTES_A_LINE)
    ]
    return (
        lines[0] if len(lines) == 1 else "\n".join(["(", *(f"    {line}" for line in lines), ")"])
    )


def signed_literal(values: NDArray[np.int8]) -> str:
    """Return numbers, -128..127, as bytes of them plus 128: machine code reads bytes unsigned."""
    return bytes_literal(values.astype(np.int64) + 128)


def array_literal(code: str, values: ArrayLike) -> str:
    """Return whole numbers as an array of type "i", 32 bits, or "H", unsigned of 16 bits."""
    numbers = np.asarray(values, np.int64).ravel()
    if len(numbers) <= _FEW:
        return f'array("{code}", {numbers.tolist()})'
    packed = numbers.astype({"i": "<i4", "H": "<u2"}[code])
    return f'array("{code}", {bytes_literal(np.frombuffer(packed.tobytes(), np.uint8))})'


def names_literal(names: Iterable[str]) -> str:
    """Return names that come from data as a tuple; all but plain characters are escaped."""
    return ascii(tuple(names))
