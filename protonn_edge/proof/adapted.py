"""The model's functions in a linked program, also where the compiler adapted them to their callers.

Link-time optimization knows all calls of a function. If they pass the same array, it puts the
array's address into the code (``pnn_predict.constprop.0``), which then has no such argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from protonn_edge.avr.names import Names, Variable
from protonn_edge.proof.forms import Byte, Unproven


def function_of(names: Names, name: str) -> tuple[int, bool]:
    """Return where a function is, and whether it was adapted to its callers."""
    copies = names.copies_of(name)
    if not copies:
        raise Unproven(
            f"there is no function {name}: it is not called, or compiled into its caller"
        )
    if len(copies) > 1:
        raise Unproven(f"the compiler adapted {name} to {len(copies)} callers, each in its own way")
    return copies[0], names.address_of(name) is None


class CallersArray:
    """An array that the code of a function names: the variable of another file that it reads first.

    A wrong choice proves nothing wrong. The claim is about the bytes of this variable, whatever
    they are.

    Attributes
    ----------
    name : str
        The variable; empty if none was read.
    """

    def __init__(self, others: Iterable[Variable], bytes_: Sequence[Byte]) -> None:
        self._bytes, self.name, self._first = bytes_, "", 0
        self._others = [each for each in others if each.size >= len(bytes_)]

    def at(self, place: int) -> Byte | None:
        """Return the byte at an address, or None if that is not in the array."""
        if not self.name:
            for each in self._others:
                if each.address <= place < each.address + each.size:
                    self.name, self._first = each.name, each.address
        index = place - self._first
        return self._bytes[index] if self.name and 0 <= index < len(self._bytes) else None
