"""Detect files that are not text, contrary to their names, by their first bytes."""

from __future__ import annotations

from pathlib import Path

from protonn_edge.errors import InputError

_LOOKED_AT = 4096
_SIGNATURES = (
    (b"\x1f\x8b", "compressed with gzip; unpack it"),
    (b"BZh", "compressed with bzip2; unpack it"),
    (b"\xfd7zXZ", "compressed with xz; unpack it"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it"),
    (b"7z\xbc\xaf", "a 7z archive; unpack it"),
    (b"PK\x03\x04", "a zip archive, as .npz and .xlsx files are; name it .npz, or save it as CSV"),
    (b"\x93NUMPY", "a numpy array; save the points and the labels with numpy.savez"),
    (b"\xd0\xcf\x11\xe0", "an Excel file; save it as CSV"),
    (b"\x89HDF", "an HDF5 file; convert it to .npz"),
    (b"PAR1", "a Parquet file; convert it to CSV or .npz"),
    (b"SQLite format 3", "an SQLite database; export a table as CSV"),
    (b"%PDF", "a PDF file; save the table as CSV"),
    (b"\xff\xfe", "text in UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16; save it as UTF-8"),
)


def check_is_text(path: Path) -> None:
    """Refuse a file that is an archive, another format, or text in UTF-16.

    Raises
    ------
    InputError
        With the file's format.
    """
    try:
        with path.open("rb") as stream:
            begin = stream.read(_LOOKED_AT)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check its permissions") from error
    for signature, what in _SIGNATURES:
        if begin.startswith(signature):
            raise InputError(f"{path} is {what}")
    if b"\0" not in begin:
        return
    halves = begin[0::2].count(0), begin[1::2].count(0)
    if min(halves) == 0 and 4 * max(halves) > len(begin):  # Latin letters have one zero byte each
        raise InputError(f"{path} seems to be text in UTF-16; save it as UTF-8")
    raise InputError(f"{path} has null bytes and is not text; convert it to CSV or .npz")
