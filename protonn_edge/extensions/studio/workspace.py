"""What the tabs of a page share: the folder, the running command, and the board."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protonn_edge import __version__
from protonn_edge.chips.boards import board_names, load_board
from protonn_edge.data.cells import check_labels
from protonn_edge.extensions.sensing.commands.source import SensorSource
from protonn_edge.extensions.studio.actions import (
    FIELDS,
    RECORDING,
    line_of,
    names_in,
    words_of,
)
from protonn_edge.extensions.studio.folder import (
    board_limits,
    kind_of,
    listing,
    model_facts,
    version_of,
)
from protonn_edge.extensions.studio.jobs import Busy, Jobs
from protonn_edge.extensions.studio.request import PageRequest
from protonn_edge.extensions.studio.tabs import Tabs
from protonn_edge.model.registry import ESTIMATORS
from protonn_edge.system.errors import InputError, InvalidValue, ProtoNNEdgeError, shortened
from protonn_edge.system.files import write_atomically
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from protonn_edge.extensions.studio.streams import BoardStream

# The page is shown before what it may never need is imported.

DROP_LIMIT_BYTES = 1 << 26
_DROPPED = (".csv", ".tsv", ".wav", ".npz", ".svm", ".toml")
_UPLOADS = ("upload", "upload-logger")


class Workspace:
    """The folder of a studio; raises `ProtoNNEdgeError` for whatever it cannot do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tabs = Tabs()
        self.jobs = Jobs(folder, self.tabs.tell)
        self.stream: BoardStream | None = None
        self._lock = threading.Lock()  # one tab at a time gives the board or the folder away
        self._source: JsonObject = {}  # the fields of the board that is connected

    def close(self) -> None:
        """End the running command, and leave the board."""
        self.jobs.close()
        self._leave_board()

    def request(self, asked: Mapping[str, object]) -> PageRequest:
        """Return a request with the names that it may use."""
        return PageRequest(asked, names_in(self.folder))

    # --- questions ---

    def state(self, _: PageRequest) -> JsonObject:
        """Return what is in the folder, and what is going on."""
        files = listing(self.folder)
        models = [each["name"] for each in files if each["kind"] == "model"]
        return {
            "folder": self.folder.name,
            "version": __version__,
            "files": files,
            "models": [model_facts(self.folder / name) for name in models],
            "built": [{"sha256": sha256, **used} for sha256, used in self.jobs.built.items()],
            "boards": [*board_names()],
            "classifiers": [*ESTIMATORS, "best"],
            "job": self.jobs.latest,
            "stream": {} if self.stream is None else self.stream.state,
        }

    def lines(self, request: PageRequest) -> JsonObject:
        """Return the command lines of steps, without running them."""
        try:
            return {"lines": [line_of(words) for _, words in request.steps]}
        except ProtoNNEdgeError as error:
            return {"lines": [], "missing": str(error)}

    # --- orders ---

    def run(self, request: PageRequest) -> JsonObject:
        """Run the commands of steps, one after the other."""
        steps = request.steps
        with self._lock:
            self.jobs.check_idle()  # before the version, which a running command may change
            if "version" in request.asked:
                request.check_version("recording")
            if any(_needs_line(*step) for step in steps):
                self._leave_board()
            self.jobs.start(steps)
        return {"lines": [line_of(words) for _, words in steps]}

    def stop(self, _: PageRequest) -> JsonObject:
        """Stop the running command."""
        self.jobs.stop()
        return {}

    def connect(self, request: PageRequest) -> JsonObject:
        """Listen to a board, with its logger or its classifier."""
        from protonn_edge.extensions.studio.streams import BoardStream, talks

        kind = str(request.asked.get("kind"))
        if kind not in ("logger", "live") and kind not in talks():
            raise InvalidValue("the firmware", shortened(repr(kind)), "reload the page")
        played = request.values("played")
        project = "logger" if kind == "logger" else request.value("project") or "live"
        board = load_board(request.value("board") or "uno")
        baud = int(request.value("baud") or board.baud)
        port = request.value("port") or None
        source = SensorSource(port, bool(played), tuple(played), Path(project))
        with self._lock:
            if self.jobs.is_running and self.jobs.latest.get("action") in _UPLOADS:
                raise Busy("the board is being programmed; wait until that ends")
            self._leave_board()
            self.stream = BoardStream(kind, source, board, baud, self.tabs.tell)
        self._source = {**request.asked, kind: "yes"}
        if kind != "logger":
            self._show_line("monitor", {**self._source, "project": project})
        return {}

    def disconnect(self, _: PageRequest) -> JsonObject:
        """Leave the board."""
        with self._lock:
            self._leave_board()
        return {}

    def order(self, request: PageRequest) -> JsonObject:
        """Give an order to the thread of the board."""
        what = str(request.asked.get("what"))
        if self.stream is None:
            raise InputError("no board is connected; connect one first")
        if what in _ORDERS:
            _ORDERS[what](self.stream, request)
        else:
            self.stream.answers.act(what, request.asked.get("label"))
        if what == "begin" and request.value("seconds"):
            self._show_line("record", {**self._source, **request.asked, "takes": 1})
        return {}

    def show(self, request: PageRequest) -> JsonObject:
        """Return an address that shows a page of the folder once."""
        path = request.path("name")
        if kind_of(path) != "page":
            raise InvalidValue(path.name, "no page", "choose a report")
        return {"address": f"/shown/{self.tabs.ticket(path)}"}

    def drop(self, name: str, content: bytes) -> JsonObject:
        """Write a file that was dropped on the page; never over another one."""
        checked = FIELDS["project"](name, ())
        if Path(checked).suffix.lower() not in _DROPPED:
            raise InvalidValue(name, "not a file of data", f"drop files in {', '.join(_DROPPED)}")
        with self._lock:
            if os.path.lexists(self.folder / checked):
                raise InvalidValue(name, "in the folder already", "rename one of the two files")
            write_atomically(self.folder / checked, content)
        self.tabs.tell(changed=True)
        return {"name": checked}

    def _leave_board(self) -> None:
        if self.stream is not None:
            self.stream.stop()

    def _show_line(self, action: str, fields: Mapping[str, object]) -> None:
        """Show the command line that does what the thread of the board does."""
        self.tabs.tell(line=line_of(words_of(action, fields, names_in(self.folder))))


