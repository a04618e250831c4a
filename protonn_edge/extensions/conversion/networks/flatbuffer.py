"""The tables of a FlatBuffers file, with checks of all offsets and sizes.

A table begins with the distance back to its vtable, which contains the position of each field in
the table. Tables, vectors and texts are stored elsewhere, and fields contain the distance to them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_range
from protonn_edge.system.errors import InputError, InvalidValue

_MOST_TABLES = 1_000  # in a vector


@dataclass(frozen=True)
class FlatTable:
    """A table of a file, with its fields by their numbers in the schema."""

    content: bytes  # of the file
    what: str  # the file, for errors
    place: int

    @classmethod
    def root(cls, content: bytes, identifier: bytes, what: str) -> FlatTable:
        """Return the first table of a file; raises `InputError` if the identifier differs."""
        check(content[4:8] == identifier, what, content[4:8], f"the identifier {identifier!r}")
        return cls(content, what, 0)._at(0)

    def number(self, field: int, form: str, default: object = 0) -> Any:
        """Return a number in a format of `struct`."""
        place = self._field(field)
        return default if place is None else self._read(form, place)

    def table(self, field: int) -> FlatTable:
        """Return a table; it has no fields if it is missing."""
        place = self._field(field)
        return _EMPTY if place is None else self._at(place)

    def tables(self, field: int) -> Iterator[FlatTable]:
        """Yield the tables of a vector."""
        begin, count = self._vector(field, 4, _MOST_TABLES)
        for number in range(count):
            yield self._at(begin + 4 * number)

    def array(self, field: int, dtype: str, most: int) -> Array:
        """Return a read-only vector of at most `most` numbers; it is empty if it is missing."""
        numbers = np.dtype(f"<{dtype}")
        begin, count = self._vector(field, numbers.itemsize, most)
        return np.frombuffer(self.content, numbers, count, begin)

    def text(self, field: int) -> str:
        """Return a text; bytes that are not UTF-8 are replaced."""
        return self.array(field, "u1", len(self.content)).tobytes().decode("utf-8", "replace")

    def _at(self, place: int) -> FlatTable:
        return FlatTable(self.content, self.what, place + self._read("I", place))

    def _field(self, field: int) -> int | None:
        vtable = self.place - self._read("i", self.place)
        at = 4 + 2 * field
        if at + 2 > self._read("H", vtable):
            return None
        offset = self._read("H", vtable + at)
        return self.place + offset if offset else None

    def _vector(self, field: int, item_bytes: int, most: int) -> tuple[int, int]:
        """Return the start and the number of a vector's items, all of which are in the file."""
        place = self._field(field)
        if place is None:
            return 0, 0
        place += self._read("I", place)
        count = self._read("I", place)
        if count * item_bytes > len(self.content) - place - 4:
            raise self._damaged()
        check_range(f"entries of a list in {self.what}", count, 0, most)
        return place + 4, count

    def _read(self, form: str, place: int) -> Any:
        if not 0 <= place <= len(self.content) - struct.calcsize(form):
            raise self._damaged()
        return struct.unpack_from(f"<{form}", self.content, place)[0]

    def _damaged(self) -> InputError:
        return InvalidValue(self.what, "a place beyond its end")


_EMPTY = FlatTable(b"\x04\0\x04\0\x04\0\0\0", "", 4)
