"""Streams: the serial line of one board, read by a thread.

A board runs a logger, of whose samples takes are recorded and classes are computed in the board's
integers; or firmware that classifies. The page gives orders; they are obeyed
between two readings.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from protonn_edge.chips.boards import Board
from protonn_edge.cli.additions import added_to
from protonn_edge.codegen.export.folder import LIVE, LOGGER
from protonn_edge.data.naming import Notice
from protonn_edge.device.connection import Link
from protonn_edge.extensions.sensing.commands.monitor_additions import MonitorAddition
from protonn_edge.extensions.sensing.commands.source import SensorSource
from protonn_edge.extensions.sensing.listener import Listener
from protonn_edge.extensions.sensing.recorder import Recorder
from protonn_edge.extensions.studio.board_answers import BoardAnswers
from protonn_edge.extensions.studio.stream_takes import StreamTakes
from protonn_edge.system.errors import InputError, ProtoNNEdgeError
from protonn_edge.system.schema import JsonObject

_Order = Callable[[Any], None]


class _Stopped(Exception):
    """The stream was ended."""


class StoppableLine:
    """A line that raises `_Stopped` instead of reading once its stream is ended."""

    def __init__(self, line: Link, stop: threading.Event) -> None:
        self._line, self._stop = line, stop

    def read(self, wait_s: float) -> bytes:
        """Read what has arrived, or arrives within a time."""
        if self._stop.is_set():
            raise _Stopped
        return self._line.read(wait_s)

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._line.write(data)


class BoardStream:
    """A thread with the line of a board; `tell` gets what it hears, as keywords."""

    def __init__(
        self, kind: str, source: SensorSource, board: Board, tell: Callable[..., None]
    ) -> None:
        self.kind, self._source, self.board = kind, source, board
        self.tell = tell
        self._orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
        self._stop = threading.Event()
        self.takes, self.answers = StreamTakes(self), BoardAnswers(self)
        self.state: JsonObject = {"kind": kind, "text": "starting", "running": True}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the line is open, or about to be."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End the stream, and wait until its line is closed."""
        self._stop.set()
        self._thread.join(20.0)

    def order(self, obey: _Order) -> None:
        """Have the thread call a function with the recorder or listener."""
        if not self.is_running:
            raise InputError("no board is connected; connect one first")
        self._orders.put(obey)

    # --- reports on the way to the board ---

    def say(self, *parts: Any) -> None:
        """Report sentences."""
        self.report(text=" ".join(map(str, parts)))

    def notice(self, notices: Iterable[Notice]) -> None:
        """Report notices about recordings that play."""
        for each in notices:
            self.tell(warning=each.text, error=False)

    @contextlib.contextmanager
    def status(self, description: str) -> Iterator[None]:
        """Report what is being done."""
        self.report(text=description)
        yield

    def report(self, **news: Any) -> None:
        """Change the state that the page shows."""
        self.state = {**self.state, **news}
        self.tell(stream=self.state)

    # --- the thread ---

    def _run(self) -> None:
        ended = "disconnected"
        try:
            self._listen()
        except _Stopped:
            pass
        except ProtoNNEdgeError as error:
            ended = str(error)
        except OSError as error:
            ended = f"the line failed: {error}"
        except Exception as error:  # noqa: BLE001 - the page shows it
            ended = f"this is a bug in protonn-edge ({type(error).__name__}: {error})"
        finally:
            with contextlib.suppress(ProtoNNEdgeError):
                self.takes.close()
            self.report(text=ended, running=False)
            if ended != "disconnected":
                self.tell(warning=ended)

    def _listen(self) -> None:
        kind = LOGGER if self.kind == "logger" else LIVE
        added = talks().get(self.kind)
        usual: Any = Recorder if self.kind == "logger" else Listener
        make = usual if added is None else added.listener

        def opened(line: Link, url: str) -> Any:
            return make(StoppableLine(line, self._stop), url)

        heard = self._source.heard(
            self, opened, kind, self.board, self.board.baud, pace="wall clock"
        )
        with heard as (url, board):
            described = board.description
            played = [[each.name, len(each.values) / each.rate] for each in self._played()]
            self.report(
                text=f"connected to {'the emulated board' if self._source.emulate else url}",
                channels=[*described.channels], rate=described.rate, played=played,
                classes=[], units=_units(described), board=self.board.name,
                sensors=[*described.sensors], emulated=self._source.emulate,
            )  # fmt: skip
            if self.kind == "logger":
                self.takes.listen(board)
            else:
                keys = None if added is None else added().keys(board, self._remark)
                self.answers.listen(board, keys)

    def _remark(self, sentence: str) -> None:
        self.tell(warning=sentence)

    def _played(self) -> list[Any]:
        from protonn_edge.extensions.sensing.played import read_sensor  # its name is lazy

        return [read_sensor(text) for text in self._source.sensors]

    def obey(self, board: Any) -> None:
        """Follow the orders that are waiting."""
        while not self._orders.empty():
            try:
                self._orders.get()(board)
            except ProtoNNEdgeError as error:
                self.tell(warning=str(error))


def talks() -> JsonObject:
    """Return the extensions that talk to a board in `monitor`, and so in the page, by name."""
    return {
        name: each
        for name, each in added_to("monitor").items()
        if issubclass(each, MonitorAddition) and each.listener is not Listener
    }


def _units(described: object) -> list[int]:
    """Return, for each channel, the number of the first one with the same unit."""
    kinds = getattr(described, "kinds", ())  # those of a logger
    units = [unit for kind in kinds for unit in kind.channel_units]
    return [units.index(unit) for unit in units]
