"""What the tabs of a page share: the folder, the running command, and the board."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from protonn_edge import __version__
from protonn_edge.chips.boards import load_board
from protonn_edge.data.cells import check_labels
from protonn_edge.extensions.sensing.commands.source import SensorSource
from protonn_edge.extensions.studio.actions import (
    FIELDS,
    RECORDING,
    line_of,
    names_in,
    words_of,
)
from protonn_edge.extensions.studio.columns import columns_of
from protonn_edge.extensions.studio.folder import board_limits, kind_of, version_of
from protonn_edge.extensions.studio.jobs import Busy, Jobs
from protonn_edge.extensions.studio.log import Log
from protonn_edge.extensions.studio.request import PageRequest
from protonn_edge.extensions.studio.sample import PLAYED, RATE, SENSOR, sample_files
from protonn_edge.extensions.studio.sources import LOGGER, is_for, wanted, wires
from protonn_edge.extensions.studio.stages import Chosen
from protonn_edge.extensions.studio.state import FolderState
from protonn_edge.extensions.studio.streams import BoardStream, talks
from protonn_edge.extensions.studio.tabs import Tabs
from protonn_edge.extensions.studio.views import curves, extremes_of, figures, take_answers
from protonn_edge.extensions.studio.words import in_words
from protonn_edge.system.errors import InputError, InvalidValue, ProtoNNEdgeError, shortened
from protonn_edge.system.files import write_atomically
from protonn_edge.system.schema import JsonObject

DROP_LIMIT_BYTES = 1 << 26
_DROPPED = (".csv", ".tsv", ".wav", ".npz", ".svm", ".toml")
_SHOWN = ("page", "zip")
_UPLOADS = ("upload", "upload-logger")


class Workspace:
    """The folder of a studio; raises `ProtoNNEdgeError` for whatever it cannot do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tabs = Tabs()
        self.log = Log(folder)
        self.jobs = Jobs(folder, self.tabs.tell, self.log)
        self.stream: BoardStream | None = None
        self._lock = threading.Lock()  # one tab at a time gives the board or the folder away
        self._source: JsonObject = {}  # the fields of the board that is connected
        self._take: JsonObject = {}  # the fields of the take that is being recorded
        self._trying = ""  # the hash of the model that answers, and those that have answered
        self._tried = set[str]()

    def close(self) -> None:
        """End the running command, and leave the board."""
        self.jobs.close()
        self._leave_board()

    def request(self, asked: Mapping[str, object]) -> PageRequest:
        """Return a request with the names that it may use."""
        return PageRequest(asked, names_in(self.folder))

    # --- questions ---

    def state(self, request: PageRequest) -> JsonObject:
        """Return what is in the folder, how far each stage is, and what is going on."""
        data, model = (str(request.asked.get(name) or "") for name in ("data", "model"))
        read = request.read if isinstance(request.asked.get("read"), dict) else {}
        stream = {} if self.stream is None else self.stream.state
        return {
            "folder": self.folder.name,
            "version": __version__,
            **self.files().to_json(Chosen(data, model, read)),
            "log": self.log.entries(),
            "job": self.jobs.latest,
            "stream": stream,
        }

    def files(self) -> FolderState:
        """Return the state of the folder now."""
        return FolderState(self.folder, self.log, frozenset(self._tried))

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
            self.jobs.start(steps, request.stage)
        return {"lines": [line_of(words) for _, words in steps]}

    def stop(self, _: PageRequest) -> JsonObject:
        """Stop the running command."""
        self.jobs.stop()
        return {}

    def connect(self, request: PageRequest) -> JsonObject:
        """Listen to a board, with its classifier or with its logger, which is built if need be."""
        kind = str(request.asked.get("kind") or LOGGER)
        if kind not in (LOGGER, "live") and kind not in talks():
            raise InvalidValue("the firmware", shortened(repr(kind)), "reload the page")
        if kind != LOGGER:
            self._listen(kind, request.fields("played", "port", "baud", "board", "project"))
            return {}
        files = self.files().files
        fields = wanted(files, request.fields("sensor", "rate", "board", "port", "baud", "played"))
        steps = [] if is_for(files.get(LOGGER, {}), fields) else ["logger"]
        if not fields["played"] and (steps or request.asked.get("upload")):
            steps += ["upload-logger"]
        words = [(step, words_of(step, fields, request.names)) for step in steps]
        with self._lock:
            self._check_free()
            if not steps:
                self._listen(LOGGER, fields, locked=True)
                return {}
            self.jobs.check_idle()
            self._leave_board()
            self.jobs.start(words, "data", lambda: self._listen(LOGGER, fields))
        return {"lines": [line_of(each) for _, each in words]}

    def _check_free(self) -> None:
        if self.jobs.is_running and self.jobs.latest.get("action") in _UPLOADS:
            raise Busy("the board is being programmed; wait until that ends")

    def _listen(self, kind: str, fields: Mapping[str, Any], *, locked: bool = False) -> None:
        """Open the line of a board, whose firmware is of a kind."""
        board = load_board(str(fields.get("board") or "uno"))
        baud = int(fields.get("baud") or board.baud)
        project = "logger" if kind == "logger" else str(fields.get("project") or "live")
        played = tuple(fields.get("played") or ())
        source = SensorSource(fields.get("port") or None, bool(played), played, Path(project))
        with contextlib.nullcontext() if locked else self._lock:
            self._check_free()
            self._leave_board()
            self._trying = "" if kind == "logger" else self._model_of(project)
            self.stream = BoardStream(kind, source, board, baud, self._hear)
        self._source = {**fields, kind: "yes"}
        if kind != "logger":
            self._note("monitor", "try", {**self._source, "project": project})

    def _model_of(self, name: str) -> str:
        """Return the hash of a model, or of the one that was built into a folder."""
        facts = self.files().files.get(name, {})
        return str(facts.get("sha256") or facts.get("model_sha256") or "")

    def _hear(self, **news: Any) -> None:
        """Pass on what the thread of the board reports."""
        if "warning" in news:
            news = {"error": True, **news, "warning": in_words(news["warning"])}
            news["stage"] = "try" if self._trying else "data"
        if "answer" in news and self._trying not in self._tried:
            self._tried.add(self._trying)
            news["changed"] = True
        self.tabs.tell(**news)
        if news.get("taken") and self._take:
            rate = self.stream.state.get("rate") if self.stream is not None else None
            seconds = self._take.get("seconds") or news["taken"]["kept"] / (rate or 1.0)
            self._note(
                "record", "data", {**self._take, "seconds": f"{float(seconds):.6g}", "takes": 1}
            )
        if "taken" in news:
            self._take = {}

    def sample(self, _: PageRequest) -> JsonObject:
        """Write sample data, and have an emulated sensor play them."""
        files = sample_files(RECORDING)
        with self._lock:
            for name in files:
                if os.path.lexists(self.folder / name):
                    raise InvalidValue(name, "in the folder already", "begin in an empty folder")
            for name, text in files.items():
                write_atomically(self.folder / name, text)
        self.tabs.tell(changed=True)
        fields = {"sensor": [SENSOR], "rate": f"{RATE:g}", "played": [f"{SENSOR}={PLAYED}"]}
        self.connect(self.request({"kind": "logger", **fields}))
        return {"written": [*files]}

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
        if what == "begin":
            self._take = {**self._source, **request.asked}
        if what == "classify":
            self._trying = self._model_of(str(request.asked.get("model") or ""))
        return {}

    def show(self, request: PageRequest) -> JsonObject:
        """Return an address that shows a page of the folder, or saves an archive, once."""
        path = request.path("name")
        if kind_of(path) not in _SHOWN:
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

    def _note(self, action: str, stage: str, fields: Mapping[str, object]) -> None:
        """Log the command line that does what the thread of the board has done."""
        with contextlib.suppress(ProtoNNEdgeError):  # the page shows takes and answers anyway
            line = line_of(words_of(action, fields, names_in(self.folder)))
            done = {"action": action, "stage": stage, "line": line, "state": "done"}
            self.tabs.tell(logged=self.log.add(done, []))


