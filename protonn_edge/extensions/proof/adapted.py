"""The model's functions in a linked program, also where the compiler adapted them to their callers.

Link-time optimization knows all calls of a function. If they pass the same array, it puts the
array's address into the code (``pnn_predict.constprop.0``), which then has no such argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from protonn_edge.chips.avr.names import Names, Variable
from protonn_edge.extensions.proof.forms import Byte, Unproven


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
    they are; it is the same one for all calls.
    """

    def __init__(self) -> None:
        self._variable: Variable | None = None
        self.give((), ())

    @property
    def name(self) -> str:
        """The variable; empty if none was read."""
        return self._variable.base if self._variable else ""

    def give(self, others: Iterable[Variable], bytes_: Sequence[Byte]) -> None:
        """Let the array hold bytes for the next call, if it is one of some variables."""
        self._others, self._bytes = [*others], bytes_

    def at(self, place: int) -> Byte | None:
        """Return the byte at an address, or None if that is not in the array."""
        if not self._variable and self._bytes:
            inside = (v for v in self._others if v.address <= place < v.address + v.size)
            self._variable = next((v for v in inside if v.size >= len(self._bytes)), None)
        index = place - self._variable.address if self._variable else -1
        return self._bytes[index] if 0 <= index < len(self._bytes) else None
