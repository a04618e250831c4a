"""Read an Intel HEX file: lines of bytes, each with its address and a checksum."""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from pathlib import Path

from protonn_edge.errors import InputError


def hex_chunks(content: bytes, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield address and bytes of each data record.

    Parameters
    ----------
    content : bytes
        Of the file.
    path : Path
        Where it came from, for messages.

    Raises
    ------
    InputError
        If a line is no record, or the last one is missing.
    """
    base = 0
    for number, kind, offset, data in _records(content, path):
        if kind == 0x00:
            yield base + offset, data
        elif kind == 0x01:
            return
        elif kind in (0x02, 0x04) and len(data) == 2:
            base = int.from_bytes(data, "big") << (4 if kind == 0x02 else 16)
        elif kind not in (0x03, 0x05):  # those two name a start address, which an AVR has not
            raise _damaged(path, number)
    raise InputError(f"{path} has no end record, so it is truncated; build the firmware again")


def _records(content: bytes, path: Path) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield (line number, type, offset, data) of each record; the checksums are right."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        text = line.strip()
        if not text:
            continue
        try:
            record = binascii.unhexlify(text[1:])
        except binascii.Error as error:
            raise _damaged(path, number) from error
        if text[:1] != b":" or len(record) < 5 or len(record) != record[0] + 5:
            raise _damaged(path, number)
        if sum(record) & 0xFF:
            raise _damaged(path, number)
        yield number, record[3], int.from_bytes(record[1:3], "big"), record[4:-1]


def _damaged(path: Path, number: int) -> InputError:
    return InputError(
        f"{path}, line {number}, is not an Intel HEX record; build the firmware again"
    )
