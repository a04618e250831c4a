"""Parse the header of an .npy array from an untrusted source.

The format is numpy's NEP 1. This package has its own parser to accept only what can be checked: no
objects, no records, no code, and nothing that makes Python warn.
"""

from __future__ import annotations

import ast
import re
import struct
import warnings
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from protonn_edge.errors import InputError, shortened

_MAGIC = b"\x93NUMPY"
_LIMIT_BYTES = 10_000
_DTYPE = re.compile(r"(\|b1|\|[iu]1|[<>=][iu][1248]|[<>=]f[248]|[<>=]U\d{1,6}|\|S\d{1,6})")
_BROKEN = (SyntaxError, ValueError, TypeError, KeyError, MemoryError, RecursionError)


@dataclass(frozen=True)
class ArrayHeader:
    """The description of an array.

    Attributes
    ----------
    dtype : dtype
        Booleans, integers, floats or text.
    shape : tuple of int
    fortran : bool
        Whether the first index runs fastest.
    data_offset : int
        Where the values begin, in bytes.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    data_offset: int


def read_header(stream: IO[bytes], what: str, records: np.dtype[Any] | None = None) -> ArrayHeader:
    """Read a header from the beginning of an array.

    Parameters
    ----------
    stream : binary stream
    what : str
        The beginning of an error's sentence: the file, and the array's name.
    records : dtype, optional
        The only type of records that is accepted.

    Raises
    ------
    InputError
        If it is not a header, or that of an array of objects or records.
    """
    start = stream.read(8)
    if start[:6] != _MAGIC or len(start) != 8 or start[6] not in (1, 2, 3):
        raise InputError(f"{what} is not a numpy array; write the file with numpy.savez")
    width, form = (2, "<H") if start[6] == 1 else (4, "<I")
    size = stream.read(width)
    length = struct.unpack(form, size)[0] if len(size) == width else 0
    if length > _LIMIT_BYTES:
        raise InputError(
            f"{what} has a header of {length:,} bytes, the limit is {_LIMIT_BYTES:,}; write the "
            "file again"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "error"
            )  # about an invalid escape or number: the header is damaged
            header = ast.literal_eval(stream.read(length).decode("utf-8"))
        described, fortran, shape = header["descr"], header["fortran_order"], header["shape"]
    except (*_BROKEN, Warning) as error:
        raise InputError(f"{what} has a damaged header; write the file again") from error
    if described == "|O":
        raise InputError(
            f"{what} has the type object, and pickled objects are not read; save text with "
            ".astype(str), and numbers with .astype(float)"
        )
    if records is not None and described == records.descr:
        dtype = records
    elif isinstance(described, str) and _DTYPE.fullmatch(described):
        dtype = np.dtype(described)
    else:
        raise InputError(
            f"{what} has the type {shortened(str(described), 40)!r}, but only numbers and text are "
            "read (no pickled objects); convert it and write the file again"
        )
    if not _is_shape(shape):
        raise InputError(f"{what} has a damaged shape; write the file again")
    return ArrayHeader(dtype, shape, bool(fortran), 8 + width + length)


def _is_shape(shape: object) -> bool:
    return (
        isinstance(shape, tuple)
        and len(shape) <= 8
        and all(type(size) is int and 0 <= size < 2**40 for size in shape)
    )
