"""Write arrays to an .npz file, and read them from one of an untrusted source.

`numpy.load` allocates as much memory as a header asks for. Here, every size is checked against a
limit before memory is allocated, pickled objects never reach numpy, and any error is one sentence
that names the file and the array. This module reads both model files and data sets. It parses
numpy's header (NEP 1) itself, so that it accepts no objects, no code, no unexpected records, and
nothing that makes Python warn.
"""

from __future__ import annotations

import ast
import io
import math
import re
import struct
import sys
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_range
from protonn_edge.system.errors import InputError, InvalidValue, cannot_read, shortened
from protonn_edge.system.files import check_file

_MEMBER_LIMIT = 1_000
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    IndexError,
)
_MAGIC = b"\x93NUMPY"
_HEADER_LIMIT_BYTES = 10_000
_DTYPE = re.compile(r"(\|b1|\|[iu]1|[<>=][iu][1248]|[<>=]f[248]|[<>=]U\d{1,6}|\|S\d{1,6})")
_DAMAGED = (SyntaxError, ValueError, TypeError, KeyError, MemoryError, RecursionError)


def packed(arrays: Mapping[str, Array]) -> bytes:
    """Return the content of an .npz with these arrays, without times: the same on every system."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")  # dated 1980-01-01
            member.create_system = 3
            member.external_attr = 0o600 << 16
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            archive.writestr(member, content.getvalue())
    return buffer.getvalue()


class ArrayArchive:
    """The arrays of one .npz file, read one at a time: `names`, in the file's order.

    Neither the file nor the sum of its unpacked members may exceed `limit_bytes`. The constructor
    and `read` raise `InputError` with the file, the array and the cause.
    """

    def __init__(self, path: Path, *, limit_bytes: int, most_members: int = _MEMBER_LIMIT) -> None:
        self.path, self._most_members = path, most_members
        check_file(path, limit_bytes=limit_bytes)
        try:
            self._zip = zipfile.ZipFile(path)
        except PermissionError as error:
            raise cannot_read(path, error) from error
        except _BROKEN as error:
            raise InputError(
                f"{path} is damaged or is not an .npz file (no readable zip directory); save it "
                "again, or use another file"
            ) from error
        try:
            self._members = self._checked_members(limit_bytes)
        except InputError:
            self._zip.close()
            raise
        self.names = tuple(self._members)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def read(self, name: str, records: np.dtype[Any] | None = None) -> Array:
        """Return an array of booleans, numbers, text or these `records`, read-only."""
        member = self._members[name]
        try:
            with self._zip.open(member) as stream:
                return read_array(stream, member.file_size, f"{self.path}: array {name!r}", records)
        except _BROKEN as error:
            if isinstance(error, InputError):
                raise
            problem = (
                f"cannot be unpacked ({_first_line(error)}); the file is damaged, so save it again"
            )
            raise self.refusal(name, problem) from error

    def refusal(self, name: str, problem: str) -> InputError:
        """Return the error for an array with a problem, which ends with the remedy."""
        return InputError(f"{self.path}: array {name!r} {problem}")

    def _checked_members(self, limit_bytes: int) -> dict[str, zipfile.ZipInfo]:
        members = self._zip.infolist()
        check_range(f"arrays in {self.path}", len(members), 0, self._most_members)
        unpacked = sum(member.file_size for member in members)
        check_range(f"unpacked bytes of {self.path}", unpacked, 0, limit_bytes)
        checked: dict[str, zipfile.ZipInfo] = {}
        for member in members:
            name = member.filename.removesuffix(".npy")
            if member.flag_bits & 1 or member.compress_type not in (
                zipfile.ZIP_STORED,
                zipfile.ZIP_DEFLATED,
            ):
                raise self.refusal(
                    name,
                    "is encrypted, or compressed in an unsupported way; write the file with "
                    "numpy.savez or numpy.savez_compressed",
                )
            if name in checked:
                raise self.refusal(name, "occurs twice; write the file with one of the two")
            checked[name] = member
        return checked


def _is_unicode(content: bytes, dtype: np.dtype[Any]) -> bool:
    """Return whether all characters are in Unicode's range; numpy fails on others only later."""
    if not content:
        return True
    characters = np.frombuffer(content, dtype=np.dtype("u4").newbyteorder(dtype.byteorder))
    return int(characters.max()) <= sys.maxunicode


def _first_line(error: BaseException) -> str:
    """Return the first line of an error's message, for a message of one sentence."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0][:120]


def read_array(
    stream: IO[bytes], size: int, what: str, records: np.dtype[Any] | None = None
) -> Array:
    """Return the array of booleans, numbers, text or these `records` in a stream of `size` bytes.

    It is read-only. Raises `InputError`, in which `what` names the array.
    """
    dtype, shape, fortran, offset = _read_header(stream, what, records)
    expected = offset + math.prod(shape) * dtype.itemsize
    check(size == expected, what, f"{size:,} bytes", f"the {expected:,} of its header")
    content = stream.read()
    check(len(content) == expected - offset, what, "fewer bytes", "as many as it declares")
    check(dtype.kind != "U" or _is_unicode(content, dtype), what, "other bytes", "Unicode")
    flat = np.frombuffer(content, dtype=dtype)
    return flat.reshape(shape, order="F" if fortran else "C")


def _read_header(
    stream: IO[bytes], what: str, records: np.dtype[Any] | None
) -> tuple[np.dtype[Any], tuple[int, ...], bool, int]:
    """Return the type, the shape, whether it is in Fortran's order, and where the values begin."""
    start = stream.read(8)
    known = start[:6] == _MAGIC and len(start) == 8 and start[6] in (1, 2, 3)
    check(known, what, "other content", "a NumPy array")
    width, form = (2, "<H") if start[6] == 1 else (4, "<I")
    size = stream.read(width)
    length = struct.unpack(form, size)[0] if len(size) == width else 0
    check_range(f"{what}, bytes of the header", length, 0, _HEADER_LIMIT_BYTES)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # on an invalid escape or number, which means damage
            header = ast.literal_eval(stream.read(length).decode("utf-8"))
        described, fortran, shape = header["descr"], header["fortran_order"], header["shape"]
    except (*_DAMAGED, Warning) as error:
        raise InvalidValue(what, "damaged header") from error
    if described == "|O":
        raise InputError(
            f"{what} has the type 'object', but pickled objects are not read; save text with "
            ".astype(str), and numbers with .astype(float)"
        )
    if records is not None and described == records.descr:
        dtype = records
    elif isinstance(described, str) and _DTYPE.fullmatch(described):
        dtype = np.dtype(described)
    else:
        raise InputError(
            f"{what} has the type {shortened(str(described), 40)!r}, but only numbers and text are "
            "read (no pickled objects); convert the array, and save the file again"
        )
    check(_is_shape(shape), what, "another shape", "a tuple of sizes")
    return dtype, shape, bool(fortran), 8 + width + length


def _is_shape(shape: object) -> bool:
    return (
        isinstance(shape, tuple)
        and len(shape) <= 8
        and all(type(size) is int and 0 <= size < 2**40 for size in shape)
    )
