"""The option of `monitor` that teaches a board: keys of a terminal, or lines of a pipe."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.cli.command import is_terminal, option
from protonn_edge.device.protocol import Message
from protonn_edge.extensions.sensing.commands.monitor_additions import MonitorAddition
from protonn_edge.extensions.sensing.keys import Keys
from protonn_edge.extensions.sensing.listener import Listener
from protonn_edge.extensions.teaching.examples import ERASED
from protonn_edge.extensions.teaching.listener import TeachingListener
from protonn_edge.extensions.teaching.messages import LearnReply
from protonn_edge.system.errors import CheckFailed, InvalidValue, counted
from protonn_edge.system.schema import JsonObject

_KEYS = "1234567890abcdefghijklmnoprstuvwxyz"  # without q
_FORGET, _QUIT = "-", "q"
_LONGEST_LINE = 1000  # of a pipe; the rest counts as the next line

_TEACH = option(
    "Label the last window with a key, or each window with a line from a pipe; see "
    "docs/teaching.md.",
    is_flag=True,
)


@dataclass(frozen=True)
class MonitorOptions(MonitorAddition):
    """The option of `monitor` that labels windows."""

    teach: bool = _TEACH

    @property
    def is_on(self) -> bool:
        """Whether it is given."""
        return self.teach

    listener: ClassVar[type[TeachingListener]] = TeachingListener

    def keys(self, listener: Listener, tell: Callable[[str], object]) -> Labels:
        """Return the keys of the board's classes."""
        assert isinstance(listener, TeachingListener)
        return Labels(listener, tell)


class Labels:
    """The keys of a board's classes; `tell` prints a sentence about one that was pressed."""

    def __init__(self, teacher: TeachingListener, tell: Callable[[str], object]) -> None:
        self._teacher, self._tell = teacher, tell
        self._forgetting = False
        n = teacher.description.n_classes
        if n > len(_KEYS):
            raise CheckFailed(
                f"the board has {n} classes, but --teach has keys for only {len(_KEYS)}; teach the "
                "board with pnn_learn in a sketch"
            )
        if teacher.erases:
            tell(f"warning: {ERASED}")
        self._names = [teacher.name_of(label) or "" for label in range(n)]

    @property
    def introduction(self) -> str:
        """The keys and their classes."""
        keys = ", ".join(f"{key} {name}" for key, name in zip(_KEYS, self._names, strict=False))
        room = counted(self._teacher.taught.room, "example")
        return (
            f"keys: {keys}; to forget the examples of a class, press {_FORGET} before its key; "
            f"room for {room}; taught so far: {self._counts}"
        )

    @contextlib.contextmanager
    def pressed(self) -> Iterator[None]:
        """Press the keys of the terminal, if there is one."""
        if not is_terminal(sys.stdin):
            yield
            return
        with Keys("send the keys through a pipe, one line per window") as keys:
            self._teacher.poll = lambda: self._press(keys.pressed())
            yield

    def read_line(self) -> None:
        """Press the key in the next line of a pipe, which is for the last window."""
        if is_terminal(sys.stdin) or sys.stdin is None:
            return
        line = sys.stdin.buffer.readline(_LONGEST_LINE).decode("ascii", "replace").strip()
        if len(line.removeprefix(_FORGET)) > 1:
            self._tell(
                f"a line from the pipe has {len(line)} characters, but must be the key of one "
                "class; send one key per line"
            )
            return
        for key in line:
            self._press(key)

    def act(self, what: str, label: int) -> None:
        """Teach the last window as a class, or forget the class's examples."""
        orders = {"teach": self._teacher.teach, "forget": self._teacher.forget}
        if what not in orders:
            raise InvalidValue("the order", what, "teach or forget a class")
        if refused := orders[what](label):
            self._tell(refused)

    def _press(self, key: str) -> None:
        label = _KEYS.find(key.lower())
        if key == _QUIT:
            raise KeyboardInterrupt
        if key.strip() in ("", _FORGET):
            self._forgetting |= key == _FORGET
            return
        if not 0 <= label < len(self._names):
            self._tell(
                f"{key!r} is not the key of a class; press one of the keys "
                f"{', '.join(_KEYS[: len(self._names)])}"
            )
        else:
            self.act("forget" if self._forgetting else "teach", label)
            self._forgetting = False

    def replied(self, reply: Message) -> tuple[str, JsonObject]:
        """Return a sentence about the board's reply to a key, and an object for JSON."""
        assert isinstance(reply, LearnReply)
        label, what, neighbour = self._teacher.lesson(reply)
        name = self._names[label]
        if neighbour:
            self._tell(
                f"warning: this example of {name} is from the same moment as another one, so it "
                "adds little; teach a window from another moment"
            )
        late = f"the key for {name} came too late (the board has classified another window since)"
        sentence = f"{late if what == 'too late' else f'{what} {name}'}: {self._counts}"
        counts = dict(zip(self._names, self._teacher.taught.counts, strict=True))
        record = {"lesson": what, "class": name, "same_moment": neighbour}
        return sentence, record | {"examples": counts}

    @property
    def _counts(self) -> str:
        counts = zip(self._names, self._teacher.taught.counts, strict=True)
        return ", ".join(f"{name} {count}" for name, count in counts)
