"""A call of a function that is linked in two forms, and the bytes that it can reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from extensions.proof.agreement.linked import Linked

from protonn_edge.extensions.proof.forms import Value

_BUFFERS = 0x900  # where arrays of the caller begin


@dataclass(frozen=True)
class To:
    """The address of a place in a variable, a buffer or a table."""

    name: str
    offset: int = 0


Place = tuple[str, int]
"""A byte: of which variable, buffer or argument, and which of its."""

Table = Sequence[int | None]
"""Bytes in flash; None is for one that may be any."""


@dataclass(frozen=True)
class Call:
    """A call of a function.

    Attributes
    ----------
    function : str
        Its name.
    arguments : sequence of (int, To or str, int)
        What it is given, and bytes of that; a name is of a value that may be any.
    returns : int
        Bytes that it returns.
    fixed : mapping of str to int, To or sequence of int
        Variables and buffers whose values are known; others, and None, may be any.
    ranges : mapping of (str, int, int) to (int, int)
        Of a variable's bytes from an offset on, so many: the least and the largest number.
    buffers : mapping of str to int
        Arrays of the caller, and their bytes.
    tables : mapping of str to sequence
        What is in tables in flash, if that is not what is in the program.
    ignored : sequence of str
        Variables that may differ afterwards.
    points : mapping of str to array of shape (n, size)
        Values of a variable or buffer that a part of many has: they reach what few others do.
    together : mapping of (str, int) to array of shape (n,)
        Values of bytes that may be any, if these are all that a proof is about.
    """

    function: str
    arguments: Sequence[tuple[int | To | str, int]] = ()
    returns: int = 0
    fixed: Mapping[str, int | To | Sequence[int | None]] = field(default_factory=dict)
    ranges: Mapping[tuple[str, int, int], tuple[int, int]] = field(default_factory=dict)
    buffers: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    ignored: Sequence[str] = ()
    points: Mapping[str, np.ndarray] = field(default_factory=dict)
    together: Mapping[Place, np.ndarray] = field(default_factory=dict)

    def address(self, linked: Linked, to: To) -> int:
        """Return where a place is."""
        names = list(self.buffers)
        if to.name in names:
            before = names[: names.index(to.name)]
            return _BUFFERS + sum(self.buffers[name] for name in before) + to.offset
        return (linked.variables | linked.tables)[to.name].address + to.offset

    def places(self, linked: Linked) -> dict[int, Place]:
        """Return the bytes that the caller knows of: address to name and offset."""
        sizes = {name: each.size for name, each in linked.variables.items()} | dict(self.buffers)
        return {
            self.address(linked, To(name)) + offset: (name, offset)
            for name, size in sizes.items()
            for offset in range(size)
        }

    def known(self, linked: Linked) -> dict[Place, int]:
        """Return the bytes whose values are given."""
        found = {}
        for name, value in self.fixed.items():
            size = self.buffers.get(name) or linked.variables[name].size
            number = self.address(linked, value) if isinstance(value, To) else value
            if isinstance(number, int):
                number = (number % 256**size).to_bytes(size, "little")
            assert len(number) == size, f"{name} has {size} bytes"
            found |= {(name, at): int(each) for at, each in enumerate(number) if each is not None}
        return found

    def registers(self, linked: Linked, free: Callable[[Place], Value]) -> list[Value]:
        """Return all registers in front of the call; `free` makes a byte that may be any."""
        registers: list[Value] = [free(("", number)) for number in range(32)]
        registers[1] = 0
        place = 26
        for value, size in self.arguments:
            place -= size + 1 & ~1
            for byte in range(size):
                if isinstance(value, str):
                    registers[place + byte] = free((value, byte))
                else:
                    number = self.address(linked, value) if isinstance(value, To) else value
                    registers[place + byte] = number >> 8 * byte & 255
        return registers
