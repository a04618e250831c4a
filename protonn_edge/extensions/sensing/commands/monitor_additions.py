"""What extensions may add to the command `monitor`: talking to the board by keys."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import ClassVar, Protocol

from protonn_edge.chips.boards import Board
from protonn_edge.cli.command import Output
from protonn_edge.device.protocol import Message
from protonn_edge.extensions.sensing.listener import Listener
from protonn_edge.system.extensions import AddedOptions
from protonn_edge.system.schema import JsonObject


class MonitorKeys(Protocol):
    """Keys of a terminal, or lines of a pipe, that act on the last window of a board."""

    @property
    def introduction(self) -> str:
        """The keys and their meaning."""

    def pressed(self) -> AbstractContextManager[None]:
        """Press the keys of the terminal, if there is one."""

    def read_line(self) -> None:
        """Press the key in the next line of a pipe, which is for the last window."""

    def act(self, what: str, label: int) -> None:
        """Do about a class what a page orders, such as "teach"."""

    def replied(self, reply: Message) -> tuple[str, JsonObject]:
        """Return a sentence about the board's reply to a key, and an object for JSON."""


class MonitorAddition(AddedOptions):
    """The options of an extension: by default, they add nothing."""

    @property
    def is_on(self) -> bool:
        """Whether keys are asked for."""
        return False

    listener: ClassVar[type[Listener]] = Listener
    """What listens to the board."""

    def keys(self, listener: Listener, tell: Callable[[str], object]) -> MonitorKeys:
        """Return the keys for a listener; `tell` prints a sentence about one that was pressed."""
        raise NotImplementedError

    def shown(self, _out: Output, _board: Board, _port: str | None) -> bool:
        """Show something in place of the classes, if it is asked for; return whether it is."""
        return False