def read_ahead() -> None:
    """Read the recording, which may be long, while the browser starts."""
    path = Path(RECORDING)
    with contextlib.suppress(ProtoNNEdgeError, OSError):
        curves(path, version_of(path))


def _keep(stream: BoardStream, request: PageRequest) -> None:
    label, session = _named(request)
    stream.takes.keep(Path(RECORDING), label, session, request.number("seconds") or 2.0)


def _needs_line(action: str, words: list[str]) -> bool:
    """Whether a command uses the line of a board, which only one program can."""
    return action in _UPLOADS or (action in ("measure", "record") and "--emulate" not in words)


def _begin(stream: BoardStream, request: PageRequest) -> None:
    label, session = _named(request)
    seconds, pause_s = request.number("seconds"), request.number("pause") or 0.0
    stream.takes.begin(Path(RECORDING), label, session, seconds, pause_s)


def _named(request: PageRequest) -> list[str]:
    """Return the class and the session of a take."""
    found = [FIELDS[name](request.asked.get(name), request.names) for name in ("label", "session")]
    check_labels(found[:1], "the class", distinct=False)
    return found


def _classify(stream: BoardStream, request: PageRequest) -> None:
    path = request.path("model") if request.asked.get("model") else None
    hop, votes = request.number("hop"), request.number("votes") or 1
    stream.takes.classify(path, None if hop is None else int(hop), int(votes))


