"""A port that another computer offers by RFC 2217, as ser2net does, is a port like any other."""

from __future__ import annotations

import contextlib
import socket
import threading

import numpy as np
import pytest
import serial
from serial.rfc2217 import PortManager

from protonn_edge.device.session import Session

X = np.array([7, 0, 0, 255], np.uint8)

# pyserial's client names its thread as in Python 2
pytestmark = pytest.mark.filterwarnings("ignore:set(Daemon|Name):DeprecationWarning")


class Server:
    """An RFC 2217 server for one client at a time, as in pyserial's examples."""

    def __init__(self, device: tuple[str, int]) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._device = device
        self.url = f"rfc2217://127.0.0.1:{self._server.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)
        self._server.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                with client, socket.create_connection(self._device) as device:
                    self._client = client
                    self._converse(client, device)

    def write(self, data: bytes) -> None:
        """Send an answer of the manager."""
        self._client.sendall(data)

    def _converse(self, client: socket.socket, device: socket.socket) -> None:
        manager = PortManager(serial.serial_for_url("loop://"), self)
        client.settimeout(0.01)
        device.settimeout(0.01)
        while True:
            with contextlib.suppress(TimeoutError):
                if not (data := client.recv(1000)):
                    return
                device.sendall(b"".join(manager.filter(data)))
            with contextlib.suppress(TimeoutError):
                client.sendall(b"".join(manager.escape(device.recv(1000))))


def test_a_board_behind_an_rfc2217_server_answers(make_device):
    host, _, port = make_device().url.removeprefix("socket://").partition(":")
    server = Server((host, int(port)))
    try:
        with Session(server.url) as session:
            assert session.predict(X).label == 1
            assert session.reopened == 0
    finally:
        server.close()
