"""Devices that answer as the firmware does, or worse if asked to.

`FakeDevice` runs in a thread behind a TCP port; the `ImpatientHost` does not pause before it opens
such a line again. `HostileDevice` is on a simulated line of a `SimulatedHost`, whose time passes
only while somebody waits: a deadline of 30 s costs nothing, and none passes because this computer
is busy. A test's folder imports the fixtures `make_device` and `quick_to_close` in its conftest.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import socket
import threading
import types
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import serial.urlhandler.protocol_socket

from protonn_edge.device import protocol
from protonn_edge.device.connection import Host, Link, LinkError
from protonn_edge.model.integer_chain import IntegerChain

MODEL_HASH = hashlib.sha256(b"a model").digest()
CYCLES = 16_072
WINDOW = 56
STATS = protocol.StatsReply(38, 1, 0, 300, 2, 2)


class FakeModel:
    """4 features and 3 classes; the score of class c is (c + 1) * sum of features - 200 * c * c."""

    features = 4
    classes = 3
    model_hash = MODEL_HASH[:8]
    cycles = CYCLES

    def reply(self, request: protocol.Message) -> protocol.Message:
        if len(getattr(request, "features", bytes(self.features))) != self.features:
            return protocol.ErrorReply(2)
        if isinstance(request, protocol.PredictRequest):  # SCORES is one of them
            scores = self.scores(request.features)
            label = int(np.argmax(scores))
            if isinstance(request, protocol.ScoresRequest):
                return protocol.ScoresReply(label, self.cycles, scores)
            return protocol.PredictReply(label, self.cycles)
        if isinstance(request, protocol.HelloRequest):
            return protocol.HelloReply(
                2, 0, self.features, self.classes, self.model_hash, 16_000_000, WINDOW
            )
        if isinstance(request, protocol.RepeatRequest):
            label = int(np.argmax(self.scores(request.features)))
            repetitions = request.repetitions or protocol.MOST_REPETITIONS
            return protocol.RepeatReply(label, self.cycles * repetitions)
        return STATS

    def scores(self, features: bytes) -> tuple[int, ...]:
        return tuple((c + 1) * sum(features) - 200 * c * c for c in range(self.classes))


class FakeDevice(FakeModel):
    """A device behind a TCP port.

    Parameters
    ----------
    swallow : int
        So many first bytes are lost, as in a bootloader.
    silent : int
        So many first requests other than HELLO stay without an answer.
    greeting : bytes
        What the device sends when the line is opened.
    on_wire : callable
        Makes of a reply's frame what is really sent.
    answer : callable
        Makes of a request's body (type, sequence number, payload) the reply; None: the default.
    """

    def __init__(
        self,
        *,
        swallow: int = 0,
        silent: int = 0,
        greeting: bytes = b"",
        on_wire: Callable[[bytes], bytes] = bytes,
        answer: Callable[[bytes], protocol.Message | None] | None = None,
    ) -> None:
        self.requests: list[bytes] = []  # bodies, as they came
        self.connections = 0
        self._closed = False
        self._swallow = swallow
        self._silent = silent
        self._greeting = greeting
        self._on_wire = on_wire
        self._answer = answer
        self._server = socket.create_server(("127.0.0.1", 0))
        self._connection: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"socket://127.0.0.1:{self._server.getsockname()[1]}"

    def unplug(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._closed = True
        self.unplug()
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=5)
        self._server.close()

    def _serve(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._server.accept()
            except OSError:  # closed under us
                return
            self.connections += 1
            with connection, contextlib.suppress(OSError):
                self._connection = connection
                connection.sendall(self._greeting)
                self._converse(connection)

    def _converse(self, connection: socket.socket) -> None:
        splitter = protocol.FrameSplitter(1000)
        swallow = self._swallow
        while data := connection.recv(100):
            lost, swallow = min(swallow, len(data)), max(0, swallow - len(data))
            for frame in splitter.feed(data[lost:]):
                with contextlib.suppress(protocol.ProtocolError):
                    self._take(connection, protocol.decode_frame(frame))

    def _take(self, connection: socket.socket, body: bytes) -> None:
        self.requests.append(body)
        if body[0] != protocol.HELLO and self._silent > 0:
            self._silent -= 1
            return
        content = self._answer(body) if self._answer else None
        content = content or self.reply(protocol.decode_message(body))
        connection.sendall(self._on_wire(protocol.encode_message(content, body[1])))


class ImpatientHost(Host):
    """A computer whose pauses take no time, though its clock counts them."""

    def __init__(self) -> None:
        self._paused_s = 0.0

    def now(self) -> float:
        return super().now() + self._paused_s

    def sleep(self, seconds: float) -> None:
        self._paused_s += seconds


# --- simulated time ------------------------------------------------------------------------------

BYTE_S = 10 / 115_200
READ_S = 1e-5  # of a reading, so that none takes no time at all
Answer = Callable[[protocol.Message, protocol.Message], protocol.Message | bytes | None]


class SimulatedHost(Host):
    """A computer whose time passes while it waits or reads, and whose lines lead to one device.

    Parameters
    ----------
    device : HostileDevice
        What is at the end of every line that it opens.
    limit_s : float
        When time has got there, whoever asks for it fails.
    """

    def __init__(self, device: HostileDevice, limit_s: float = 3600.0) -> None:
        self.device = device
        self.limit_s = limit_s
        self.seconds = 0.0

    def open(self, url: str, baud: int) -> Link:  # noqa: ARG002
        return _SimulatedLine(self, self.device)

    def now(self) -> float:
        assert self.seconds < self.limit_s, f"it has not ended after {self.seconds:.0f} s"
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += max(0.0, seconds)


class ReferenceModel(FakeModel):
    """What a device with an integer model answers, each time in the same cycles."""

    def __init__(self, reference: IntegerChain, cycles: int) -> None:
        self.features = reference.n_features
        self.classes = reference.n_classes
        self.model_hash = bytes.fromhex(reference.model_sha256)[:8]
        self.cycles = cycles
        self._reference = reference

    def scores(self, features: bytes) -> tuple[int, ...]:
        row = np.frombuffer(features, np.uint8)[None]
        return tuple(map(int, self._reference.scores(row)[0]))


class HostileDevice:
    """A device on a simulated line.

    Parameters
    ----------
    model : FakeModel, optional
        What it answers, unless it does worse.
    answer : callable, optional
        Makes of a request and the right reply what is sent: another reply, bytes, nothing (None).
    flood : callable, optional
        Makes of a number, 0 and up, what is sent without being asked.
    every_s : float
        How often it is; 0 is as fast as the line goes.
    delay_s : float
        How long a reply takes.
    breaks : callable, optional
        Says of the number of a request whether the line breaks then.
    """

    def __init__(
        self,
        model: FakeModel | None = None,
        *,
        answer: Answer | None = None,
        flood: Callable[[int], bytes] | None = None,
        every_s: float = 0.0,
        delay_s: float = 0.001,
        breaks: Callable[[int], bool] = lambda _: False,
    ) -> None:
        self.requests: list[bytes] = []  # bodies, as they came
        self.model = model or FakeModel()
        self.answer = answer
        self.flood = flood
        self.every_s = every_s
        self.delay_s = delay_s
        self.breaks = breaks

    def replies(self, data: bytes, splitter: protocol.FrameSplitter) -> Iterator[bytes]:
        """Yield what is sent for each request in these bytes; `OSError` where the line breaks."""
        for frame in splitter.feed(data):
            try:
                body = protocol.decode_frame(frame)
                request = protocol.decode_message(body)
            except protocol.ProtocolError:  # the rest of a request that was given up
                continue
            self.requests.append(body)
            if self.breaks(len(self.requests)):
                raise OSError
            right = self.model.reply(request)
            said = right if self.answer is None else self.answer(request, right)
            if isinstance(said, bytes):
                yield said
            elif said is not None:
                yield protocol.encode_message(said, body[1])


def silent_at_first(requests: int) -> Answer:
    """Return answers of a device, but for none to its first requests other than HELLO."""
    numbers = itertools.count()

    def answer(request: protocol.Message, right: protocol.Message) -> protocol.Message | None:
        if isinstance(request, protocol.HelloRequest):
            return right
        return right if next(numbers) >= requests else None

    return answer


class _SimulatedLine:
    """Bytes come when their time has come; each read takes the time of what it returns."""

    def __init__(self, host: SimulatedHost, device: HostileDevice) -> None:
        self._host, self._device = host, device
        self._splitter = protocol.FrameSplitter(1000)
        self._coming: list[tuple[float, bytes]] = []
        self._floods = itertools.count()
        self._next_flood = host.seconds
        self._open = True

    def write(self, data: bytes) -> None:
        self._check_open()
        try:
            for said in self._device.replies(data, self._splitter):
                self._coming.append((self._host.seconds + self._device.delay_s, said))
        except OSError:
            self.close()
            self._check_open()

    def read(self, wait_s: float) -> bytes:
        self._check_open()
        until = self._host.seconds + max(0.0, wait_s)
        due = min([when for when, _ in self._coming], default=until)
        if self._device.flood is not None:
            due = min(due, self._next_flood)
        self._host.seconds = max(self._host.seconds, min(due, until))
        data = b"".join(said for when, said in self._coming if when <= self._host.seconds)
        self._coming = [each for each in self._coming if each[0] > self._host.seconds]
        if self._device.flood is not None and self._next_flood <= self._host.seconds:
            data += self._device.flood(next(self._floods))
            self._next_flood = self._host.seconds + self._device.every_s
        self._host.seconds += READ_S + BYTE_S * len(data)
        return data

    def close(self) -> None:
        self._open = False

    def _check_open(self) -> None:
        if not self._open:
            raise LinkError("the simulated line broke; plug the board in again")


# --- fixtures ------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def quick_to_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep pyserial from sleeping 0.3 s whenever it closes a socket."""
    no_clock = types.SimpleNamespace(sleep=lambda _: None)
    monkeypatch.setattr(serial.urlhandler.protocol_socket, "time", no_clock)


@pytest.fixture
def make_device() -> Iterator[type[FakeDevice]]:
    """Give the class; the devices that a test makes are closed after it."""
    made: list[FakeDevice] = []

    class ClosedAfterwards(FakeDevice):
        def __init__(self, **misbehaviour: object) -> None:
            super().__init__(**misbehaviour)  # type: ignore[arg-type]
            made.append(self)

    yield ClosedAfterwards
    for device in made:
        device.close()
