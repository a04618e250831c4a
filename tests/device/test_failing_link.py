"""A run over a line that fails on purpose loses nothing."""

from __future__ import annotations

import contextlib
import select
import socket

import numpy as np
import pytest
from failing_link import FailingLink, Faults
from serial.urlhandler import protocol_socket

from protonn_edge.device.connection import Link
from protonn_edge.device.runner import ReferenceAnswers, run
from protonn_edge.device.session import Session


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
    assert min(link.done.dropped, link.done.flipped, link.done.doubled) > 0
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
