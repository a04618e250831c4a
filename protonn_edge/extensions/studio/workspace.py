"""What the tabs of a page share: the folder, the running command, and the board."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from protonn_edge.extensions.studio.actions import FIELDS, RECORDING, line_of, names_in, words_of
from protonn_edge.extensions.studio.attached import AttachedBoard
from protonn_edge.extensions.studio.drops import Drops
from protonn_edge.extensions.studio.facts import facts_of
from protonn_edge.extensions.studio.folder import kind_of, version_of
from protonn_edge.extensions.studio.jobs import Busy, Jobs, Steps
from protonn_edge.extensions.studio.keeping import Beside
from protonn_edge.extensions.studio.log import Log
from protonn_edge.extensions.studio.own_points import answers_to, take_answers
from protonn_edge.extensions.studio.packing import pack
from protonn_edge.extensions.studio.reading import SOON_S, Reader
from protonn_edge.extensions.studio.request import PageRequest
from protonn_edge.extensions.studio.sample import PLAYED, RATE, SENSOR, sample_files
from protonn_edge.extensions.studio.sources import LOGGER, is_for, wires
from protonn_edge.extensions.studio.state import FolderState
from protonn_edge.extensions.studio.streams import talks
from protonn_edge.extensions.studio.tabs import Tabs
from protonn_edge.extensions.studio.views import curves, extremes_of, figures, what_if
from protonn_edge.system.errors import InvalidValue, ProtoNNEdgeError, shortened
from protonn_edge.system.files import write_atomically
from protonn_edge.system.schema import JsonObject

_SHOWN = ("page", "zip")
_UPLOADS = ("upload", "upload-logger")
_OF_BUILDS = {"upload", "measure", "report"}


class Workspace:
    """The folder of a studio; raises `ProtoNNEdgeError` for whatever it cannot do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tabs = Tabs()
        self.log = Log(folder)
        self.jobs = Jobs(folder, self.tabs.tell, self.log)
        self.behind = Jobs(folder, self.tabs.tell, self.log, "behind")
        self.board = AttachedBoard(self.tabs.tell, self._note, self._hash_of)
        self._reader = Reader(lambda: self.tabs.tell(changed=True))
        self._lock = threading.Lock()  # one tab at a time gives the board or the folder away
        self.drops = Drops(folder, self._lock)

    def close(self) -> None:
        """End the running command, and leave the board."""
        self.jobs.close()
        self.behind.close()
        self.board.leave()
        self.drops.close()

    def request(self, asked: Mapping[str, object]) -> PageRequest:
        """Return a request with the names that it may use."""
        return PageRequest(asked, names_in(self.folder))

    # --- questions ---

    def state(self, request: PageRequest) -> JsonObject:
        """Return what is in the folder, how far each stage is, and what is going on."""
        chosen = {name: str(request.asked.get(name) or "") for name in ("data", "model")}
        return {
            "folder": self.folder.name,
            **self.files().to_json(**chosen, read=request.read),
            "log": self.log.entries(),
            "job": self.jobs.latest,
            "behind": self.behind.latest,
            "stream": self.board.state,
        }

    def files(self) -> FolderState:
        """Return the state of the folder now."""
        read = self._reader.until(time.monotonic() + SOON_S)
        return FolderState(self.folder, self.log, self.board.tried, read)

    # --- orders ---

    def run(self, request: PageRequest) -> JsonObject:
        """Run the commands of steps, one after the other, and then those behind them.

        A new training ends the commands behind, as does what writes the same folder; what uses a
        build waits for them.
        """
        steps, behind = request.steps
        actions = {action for action, _ in steps}
        with self._lock:
            self.jobs.check_idle()  # before the version, which a running command may change
            if "version" in request.asked:
                request.check_version("recording")
            if any(_needs_line(*step) for step in steps):
                self.board.leave()
            waits = self.behind if actions & _OF_BUILDS else None
            if "train" in actions or _outputs(steps) & _outputs(self.behind.steps):
                waits = None
                self.behind.end()
            then = (lambda: self.behind.start(behind, "board")) if behind else None
            self.jobs.start(steps, request.stage, then, waits)
        return {"lines": [line_of(words) for _, words in steps]}

    def connect(self, request: PageRequest) -> JsonObject:
        """Listen to a board, with its classifier or with its logger, which is built if need be."""
        kind = str(request.asked.get("kind") or LOGGER)
        if kind not in (LOGGER, "live") and kind not in talks():
            raise InvalidValue("the firmware", shortened(repr(kind)), "reload the page")
        steps, stage = list[str](), request.stage or "data"
        fields = request.fields("sensor", "rate", "played", "port", "board", "project")
        if kind == LOGGER:
            steps += [] if is_for(self.files().files.get(LOGGER, {}), fields) else ["logger"]
            if not fields["played"] and (steps or self.log.latest(*_UPLOADS) != "upload-logger"):
                steps += ["upload-logger"]
        words = [(step, words_of(step, fields, request.names)) for step in steps]
        with self._lock:
            if self.jobs.is_running and any(_needs_line(*step) for step in self.jobs.steps):
                raise Busy("the board is being programmed or measured; wait until that ends")
            if not steps:
                self.board.listen(kind, fields, stage)
                return {}
            self.jobs.check_idle()
            self.board.leave()
            self.jobs.start(words, stage, lambda: self.board.listen(kind, fields, stage))
        return {"lines": [line_of(each) for _, each in words]}

    def _hash_of(self, name: str) -> str:
        path = self.folder / name
        facts = facts_of(path, kind_of(path)) if name in names_in(self.folder) else {}
        return str(facts.get("sha256") or facts.get("model_sha256") or "")

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

    def show(self, request: PageRequest) -> JsonObject:
        """Return an address that shows a page of the folder, or saves an archive, once."""
        path = request.path("name")
        if kind_of(path) not in _SHOWN:
            raise InvalidValue(path.name, "no page", "choose a report")
        return {"address": f"/shown/{self.tabs.ticket(path)}"}

    def _note(self, action: str, stage: str, fields: Mapping[str, object]) -> None:
        """Log the command line that does what the thread of the board has done."""
        with contextlib.suppress(ProtoNNEdgeError):  # the page shows takes and answers anyway
            line = line_of(words_of(action, fields, names_in(self.folder)))
            done = {"action": action, "stage": stage, "line": line, "state": "done"}
            self.log.add(done, [])
            self.tabs.tell(changed=True)