def read_ahead() -> None:
    """Read the recording, which may be long, while the browser starts."""
    from protonn_edge.extensions.studio.views import curves

    path = Path(RECORDING)
    with contextlib.suppress(ProtoNNEdgeError, OSError):
        curves(path, version_of(path))


def _needs_line(action: str, words: list[str]) -> bool:
    """Whether a command uses the line of a board, which only one program can."""
    return action in _UPLOADS or (action in ("measure", "record") and "--emulate" not in words)


def _begin(stream: BoardStream, request: PageRequest) -> None:
    label, session = (
        FIELDS[name](request.asked.get(name), request.names) for name in ("label", "session")
    )
    check_labels([label], "the class", distinct=False)
    seconds, pause_s = request.number("seconds"), request.number("pause") or 0.0
    stream.takes.begin(Path(RECORDING), label, session, seconds, pause_s)


def _classify(stream: BoardStream, request: PageRequest) -> None:
    path = request.path("model") if request.asked.get("model") else None
    hop, votes = request.number("hop"), request.number("votes") or 1
    stream.takes.classify(path, None if hop is None else int(hop), int(votes))


_ORDERS: Mapping[Any, Callable[[BoardStream, PageRequest], None]] = {
    "begin": _begin,
    "end": lambda stream, _: stream.takes.end(),
    "discard": lambda stream, _: stream.takes.end(discard=True),
    "classify": _classify,
}


def _takes(_: Workspace, request: PageRequest) -> JsonObject:
    """Return the takes of a recording, with curves of few points."""
    from protonn_edge.extensions.studio.views import curves

    path = request.path("recording")
    shown: JsonObject = curves(path, version_of(path))
    return shown


def _part(_: Workspace, request: PageRequest) -> JsonObject:
    """Return a part of a take as curves of a number of columns."""
    from protonn_edge.extensions.studio.views import columns_of

    version = request.check_version("recording")
    take, part, columns = (
        FIELDS[name](request.asked.get(name), ()) for name in ("take", "part", "columns")
    )
    places = slice(*map(int, part.split(":")))
    shown = columns_of(request.path("recording"), version, int(take), places, int(columns))
    return {"curves": shown}


def _figures(_: Workspace, request: PageRequest) -> JsonObject:
    """Return the answers of a model to points that it was not trained on."""
    from protonn_edge.extensions.studio.views import figures

    read = {"size": request.value("size"), "label": request.value("column")}
    found: JsonObject = figures(request.path("model"), request.path("points"), read)
    return found


def _limits(_: Workspace, request: PageRequest) -> JsonObject:
    """Return the memory of a board."""
    return board_limits(request.value("board") or "uno")


Answer = Callable[[Workspace, PageRequest], JsonObject]

QUESTIONS: Mapping[str, Answer] = {
    "state": Workspace.state,
    "takes": _takes,
    "part": _part,
    "lines": Workspace.lines,
    "figures": _figures,
    "limits": _limits,
}
"""What the page asks, without any effect."""

ORDERS: Mapping[str, Answer] = {
    "run": Workspace.run,
    "stop": Workspace.stop,
    "connect": Workspace.connect,
    "disconnect": Workspace.disconnect,
    "order": Workspace.order,
    "show": Workspace.show,
}
"""What the page orders."""
