"""The board that the page listens to: what it is asked, what it answers, and the takes of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from protonn_edge.chips.boards import load_board
from protonn_edge.data.tables.cells import check_labels
from protonn_edge.extensions.sensing.commands.source import SensorSource
from protonn_edge.extensions.studio.actions import FIELDS, RECORDING
from protonn_edge.extensions.studio.request import PageRequest
from protonn_edge.extensions.studio.sources import LOGGER
from protonn_edge.extensions.studio.streams import BoardStream
from protonn_edge.system.errors import InputError
from protonn_edge.system.schema import JsonObject

_KEPT_S = 2.0


class AttachedBoard:
    """The stream of one board at a time.

    - `tell`: gets what the stream reports, as keywords.
    - `note`: gets an action that the stream has done, with its stage and its fields, for the log.
    - `hash_of`: returns the hash of a model, or of the one built into a folder, of a name.
    """

    def __init__(
        self,
        tell: Callable[..., None],
        note: Callable[[str, str, Mapping[str, object]], None],
        hash_of: Callable[[str], str],
    ) -> None:
        self._tell, self._note, self._hash_of = tell, note, hash_of
        self._lock = threading.Lock()
        self._stream: BoardStream | None = None
        self._source: JsonObject = {}  # the fields by which it was found
        self._take: JsonObject = {}  # the fields of the take that is being recorded
        self._trying = ""  # the hash of the model that answers
        self._stage = ""  # of the button that was pressed last, which shows what goes wrong
        self.tried = frozenset[str]()  # those that have answered

    @property
    def state(self) -> JsonObject:
        """What the page shows of the stream; empty before there is one."""
        return {} if self._stream is None else self._stream.state

    def listen(self, kind: str, fields: JsonObject, stage: str) -> None:
        """Leave the board, and open the line of one with firmware of a kind, for a stage."""
        board = load_board(str(fields.get("board") or "uno"))
        project = LOGGER if kind == LOGGER else str(fields.get("project") or "live")
        played = tuple(fields.get("played") or ())
        source = SensorSource(fields.get("port") or None, bool(played), played, Path(project))
        trying = "" if kind == LOGGER else self._hash_of(project)
        with self._lock:
            self._stop()
            self._trying, self._source, self._stage = trying, {**fields, kind: "yes"}, stage
            self._stream = BoardStream(kind, source, board, self._hear)
        if kind != LOGGER:
            self._note("monitor", "try", {**self._source, "project": project})

    def leave(self) -> None:
        """End the stream."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._stream is not None:
            self._stream.stop()

    def order(self, request: PageRequest) -> None:
        """Give an order to the thread of the board."""
        what, stream = str(request.asked.get("what")), self._stream
        if stream is None:
            raise InputError("no board is connected; connect one first")
        self._stage = request.stage or self._stage
        if what in _ORDERS:
            if stream.kind != LOGGER:
                raise InputError("the board classifies now; connect it in Data to record takes")
            _ORDERS[what](stream, request)
        else:
            stream.answers.act(what, request.asked.get("label"))
        if what == "classify":
            self._trying = self._hash_of(str(request.asked.get("model") or ""))

    def _hear(self, **news: Any) -> None:
        """Pass on what the thread of the board reports."""
        if "begun" in news:
            self._take = {**self._source, **news["begun"]}
            return
        if "warning" in news:
            news = {"error": True, **news, "stage": self._stage}
        if "answer" in news and self._trying not in self.tried:
            self.tried |= {self._trying}
            news["changed"] = True
        self._tell(**news)
        if news.get("taken") and self._take:
            taken = news["taken"]["kept"] / (self.state.get("rate") or 1.0)
            seconds = f"{float(self._take.get('seconds') or taken):.6g}"
            self._note("record", "data", {**self._take, "seconds": seconds, "takes": 1})
        if "taken" in news:
            self._take = {}


def _named(request: PageRequest) -> list[str]:
    """Return the class and the session of a take."""
    found = [FIELDS[name](request.asked.get(name), request.names) for name in ("label", "session")]
    check_labels(found[:1], "the class", distinct=False)
    return found


def _begin(stream: BoardStream, request: PageRequest) -> None:
    label, session = _named(request)
    seconds, pause_s = request.number("seconds"), request.number("pause") or 0.0
    stream.takes.begin(Path(RECORDING), label, session, seconds, pause_s)


def _keep(stream: BoardStream, request: PageRequest) -> None:
    label, session = _named(request)
    stream.takes.keep(Path(RECORDING), label, session, request.number("seconds") or _KEPT_S)


def _classify(stream: BoardStream, request: PageRequest) -> None:
    path = request.path("model") if request.asked.get("model") else None
    hop, votes = request.number("hop"), request.number("votes") or 1
    marks = [(name, int(n)) for name, _, n in (m.rpartition("=") for m in request.values("mark"))]
    stream.takes.classify(path, None if hop is None else int(hop), int(votes), marks)


_ORDERS: Mapping[object, Callable[[BoardStream, PageRequest], None]] = {
    "begin": _begin,
    "end": lambda stream, _: stream.takes.end(),
    "discard": lambda stream, _: stream.takes.end(discard=True),
    "keep": _keep,
    "classify": _classify,
}