def read_ahead() -> None:
    """Read the recording, which may be long, while the browser starts."""
    path = Path(RECORDING)
    with contextlib.suppress(ProtoNNEdgeError, OSError):
        curves(path, version_of(path))


def _outputs(steps: Steps) -> set[str]:
    """Return the files and folders that commands write."""
    return {words[words.index("-o") + 1] for _, words in steps if "-o" in words}


def _needs_line(action: str, words: list[str]) -> bool:
    """Whether a command uses the line of a board, which only one program can."""
    return action in _UPLOADS or (action in ("measure", "record") and "--emulate" not in words)


def _takes(_: Workspace, request: PageRequest) -> JsonObject:
    """Return the takes of a recording, with curves of few points."""
    path = request.path("recording")
    return curves(path, version_of(path))


def _part(_: Workspace, request: PageRequest) -> JsonObject:
    """Return a part of a take as curves of a number of columns."""
    version = request.check_version("recording")
    take, part, columns = (
        FIELDS[name](request.asked.get(name), ()) for name in ("take", "part", "columns")
    )
    places = slice(*map(int, part.split(":")))
    shown = extremes_of(request.path("recording"), version, int(take), places, int(columns))
    return {"curves": shown}


def _answers(_: Workspace, request: PageRequest) -> JsonObject:
    """Return what a model answers to the windows of a take."""
    version = request.check_version("recording")
    take = int(FIELDS["take"](request.asked.get("take"), ()))
    return take_answers(request.path("model"), request.path("recording"), version, take)


def _beside(workspace: Workspace, request: PageRequest) -> Beside:
    """Return the data in use, beside which a drop is kept."""
    name = request.value("data")
    path = workspace.folder / name
    kind = kind_of(path) if name else ""
    return Beside(name if kind else "", {**facts_of(path, kind), "kind": kind})


def _look(workspace: Workspace, request: PageRequest) -> JsonObject:
    """Return the sheet of a drop, with the answers that were picked."""
    return workspace.drops.look(request.asked, _beside(workspace, request))


def _keep(workspace: Workspace, request: PageRequest) -> JsonObject:
    """Keep a drop, as its sheet shows it."""
    kept = workspace.drops.keep(request.asked, _beside(workspace, request))
    workspace.tabs.tell(changed=True)
    return kept


def _pack(workspace: Workspace, _: PageRequest) -> JsonObject:
    """Write the project as a ZIP, which the browser saves."""
    path = pack(workspace.folder)
    return {"name": path.name, "address": f"/shown/{workspace.tabs.ticket(path)}"}


def _unkeep(workspace: Workspace, _: PageRequest) -> JsonObject:
    """Remove what was kept last."""
    workspace.drops.undo()
    workspace.tabs.tell(changed=True)
    return {}


Answer = Callable[[Workspace, PageRequest], JsonObject]
Order = Callable[[Workspace, PageRequest], JsonObject | None]

QUESTIONS: Mapping[str, Answer] = {
    "state": Workspace.state,
    "takes": _takes,
    "part": _part,
    "figures": lambda _, asked: figures(asked.path("model"), asked.path("points")),
    "answers": _answers,
    "look": _look,
    "try": lambda workspace, asked: answers_to(
        asked.path("model"), workspace.drops.opened(asked.asked)
    ),
    "what_if": lambda _, asked: what_if(
        asked.path("model"), asked.asked.get("x"), asked.asked.get("ranges")
    ),
    "wires": lambda _, asked: wires(asked.value("sensor"), asked.value("board")),
}
"""What the page asks, without any effect."""

ORDERS: Mapping[str, Order] = {
    "run": Workspace.run,
    "stop": lambda workspace, asked: (
        workspace.behind if asked.asked.get("behind") else workspace.jobs
    ).stop(),
    "sample": Workspace.sample,
    "connect": Workspace.connect,
    "disconnect": lambda workspace, _: workspace.board.leave(),
    "order": lambda workspace, asked: workspace.board.order(asked),
    "show": Workspace.show,
    "keep": _keep,
    "unkeep": _unkeep,
    "pack": _pack,
    "leave": lambda workspace, asked: workspace.drops.leave(asked.asked),
}
"""What the page orders."""
