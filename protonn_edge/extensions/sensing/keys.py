"""The keys of a terminal."""

from __future__ import annotations

import os
import select
import sys
from typing import Any, Self

from protonn_edge.system.errors import InputError

try:
    import termios
    import tty
except ImportError:  # Windows has none
    termios = None  # type: ignore[assignment]


_ESCAPE = b"\x1b"


class Keys:
    """The keys that are pressed, one at a time; a context manager that restores the terminal."""

    def __init__(self, instead: str) -> None:
        self._instead = instead  # what to do where none can be read
        self._settings: list[Any] | None = None

    def __enter__(self) -> Self:
        if termios is None:
            raise InputError(f"this command cannot read keys on Windows; {self._instead}")
        self._settings = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        return self

    def __exit__(self, *_: object) -> None:
        if self._settings is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._settings)

    def pressed(self) -> str:
        """Return the key that was pressed, "" if none was, or one of several characters."""
        if not select.select([sys.stdin], [], [], 0)[0]:
            return ""
        key = os.read(sys.stdin.fileno(), 1)
        if key == _ESCAPE:  # an arrow's letter is no key
            while select.select([sys.stdin], [], [], 0)[0] and os.read(sys.stdin.fileno(), 1):
                pass
            return ""
        return key.decode("ascii", errors="replace") or "q"