_ORDERS: Mapping[Any, Callable[[BoardStream, PageRequest], None]] = {
    "begin": _begin,
    "end": lambda stream, _: stream.takes.end(),
    "discard": lambda stream, _: stream.takes.end(discard=True),
    "keep": _keep,
    "classify": _classify,
}


def _takes(_: Workspace, request: PageRequest) -> JsonObject:
    """Return the takes of a recording, with curves of few points."""
    path = request.path("recording")
    shown: JsonObject = curves(path, version_of(path))
    return shown


def _part(_: Workspace, request: PageRequest) -> JsonObject:
    """Return a part of a take as curves of a number of columns."""
    version = request.check_version("recording")
    take, part, columns = (
        FIELDS[name](request.asked.get(name), ()) for name in ("take", "part", "columns")
    )
    places = slice(*map(int, part.split(":")))
    shown = extremes_of(request.path("recording"), version, int(take), places, int(columns))
    return {"curves": shown}


def _figures(_: Workspace, request: PageRequest) -> JsonObject:
    """Return the answers of a model to points that it was not trained on."""
    found: JsonObject = figures(request.path("model"), request.path("points"), request.read)
    return found


def _answers(_: Workspace, request: PageRequest) -> JsonObject:
    """Return what a model answers to the windows of a take."""
    version, hop = request.check_version("recording"), request.number("hop")
    take = int(FIELDS["take"](request.asked.get("take"), ()))
    path, model = request.path("recording"), request.path("model")
    found: JsonObject = take_answers(model, path, version, take, int(hop) if hop else None)
    return found


def _columns(_: Workspace, request: PageRequest) -> JsonObject:
    """Return the columns of a table."""
    path = request.path("data")
    found: JsonObject = columns_of(path, version_of(path), request.read)
    return found


def _wires(_: Workspace, request: PageRequest) -> JsonObject:
    """Return the wires between a sensor and a board."""
    found: JsonObject = wires(next(iter(request.values("sensor")), ""), request.value("board"))
    return found


def _models(workspace: Workspace, _: PageRequest) -> JsonObject:
    """Return how good the models are, and what was built of them."""
    return {"models": workspace.files().models()}


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
    "answers": _answers,
    "columns": _columns,
    "models": _models,
    "wires": _wires,
    "limits": _limits,
}
"""What the page asks, without any effect."""

ORDERS: Mapping[str, Answer] = {
    "run": Workspace.run,
    "stop": Workspace.stop,
    "sample": Workspace.sample,
    "connect": Workspace.connect,
    "disconnect": Workspace.disconnect,
    "order": Workspace.order,
    "show": Workspace.show,
}
"""What the page orders."""
