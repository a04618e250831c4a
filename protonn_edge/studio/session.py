"""What the tabs of a page share: the folder, the running job, the board, and who listens."""

from __future__ import annotations

import contextlib
import json
import queue
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from protonn_edge import __version__
from protonn_edge.boards import board_names, load_board
from protonn_edge.editing.takes import EditableRecording, read_takes
from protonn_edge.errors import InputError, InvalidValue, ProtoNNEdgeError, shortened
from protonn_edge.sensors.commands.source import SensorSource
from protonn_edge.studio import views
from protonn_edge.studio.actions import FIELDS, RECORDING, line_of, names_in, words_of
from protonn_edge.studio.folder import kind_of, listing, model_facts, next_step
from protonn_edge.studio.jobs import Busy, Jobs
from protonn_edge.studio.streams import BoardStream
from protonn_edge.system.files import write_atomically
from protonn_edge.training.base import CLASSIFIERS

DROP_LIMIT_BYTES = 1 << 26
_WAITING = 400  # messages of a slow tab
_TABS = 32
_MOST_STEPS = 8
_TICKET_S = 60.0
_DROPPED = (".csv", ".tsv", ".wav", ".npz", ".svm", ".toml")


class Changed(InputError):
    """The file is not the one that the page has shown."""


class Session:
    """A studio: raises `ProtoNNEdgeError` with a sentence for whatever it cannot do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs = Jobs(folder, self.tell)
        self.stream: BoardStream | None = None
        self._tabs: set[queue.Queue[bytes]] = set()
        self._source: dict[str, Any] = {}  # the fields of the board that is connected
        self._tickets: dict[str, tuple[Path, float]] = {}
        self._takes: tuple[str, EditableRecording] | None = None

    def close(self) -> None:
        """End the running job, and leave the board."""
        self.jobs.close()
        if self.stream is not None:
            self.stream.stop()

    # --- what all tabs hear ---

    def tell(self, **message: Any) -> None:
        """Send a message to all tabs; one that is too slow loses messages."""
        line = json.dumps(message, default=str).encode() + b"\n"
        for tab in tuple(self._tabs):
            with contextlib.suppress(queue.Full):
                tab.put_nowait(line)

    @contextlib.contextmanager
    def listening(self) -> Any:
        """Yield the queue of a new tab, in a ``with``."""
        if len(self._tabs) >= _TABS:
            raise InputError(f"{_TABS} pages listen to this studio already; close some")
        tab: queue.Queue[bytes] = queue.Queue(_WAITING)
        self._tabs.add(tab)
        try:
            yield tab
        finally:
            self._tabs.discard(tab)

    # --- what is asked for ---

    def state(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is in the folder, and what is going on."""
        files = listing(self.folder)
        models = [
            model_facts(self.folder / each["name"]) for each in files if each["kind"] == "model"
        ]
        return {
            "folder": self.folder.name,
            "version": __version__,
            "files": files,
            "models": models,
            "built": [{"sha256": sha256, **used} for sha256, used in self.jobs.built.items()],
            "boards": [*board_names()],
            "classifiers": [*CLASSIFIERS, "best"],
            "job": self.jobs.latest,
            "stream": {} if self.stream is None else self.stream.state,
            "next": next_step(None),
        }

    def takes(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the curves of a recording."""
        path = self._path(asked, "recording")
        return views.curves(self._read(path), views.version_of(path))

    def _read(self, path: Path) -> EditableRecording:
        """Return a recording, read once as long as it does not change."""
        version = f"{path} {views.version_of(path)}"
        if self._takes is None or self._takes[0] != version:
            self._takes = version, read_takes(path)
        return self._takes[1]

    def figures(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answers of a model to points that it was not trained on."""
        return views.figures(self._path(asked, "model"), self._path(asked, "points"))

    def limits(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the memory of a board."""
        return views.board_limits(str(asked.get("board") or "uno"))

    def lines(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the command lines of steps, without running them."""
        try:
            return {"lines": [line_of(words) for _, words in self._words(asked)]}
        except ProtoNNEdgeError as error:
            return {"lines": [], "missing": str(error)}

    def run(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Run the commands of steps, one after the other."""
        steps = self._words(asked, running=True)
        if "version" in asked:
            path = self._path(asked, "recording")
            if views.version_of(path) != asked["version"]:
                raise Changed(f"{path.name} has changed since it was shown; look at it again")
        return {"number": self.jobs.start(steps), "lines": [line_of(words) for _, words in steps]}

    def stop(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Stop the running command."""
        self.jobs.stop()
        return {}

    def connect(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Listen to a board, with its logger or its classifier."""
        if self.jobs.is_running and self.jobs.latest.get("action") in ("upload", "upload-logger"):
            raise Busy("the board is being programmed; wait until that ends")
        self.disconnect({})
        kind = str(asked.get("kind"))
        if kind not in ("logger", "live", "teach"):
            raise InvalidValue("the firmware", shortened(repr(kind)), "reload the page")
        values = {name: self._checked(name, asked) for name in ("port", "board", "baud")}
        played = [FIELDS["played"](each, self._names()) for each in asked.get("played") or []]
        project = "logger" if kind == "logger" else self._checked("project", asked) or "live"
        board = load_board(values["board"] or "uno")
        source = SensorSource(values["port"] or None, bool(played), tuple(played), Path(project))
        baud = int(values["baud"] or board.baud)
        self.stream = BoardStream(kind, source, board, baud, self.tell)
        self._source = {**asked, "teach": "yes" if kind == "teach" else ""}
        if kind != "logger":
            self._tell_line("monitor", {**self._source, "project": project})
        return {}

    def _tell_line(self, action: str, fields: Mapping[str, Any]) -> None:
        """Show the command line that does what the thread of the board does."""
        self.tell(line=line_of(words_of(action, fields, self._names())))

    def disconnect(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """Leave the board."""
        if self.stream is not None:
            self.stream.stop()
        return {}

    def order(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Give an order to the thread of the board."""
        stream, what = self.stream, asked.get("what")
        if stream is None:
            raise InputError("no board is connected; connect one first")
        if what == "begin":
            seconds = self._checked("seconds", asked)
            stream.begin(
                Path(RECORDING),
                FIELDS["label"](asked.get("label"), self._names()),
                FIELDS["session"](asked.get("session"), self._names()),
                float(seconds) if seconds else None,
                float(self._checked("pause", asked) or 0),
            )
            if seconds:
                self._tell_line("record", {**self._source, **asked, "takes": 1})
        elif what in ("end", "discard"):
            stream.end(discard=what == "discard")
        elif what == "classify":
            path = self._path(asked, "model") if asked.get("model") else None
            hop = self._checked("hop", asked)
            stream.classify(
                path, int(hop) if hop else None, int(self._checked("votes", asked) or 1)
            )
        elif what in ("teach", "forget"):
            stream.teach(int(asked.get("label", -1)), forget=what == "forget")
        else:
            raise InvalidValue("the order", shortened(repr(what)), "reload the page")
        return {}

    def show(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return an address that shows a page of the folder once, within a minute."""
        path = self._path(asked, "name")
        if kind_of(path) != "page":
            raise InvalidValue(path.name, "no page", "choose a report")
        self._tickets = {
            each: (shown, until)
            for each, (shown, until) in self._tickets.items()
            if until > time.monotonic()
        }
        ticket = secrets.token_urlsafe(24)
        self._tickets[ticket] = path, time.monotonic() + _TICKET_S
        return {"address": f"/shown/{ticket}"}

    def shown(self, ticket: str) -> bytes | None:
        """Return the page of a ticket, which is then used up; None if there is none."""
        path, until = self._tickets.pop(ticket, (Path(), 0.0))
        return path.read_bytes() if until > time.monotonic() else None

    def drop(self, name: str, content: bytes) -> dict[str, Any]:
        """Write a file that was dropped on the page; never over another one."""
        checked = FIELDS["project"](name, self._names())
        if Path(checked).suffix.lower() not in _DROPPED:
            raise InvalidValue(name, "not a file of data", f"drop files in {', '.join(_DROPPED)}")
        if (self.folder / checked).exists():
            raise InvalidValue(name, "it is in the folder already", "rename one of the two files")
        write_atomically(self.folder / checked, content)
        self.tell(changed=True)
        return {"name": checked}

    # --- checks ---

    def _names(self) -> list[str]:
        return names_in(self.folder)

    def _path(self, asked: Mapping[str, Any], field: str) -> Path:
        return Path(FIELDS["data"](asked.get(field), self._names()))

    def _checked(self, field: str, asked: Mapping[str, Any]) -> str:
        """Return the value of a field; empty if it is not given."""
        value = asked.get(field)
        return "" if value in (None, "") else FIELDS[field](value, self._names())

    def _words(
        self, asked: Mapping[str, Any], *, running: bool = False
    ) -> list[tuple[str, list[str]]]:
        steps = asked.get("steps")
        if not isinstance(steps, list) or not 0 < len(steps) <= _MOST_STEPS:
            raise InvalidValue("the steps", "none", "reload the page")
        names, made = self._names(), list[tuple[str, list[str]]]()
        for step in steps:
            if not isinstance(step, list) or len(step) != 2 or not isinstance(step[1], dict):
                raise InvalidValue("a step", shortened(repr(step)), "reload the page")
            words = words_of(str(step[0]), step[1], names)
            made.append((str(step[0]), words))
            if "-o" in words:  # what a step writes, the next ones may name
                names = [*names, words[words.index("-o") + 1]]
        if running and any(action == "record" for action, _ in made) and self.stream is not None:
            self.disconnect({})
        return made


Answer = Callable[[Session, Mapping[str, Any]], dict[str, Any]]

QUESTIONS: Mapping[str, Answer] = {
    name: getattr(Session, name) for name in ("state", "takes", "figures", "limits", "lines")
}
"""What the page asks, without any effect."""

ORDERS: Mapping[str, Answer] = {
    name: getattr(Session, name)
    for name in ("run", "stop", "connect", "disconnect", "order", "show")
}
"""What the page orders."""
