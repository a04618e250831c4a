"""Read arrays from an .npz file that a stranger may have made.

`numpy.load` allocates what a header asks for. Here every size is compared with a limit before
memory is taken for it, pickled objects never get as far as numpy, and whatever is wrong comes out
as one sentence that names the file and the array. Model files and data sets are both read through
this.
"""

from __future__ import annotations

import ast
import math
import re
import stat
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError

_MAGIC = b"\x93NUMPY"
_HEADER_LIMIT = 10_000
_MEMBER_LIMIT = 1_000
_DTYPE = re.compile(r"(\|b1|\|[iu]1|[<>=][iu][1248]|[<>=]f[248]|[<>=]U\d{1,6}|\|S\d{1,6})")
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    IndexError,
)


class ArrayArchive:
    """The arrays of one .npz file, read one at a time.

    Parameters
    ----------
    path : Path
        A regular file.
    limit_bytes : int
        What the file, and the sum of its unpacked members, may measure at most.

    Attributes
    ----------
    names : tuple of str
        The arrays in the file, in its order.

    Raises
    ------
    InputError
        From the constructor and from `read`, with the file, the array and what is wrong with it.
    """

    def __init__(self, path: Path, *, limit_bytes: int) -> None:
        self.path = path
        check_file(path, limit_bytes=limit_bytes)
        try:
            self._zip = zipfile.ZipFile(path)
        except PermissionError as error:
            raise InputError(f"cannot read {path}: {_first_line(error)}; allow it") from error
        except _BROKEN as error:
            raise InputError(
                f"{path} is not an .npz file (no readable zip directory); it may be truncated or "
                "of another format, so write it again"
            ) from error
        try:
            self._members = self._checked_members(limit_bytes)
        except InputError:
            self._zip.close()
            raise
        self.names = tuple(self._members)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._zip.close()

    def read(self, name: str) -> NDArray[Any]:
        """Return the array called `name`, which must be one of `names`.

        Returns
        -------
        ndarray
            Of booleans, integers, floats or text, read-only.
        """
        member = self._members[name]
        try:
            with self._zip.open(member) as stream:
                dtype, shape, fortran, start = self._header(name, stream)
                expected = start + math.prod(shape) * dtype.itemsize
                if expected != member.file_size:
                    raise InputError(
                        f"{self.path}: array {name!r} says it needs {expected:,} bytes but has "
                        f"{member.file_size:,}; the file is damaged, so write it again"
                    )
                content = stream.read()
        except _BROKEN as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{self.path}: array {name!r} cannot be unpacked ({_first_line(error)}); "
                "the file is damaged, so write it again"
            ) from error
        if len(content) != expected - start:
            raise InputError(f"{self.path}: array {name!r} is truncated; write the file again")
        flat = np.frombuffer(content, dtype=dtype)
        if dtype.kind == "U" and not _is_unicode(content, dtype):
            raise InputError(
                f"{self.path}: array {name!r} has text that is not Unicode; write the file again"
            )
        return flat.reshape(shape, order="F" if fortran else "C")

    def _checked_members(self, limit_bytes: int) -> dict[str, zipfile.ZipInfo]:
        members = self._zip.infolist()
        if len(members) > _MEMBER_LIMIT:
            raise InputError(
                f"{self.path} holds {len(members):,} members, the limit is {_MEMBER_LIMIT:,}; "
                "it is not a file that protonn-edge reads"
            )
        unpacked = sum(member.file_size for member in members)
        if unpacked > limit_bytes:
            raise InputError(
                f"{self.path} would unpack to {unpacked:,} bytes, the limit is {limit_bytes:,}; "
                "use a smaller file"
            )
        found: dict[str, zipfile.ZipInfo] = {}
        for member in members:
            name = member.filename.removesuffix(".npy")
            if member.flag_bits & 1 or member.compress_type not in (
                zipfile.ZIP_STORED,
                zipfile.ZIP_DEFLATED,
            ):
                raise InputError(
                    f"{self.path}: array {name!r} is encrypted or packed in an unusual way; write "
                    "the file with numpy.savez or numpy.savez_compressed"
                )
            if name in found:
                raise InputError(
                    f"{self.path}: array {name!r} is there twice; write the file again"
                )
            found[name] = member
        return found

    def _header(
        self, name: str, stream: IO[bytes]
    ) -> tuple[np.dtype[Any], tuple[int, ...], bool, int]:
        """Parse the header of an .npy member: dtype, shape, Fortran order, offset of the data.

        The format is numpy's NEP 1. The parser is this module's own because it accepts only what
        can be checked: no objects, no records, no code.
        """
        start = stream.read(8)
        if start[:6] != _MAGIC or len(start) != 8 or start[6] not in (1, 2, 3):
            raise InputError(
                f"{self.path}: {name!r} is not a numpy array; write the file with numpy.savez"
            )
        width, form = (2, "<H") if start[6] == 1 else (4, "<I")
        length = struct.unpack(form, stream.read(width))[0]
        if length > _HEADER_LIMIT:
            raise InputError(
                f"{self.path}: array {name!r} has a header of {length:,} bytes, the limit is "
                f"{_HEADER_LIMIT:,}; write the file again"
            )
        try:
            header = ast.literal_eval(stream.read(length).decode("utf-8"))
            described, fortran, shape = header["descr"], header["fortran_order"], header["shape"]
        except (SyntaxError, ValueError, TypeError, KeyError, MemoryError, RecursionError) as error:
            raise InputError(
                f"{self.path}: array {name!r} has a damaged header; write the file again"
            ) from error
        if described == "|O":
            raise InputError(
                f"{self.path}: array {name!r} has the type object, and nothing pickled is read; "
                "save text with .astype(str), and numbers with .astype(float)"
            )
        if not isinstance(described, str) or not _DTYPE.fullmatch(described):
            raise InputError(
                f"{self.path}: array {name!r} has the type {str(described)[:40]!r}, only numbers "
                "and text are read (nothing pickled); convert it and write the file again"
            )
        if not _is_shape(shape):
            raise InputError(
                f"{self.path}: array {name!r} has a damaged shape; write the file again"
            )
        return np.dtype(described), shape, bool(fortran), 8 + width + length


def check_file(path: Path, *, limit_bytes: int) -> None:
    """Refuse what is not a regular, non-empty file of at most `limit_bytes` bytes."""
    try:
        state = path.stat()
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist; name a file that can be read") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {_first_line(error)}; check its name") from error
    if not stat.S_ISREG(state.st_mode):
        raise InputError(f"{path} is not a regular file; name a file that can be read")
    size = state.st_size
    if size == 0:
        raise InputError(f"{path} is empty; write it again")
    if size > limit_bytes:
        raise InputError(
            f"{path} has {size:,} bytes, the limit is {limit_bytes:,}; use a smaller file"
        )


def _is_unicode(content: bytes, dtype: np.dtype[Any]) -> bool:
    """Return whether all characters are in Unicode's range; numpy fails on others, but late."""
    if not content:
        return True
    characters = np.frombuffer(content, dtype=np.dtype("u4").newbyteorder(dtype.byteorder))
    return int(characters.max()) <= sys.maxunicode


def _is_shape(shape: object) -> bool:
    return (
        isinstance(shape, tuple)
        and len(shape) <= 8
        and all(type(size) is int and 0 <= size < 2**40 for size in shape)
    )


def _first_line(error: BaseException) -> str:
    """Return the first line of an error's message, for a message of one sentence."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0][:120]
