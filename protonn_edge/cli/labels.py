"""Labels of windows for ``monitor --teach``: keys of a terminal, or lines of a pipe."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from protonn_edge.cli.keys import Keys
from protonn_edge.device.protocol import LearnReply
from protonn_edge.device.teacher import TeachingListener
from protonn_edge.errors import CheckFailed, counted
from protonn_edge.kinds.protonn.prototypes.teaching import ERASED

_KEYS = "1234567890abcdefghijklmnoprstuvwxyz"  # without q
_FORGET, _QUIT = "-", "q"
_LONGEST_LINE = 1000  # of a pipe; the rest counts as the next line


def at_terminal() -> bool:
    """Return whether keys come from a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


class Labels:
    """The keys of a board's classes; `tell` prints a sentence about one that was pressed."""

    def __init__(self, teacher: TeachingListener, tell: Callable[[str], object]) -> None:
        self._teacher, self._tell = teacher, tell
        self._forgetting = False
        n = teacher.description.n_classes
        if n > len(_KEYS):
            raise CheckFailed(
                f"the board has {n} classes, but --teach has keys for {len(_KEYS)} only; call "
                "pnn_learn in a sketch"
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
            f"keys: {keys}; {_FORGET} before a key forgets the class; room for {room}: "
            f"{self._counts}"
        )

    @contextlib.contextmanager
    def pressed(self) -> Iterator[None]:
        """Press the keys of the terminal, if there is one."""
        if not at_terminal():
            yield
            return
        with Keys("send the keys through a pipe, one line per window") as keys:
            self._teacher.poll = lambda: self._press(keys.pressed())
            yield

    def read_line(self) -> None:
        """Press the key in the next line of a pipe, which is for the last window."""
        if at_terminal() or sys.stdin is None:
            return
        line = sys.stdin.buffer.readline(_LONGEST_LINE).decode("ascii", "replace").strip()
        if len(line.removeprefix(_FORGET)) > 1:
            self._tell(
                f"a line must be the key of one class, but this one has {len(line)} characters"
            )
            return
        for key in line:
            self._press(key)

    def _press(self, key: str) -> None:
        label = _KEYS.find(key.lower())
        if key == _QUIT:
            raise KeyboardInterrupt
        if key.strip() in ("", _FORGET):
            self._forgetting |= key == _FORGET
            return
        if not 0 <= label < len(self._names):
            self._tell(
                f"{key!r} is not the key of a class; press one of {_KEYS[: len(self._names)]}"
            )
        elif self._forgetting:
            self._forgetting = False
            self._teacher.forget(label)
        elif refused := self._teacher.teach(label):
            self._tell(refused)

    def learned(self, reply: LearnReply) -> tuple[str, dict[str, Any]]:
        """Return a sentence about the board's reply to a key, and an object for JSON."""
        lesson = self._teacher.lesson(reply)
        name = self._names[lesson.label]
        if lesson.neighbour:
            self._tell(
                f"warning: this example of {name} is from the same moment as another one, so both "
                "count as one; label another moment"
            )
        what = "forgotten" if lesson.forgotten else "taught" if lesson.learned else "too late"
        late = " (the board has classified another window since)" if what == "too late" else ""
        sentence = f"{what} {name}{late}: {self._counts}"
        counts = dict(zip(self._names, self._teacher.taught.counts, strict=True))
        record = {"lesson": what, "class": name, "same_moment": lesson.neighbour}
        return sentence, record | {"examples": counts}

    @property
    def _counts(self) -> str:
        counts = zip(self._names, self._teacher.taught.counts, strict=True)
        return ", ".join(f"{name} {count}" for name, count in counts)
