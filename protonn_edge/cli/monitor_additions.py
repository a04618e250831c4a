"""What extensions may add to the command `monitor`: talking to the board by keys."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from protonn_edge.device.connection import Link
from protonn_edge.device.listener import Listener
from protonn_edge.device.protocol import Message


class MonitorKeys(Protocol):
    """Keys of a terminal, or lines of a pipe, that act on the last window of a board."""

    @property
    def introduction(self) -> str:
        """The keys and their meaning."""

    def pressed(self) -> AbstractContextManager[None]:
        """Press the keys of the terminal, if there is one."""

    def read_line(self) -> None:
        """Press the key in the next line of a pipe, which is for the last window."""

    def replied(self, reply: Message) -> tuple[str, dict[str, Any]]:
        """Return a sentence about the board's reply to a key, and an object for JSON."""


class MonitorAddition(Protocol):
    """The options of an extension."""

    @property
    def is_on(self) -> bool:
        """Whether they are given."""

    @property
    def listener(self) -> Callable[[Link, str], Listener]:
        """What listens to the board in place of a `Listener`."""

    def keys(self, listener: Listener, tell: Callable[[str], object]) -> MonitorKeys:
        """Return the keys for a listener; `tell` prints a sentence about one that was pressed."""
