"""Dask's client waited for ever for a server that sends nothing, or took the memory it stated."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Any, cast

import pytest
from refusals import refused_by

from protonn_edge.learn.search import cluster
from protonn_edge.learn.search.cluster import DaskWorkers

pytest.importorskip("distributed", reason="needs dask; to run: pip install 'protonn-edge[dask]'")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed")


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9.2p1\r\n", b"\0"])
def test_what_is_no_scheduler_is_refused_in_time(
    greeting: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_S", 0.3)

    def greet() -> None:
        line, _ = server.accept()
        with line, contextlib.suppress(ConnectionError):
            line.sendall(greeting)
            line.recv(1)  # until the client goes

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with refused_by("learn.search.cluster"):
            DaskWorkers(cast("Any", "an objective"), cast("Any", "a file"), address).__enter__()
        thread.join()
