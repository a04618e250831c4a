"""A device in a thread behind a TCP port: it answers as the firmware does, or worse if asked to."""

from __future__ import annotations

import contextlib
import hashlib
import socket
import threading
import types
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import serial.urlhandler.protocol_socket

from protonn_edge.hil import protocol

MODEL_HASH = hashlib.sha256(b"a model").digest()
CYCLES = 16_072
WINDOW = 56
STATS = protocol.StatsReply(38, 1, 0, 300, 2, 2)


class FakeDevice:
    """4 features and 3 classes; the score of class c is (c + 1) * sum of features - 200 * c * c.

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

    features = 4
    classes = 3
    model_hash = MODEL_HASH[:8]

    def __init__(
        self,
        *,
        swallow: int = 0,
        silent: int = 0,
        greeting: bytes = b"",
        on_wire: Callable[[bytes], bytes] = bytes,
        answer: Callable[[bytes], protocol.Content | None] | None = None,
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
        content = content or self._reply(protocol.decode_message(body))
        connection.sendall(self._on_wire(protocol.encode_message(content, body[1])))

    def _reply(self, request: protocol.Content) -> protocol.Content:
        if len(getattr(request, "features", bytes(4))) != self.features:
            return protocol.ErrorReply(2)
        if isinstance(request, protocol.PredictRequest):  # SCORES is one of them
            scores = self.scores(request.features)
            label = int(np.argmax(scores))
            if isinstance(request, protocol.ScoresRequest):
                return protocol.ScoresReply(label, CYCLES, scores)
            return protocol.PredictReply(label, CYCLES)
        if isinstance(request, protocol.HelloRequest):
            return protocol.HelloReply(
                2, 0, self.features, self.classes, self.model_hash, 16_000_000, WINDOW
            )
        if isinstance(request, protocol.RepeatRequest):
            label = int(np.argmax(self.scores(request.features)))
            return protocol.RepeatReply(label, CYCLES * request.repetitions)
        return STATS

    def scores(self, features: bytes) -> tuple[int, ...]:
        return tuple((c + 1) * sum(features) - 200 * c * c for c in range(self.classes))


@pytest.fixture(autouse=True)
def quick_to_close(monkeypatch) -> None:
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


@pytest.fixture
def device(make_device) -> FakeDevice:
    """Give a device that does everything right."""
    return make_device()


@pytest.fixture
def model_hash() -> bytes:
    """Give the SHA-256 of the fake device's model."""
    return MODEL_HASH
