"""A line that fails on purpose fails as it was told to; a run over it loses nothing."""

from __future__ import annotations

import contextlib
import select
import socket
import threading

import numpy as np
import pytest
from failing_link import FailingLink, Faults
from serial.urlhandler import protocol_socket

from protonn_edge.device.connection import Link
from protonn_edge.device.runner import ReferenceAnswers, run
from protonn_edge.device.session import Session

SENT = bytes(range(256)) * 40


class Echo:
    """Keeps what arrives, connection by connection, and sends it back."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self.received.append(b"")
            with connection, contextlib.suppress(OSError):
                while data := connection.recv(1000):
                    self.received[-1] += data
                    connection.sendall(data)

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()


@pytest.fixture
def echo():
    made = Echo()
    yield made
    made.close()


def through(link: FailingLink, data: bytes, piece: int) -> bytes:
    """Return what comes back of `data`, sent in pieces."""
    host, port = link.url.removeprefix("socket://").split(":")
    back = b""
    with (
        socket.create_connection((host, int(port)), timeout=5) as line,
        contextlib.suppress(OSError),  # it may be closed
    ):
        for at in range(0, len(data), piece):
            line.sendall(data[at : at + piece])
            back += line.recv(100_000)
        line.settimeout(0.2)
        while part := line.recv(100_000):
            back += part
    return back


def test_without_faults_every_byte_arrives(echo):
    with FailingLink(echo.port, Faults()) as link:
        through(link, SENT, 1000)
    assert echo.received == [SENT]


def test_the_device_is_reset_and_the_line_closed_when_their_byte_has_come(echo):
    resets = []
    faults = Faults(resets=(3000, 3000, 7000), closes=(5000,))
    with FailingLink(echo.port, faults, reset=lambda: resets.append(1)) as link:
        through(link, SENT, 100)
        assert (len(resets), link.done.closes) == (2, 1)
        through(link, SENT, 100)
    assert (len(resets), link.done.resets) == (3, 3)
    assert len(echo.received) == 2
    assert len(echo.received[0]) < len(SENT)


def test_no_point_is_lost_and_none_is_wrong_over_a_line_that_does_all_of_it(device):
    Q = np.random.default_rng(0).integers(0, 256, (400, 4), np.uint8)
    scores = np.array([device.scores(row.tobytes()) for row in Q], np.int64)
    port = int(device.url.rpartition(":")[2])
    faults = Faults(0.003, 0.003, 0.003, 0.05, 0.01, 0.01, closes=(1000, 3000))
    with (
        FailingLink(port, faults, seed=5) as link,
        Session(link.url, deadline_s=0.2, retries=30) as session,
    ):
        done = run([session], Q, scores.argmax(axis=1), ReferenceAnswers(scores))
    assert [result.index for result in done.results] == list(range(400))
    assert {result.mismatch for result in done.results} == {False}
    assert done.shares[0].retried > 20
    assert done.shares[0].reopened == 2


def test_what_a_tcp_port_sends_before_it_is_open_is_kept(monkeypatch: pytest.MonkeyPatch):
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

        def greeted(port: protocol_socket.Serial) -> None:
            board = stack.enter_context(server.accept()[0])
            board.sendall(b"begin")
            select.select([port._socket], [], [], 10)

        monkeypatch.setattr(protocol_socket.Serial, "_reconfigure_port", greeted)
        link = Link(f"socket://127.0.0.1:{server.getsockname()[1]}", 115_200)
        stack.callback(link.close)
        assert link.read(10) == b"begin"
