"""What follows from the fields of a dataclass of numbers and arrays, such as a stage: its bytes.

A field with ``repr=False`` is not part of the arithmetic, and is not hashed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import numpy as np

from protonn_edge.chain.checks import little_endian


def parts(value: object, name: str) -> Iterator[bytes]:
    """Yield the bytes that stand for a value in a hash: the names and numbers of its fields."""
    if is_dataclass(value) and not isinstance(value, type):
        yield f"{name}:{getattr(value, 'kind', '')}\n".encode()
        for field in fields(value):
            if field.repr:
                yield from parts(getattr(value, field.name), f"{name}.{field.name}")
    elif isinstance(value, tuple):
        yield f"{name}:{len(value)}\n".encode()
        for number, each in enumerate(value):
            yield from parts(each, f"{name}.{number}")
    elif isinstance(value, np.ndarray):
        little = little_endian(value)
        yield f"{name}:{little.dtype.str}{little.shape}\n".encode()
        yield little.tobytes()
    else:
        yield f"{name}:{value!r}\n".encode()
