"""Read arrays from an .npz file from an untrusted source.

`numpy.load` allocates as much memory as a header asks for. Here every size is checked against a
limit before memory is allocated, pickled objects never reach numpy, and any error is one sentence
that names the file and the array. Model files and data sets are both read by this module.
"""

from __future__ import annotations

import math
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.npy_header import read_header
from protonn_edge.errors import InputError
from protonn_edge.system.files import check_file

_MEMBER_LIMIT = 1_000
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
        Maximum size of the file, and of the sum of its unpacked members.

    Attributes
    ----------
    names : tuple of str
        The arrays in the file, in its order.

    Raises
    ------
    InputError
        From the constructor and from `read`, with the file, the array and the cause.
    """

    def __init__(self, path: Path, *, limit_bytes: int) -> None:
        self.path = path
        check_file(path, limit_bytes=limit_bytes)
        try:
            self._zip = zipfile.ZipFile(path)
        except PermissionError as error:
            raise InputError(
                f"cannot read {path}: {_first_line(error)}; check its permissions"
            ) from error
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

    def read(self, name: str, records: np.dtype[Any] | None = None) -> NDArray[Any]:
        """Return the array called `name`, which must be one of `names`.

        Parameters
        ----------
        name : str
        records : dtype, optional
            The only type of records that is accepted.

        Returns
        -------
        ndarray
            Of booleans, integers, floats or text, read-only.
        """
        member = self._members[name]
        try:
            with self._zip.open(member) as stream:
                header = read_header(stream, f"{self.path}: array {name!r}", records)
                dtype = header.dtype
                expected = header.data_offset + math.prod(header.shape) * dtype.itemsize
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
                f"{self.path}: array {name!r} cannot be unpacked ({_first_line(error)}); the file "
                "is damaged, write it again"
            ) from error
        if len(content) != expected - header.data_offset:
            raise InputError(f"{self.path}: array {name!r} is truncated; write the file again")
        flat = np.frombuffer(content, dtype=dtype)
        if dtype.kind == "U" and not _is_unicode(content, dtype):
            raise InputError(
                f"{self.path}: array {name!r} has text that is not Unicode; write the file again"
            )
        return flat.reshape(header.shape, order="F" if header.fortran else "C")

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
