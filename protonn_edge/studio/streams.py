"""Streams: the serial line of one board, read by a thread.

A board runs a logger, of whose samples takes are recorded and classes are computed in the board's
integers; or firmware that classifies, which may be taught. The page gives orders; they are obeyed
between two readings.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards import Board
from protonn_edge.chain.file import load_model
from protonn_edge.datasets import Notice
from protonn_edge.device.connection import Link
from protonn_edge.errors import CheckFailed, InputError, ProtoNNEdgeError
from protonn_edge.export.folder import LIVE, LOGGER
from protonn_edge.extensions import brought
from protonn_edge.sensors.commands.source import SensorSource
from protonn_edge.sensors.listener import Listener
from protonn_edge.sensors.recorder import Recorder, RecordingFile, Samples
from protonn_edge.sensors.sensor_board import WindowAnswer
from protonn_edge.sensors.sensor_projects import windowing_for
from protonn_edge.sensors.stream_classes import StreamClassifier

_LISTEN_S = 0.05
_DRAWN_HZ = 400.0  # samples a second and channel that the page gets; of more, the extremes
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
        self, kind: str, source: SensorSource, board: Board, baud: int, tell: Callable[..., None]
    ) -> None:
        self.kind, self._source, self._board, self._baud = kind, source, board, baud
        self._tell = tell
        self._orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._file: RecordingFile | None = None
        self._classifier: StreamClassifier | None = None
        self.state: dict[str, Any] = {"kind": kind, "text": "starting", "running": True}
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
        self._report(text=" ".join(map(str, parts)))

    def notice(self, notices: Iterable[Notice]) -> None:
        """Report notices about recordings that play."""
        for each in notices:
            self._tell(warning=str(each))

    @contextlib.contextmanager
    def status(self, description: str) -> Iterator[None]:
        """Report what is being done."""
        self._report(text=description)
        yield

    def _report(self, **news: Any) -> None:
        self.state = {**self.state, **news}
        self._tell(stream=self.state)

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
        finally:
            with contextlib.suppress(ProtoNNEdgeError):
                self._close_file()
            self._report(text=ended, running=False)

    def _listen(self) -> None:
        kind = LOGGER if self.kind == "logger" else LIVE
        make: Any = {"logger": Recorder, "live": Listener}.get(self.kind)
        taught = brought("command monitor").get("teaching") if self.kind == "teach" else None
        if self.kind == "teach" and taught is None:
            raise InputError("teaching is not installed; choose another firmware")
        make = make or getattr(taught, "listener", Listener)

        def opened(line: Link, url: str) -> Any:
            return make(StoppableLine(line, self._stop), url)

        heard = self._source.heard(self, opened, kind, self._board, self._baud, pace="wall clock")
        with heard as (url, board):
            described = board.description
            played = [[each.name, len(each.values) / each.rate] for each in self._played()]
            self._report(
                text=f"connected to {'the emulated board' if self._source.emulate else url}",
                channels=[*described.channels], rate=described.rate, played=played,
                classes=[], units=_units(described),
            )  # fmt: skip
            if self.kind == "logger":
                self._record(board)
            else:
                self._follow(board, taught and taught().keys(board, self.say))

    def _played(self) -> list[Any]:
        from protonn_edge.sensors import read_sensor  # noqa: PLC0415 - its name is lazy

        return [read_sensor(text) for text in self._source.sensors]

    def _obey(self, board: Any) -> None:
        while not self._orders.empty():
            try:
                self._orders.get()(board)
            except ProtoNNEdgeError as error:
                self._tell(warning=str(error))

    # --- a logger ---

    def _record(self, recorder: Recorder) -> None:
        while True:
            self._obey(recorder)
            taken = len(recorder.takes)
            for samples in recorder.listen(_LISTEN_S):
                self._show(recorder, samples)
            if len(recorder.takes) > taken or (self._file and recorder.take is None):
                self._close_file()
                ended = recorder.takes[-1] if recorder.takes else None
                self._tell(taken=asdict(ended) if ended else None, take=None)

    def _show(self, recorder: Recorder, samples: Samples) -> None:
        take, stream = recorder.take, recorder.stream
        shown = _thinned(samples.values, recorder.description.rate)
        step = len(samples.values) / len(shown)
        now = None
        if take is not None:
            now = {"label": take.label, "kept": take.kept, "wanted": take.wanted}
            now["countdown"] = recorder.countdown_s if take.kept == 0 else 0.0
        lost = {"lost": stream.lost, "damaged": stream.torn, "resets": stream.resets}
        self._tell(
            samples=shown.tolist(), first=samples.first, n=len(samples.values), step=step, take=now,
            **lost,
        )  # fmt: skip
        if self._classifier is not None:
            for answer in self._classifier.feed(samples):
                self._tell(answer={"by": "computer", **asdict(answer)})

    def begin(
        self, path: Path, label: str, session: str, seconds: float | None, pause: float
    ) -> None:
        """Begin a take of a logger, after a pause."""

        def obey(recorder: Recorder) -> None:
            if recorder.take is not None:
                raise InputError("a take is being recorded; end it first")
            self._close_file()
            self._file = RecordingFile(path, recorder.description, session)
            recorder.record_to(self._file)
            recorder.begin(label, seconds, pause)

        self.order(obey)

    def end(self, *, discard: bool = False) -> None:
        """End the current take, or remove it."""

        def obey(recorder: Recorder) -> None:
            if recorder.take is None:
                raise InputError("no take is being recorded; delete one in the list")
            if discard:
                recorder.discard()
                self._tell(taken=None, take=None)
            else:
                recorder.end()

        self.order(obey)

    def classify(self, model_file: Path | None, hop: int | None, votes: int) -> None:
        """Compute the classes of a model from the samples, or stop it."""

        def obey(recorder: Recorder) -> None:
            self._classifier = None
            if model_file is None:
                self._report(classes=[])
                return
            model, described = load_model(model_file), recorder.description
            windowing = windowing_for(
                model, described.sensors, self._board, rate=described.rate, hop=hop, votes=votes
            )
            self.notice(windowing.notices)
            self._classifier = StreamClassifier(windowing)
            self._report(classes=[*model.classes], model=model_file.name)

        self.order(obey)

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        file.__exit__(None, None, None)
        self._tell(changed=True)
        if file.saved is not None:
            self._tell(
                warning=f"another program replaced the recording; what it lacks is in {file.saved}"
            )

    # --- firmware that classifies ---

    def _follow(self, listener: Listener, keys: Any) -> None:
        names: list[str] = []
        for answer in listener.answers():
            self._obey(listener)
            if warning := listener.stream.take_warning():
                self._tell(warning=warning)
            if not isinstance(answer, WindowAnswer):
                self._tell(warning=keys.replied(answer)[0]) if keys else None
                continue
            named = listener.named(answer)
            if [*named.names] != names:
                names = [*named.names]
                self._report(classes=names)
            scores = dict(zip(names, answer.scores, strict=True))
            self._tell(
                answer={
                    "by": "board", "first": answer.first, "label": named.label,
                    "reported": named.reported, "scores": scores, "confidence": named.sure,
                    "value": named.value,
                },
                lost=answer.lost, damaged=listener.stream.torn, resets=listener.resets,
                missing=named.missing,
            )  # fmt: skip

    def teach(self, label: int, *, forget: bool = False) -> None:
        """Have the board learn its last window as a class, or forget the class's examples."""

        def obey(teacher: Any) -> None:
            if self.kind != "teach" or not 0 <= label < teacher.description.n_classes:
                raise CheckFailed("the board cannot be taught; connect it for teaching")
            if forget:
                teacher.forget(label)
            elif refused := teacher.teach(label):
                self._tell(warning=refused)

        self.order(obey)


def _units(described: Any) -> list[int]:
    """Return, for each channel, the number of the first one with the same unit."""
    kinds = getattr(described, "kinds", ())  # those of a logger
    units = [unit for kind in kinds for unit in kind.channel_units]
    return [units.index(unit) for unit in units]


def _thinned(values: NDArray[np.int16], rate: float) -> NDArray[np.int16]:
    """Return samples, or the extremes of consecutive ones if there are many a second."""
    step = 2 * int(rate // _DRAWN_HZ)
    if step < 2 or len(values) < step:
        return values
    whole = values[: len(values) // step * step].reshape(-1, step, values.shape[1])
    return np.stack([whole.min(axis=1), whole.max(axis=1)], axis=1).reshape(-1, values.shape[1])
