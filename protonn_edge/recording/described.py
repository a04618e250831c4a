"""Wait until a board that only sends has said what it is."""

from __future__ import annotations

import time
from typing import Protocol, TypeVar

from protonn_edge.errors import CheckFailed
from protonn_edge.hil.link import Line

_DESCRIPTION_S = 15.0  # a bootloader, and a second until a board says again what it is
_READ_S = 0.25

_T = TypeVar("_T")


class Described(Protocol[_T]):
    """A stream of bytes that begins with a description."""

    @property
    def description(self) -> object | None:
        """What the board has said of itself; None until then."""

    def feed(self, data: bytes) -> list[_T]:
        """Return what bytes complete."""


def read_description(line: Line, stream: Described[_T], silent: str) -> list[_T]:
    """Read until a board has said what it is; return what came with that.

    Raises
    ------
    CheckFailed
        If it does not within 15 s; the sentence is `silent`.
    """
    end = time.monotonic() + _DESCRIPTION_S
    early: list[_T] = []
    while stream.description is None:
        if time.monotonic() > end:
            raise CheckFailed(silent)
        early += stream.feed(line.read(_READ_S))
    return early
