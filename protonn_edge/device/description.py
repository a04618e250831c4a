"""Wait for the description of a board that only sends."""

from __future__ import annotations

import time
from typing import Protocol, TypeVar

from protonn_edge.device.link import Line
from protonn_edge.errors import CheckFailed

_DESCRIPTION_S = 15.0  # a bootloader, and the second between two descriptions
_READ_S = 0.25

_T = TypeVar("_T")


class Described(Protocol[_T]):
    """A decoder of bytes that begin with a description."""

    @property
    def description(self) -> object | None:
        """The board's description; None until it is complete."""

    def feed(self, data: bytes) -> list[_T]:
        """Return what these bytes complete."""


def read_description(line: Line, stream: Described[_T], silent: str) -> list[_T]:
    """Read until a board's description is complete; return what was received with it.

    Raises
    ------
    CheckFailed
        If it is not complete within 15 s; the sentence is `silent`.
    """
    end = time.monotonic() + _DESCRIPTION_S
    early: list[_T] = []
    while stream.description is None:
        if time.monotonic() > end:
            raise CheckFailed(silent)
        early += stream.feed(line.read(_READ_S))
    return early
