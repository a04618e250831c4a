"""A studio in a process of its own, and requests to it as no browser would send them."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_tools import EMULATED_AVR, missing
from command_line import succeed

from protonn_edge.extensions.studio.sample import RATE, sample_files
from protonn_edge.extensions.studio.server import StudioServer
from protonn_edge.extensions.studio.workspace import Workspace

FEATURES = "mean,deviation,min,max"
HOUSE = ["hour,outdoor,humidity,indoor"] + [
    f"{i % 24},{10 + 7 * np.sin(i * 1.7):.2f},{40 + i * 37 % 50},{18 + 3 * np.sin(i * 1.7):.2f}"
    for i in range(120)
]
MPU6050 = "# protonn-edge recording 1; sensor: mpu6050; rate: 100 Hz; units: ax ay az 1/8192 g\n"


@dataclass
class Site:
    """A server, and what it answers to raw requests."""

    server: StudioServer

    @property
    def token(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.server.token}"}

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_port}"

    def send(self, request: bytes) -> tuple[int, dict[str, str], bytes]:
        """Send bytes; return the status, the head and the body of the answer."""
        with socket.create_connection(("127.0.0.1", self.server.server_port), timeout=20) as line:
            line.sendall(request)
            answer = b""
            while b"\r\n\r\n" not in answer:
                piece = line.recv(65536)
                assert piece, "the server closed the line without an answer"
                answer += piece
            head, _, body = answer.partition(b"\r\n\r\n")
            first, *rest = head.decode().split("\r\n")
            fields = dict(line.split(": ", 1) for line in rest)
            while len(body) < int(fields.get("Content-Length", 0)):
                body += line.recv(65536)
        return int(first.split()[1]), fields, body

    def ask(
        self, path: str, body: Any = None, method: str = "POST", **head: str | None
    ) -> tuple[int, Any]:
        """Send JSON with the token, and some fields of the head changed; None leaves one out."""
        content = b"" if body is None else json.dumps(body).encode()
        fields: dict[str, str | None] = {
            "Host": self.host, **self.token, "Content-Length": str(len(content))
        }  # fmt: skip
        fields |= {name.replace("_", "-"): value for name, value in head.items()}
        lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
        text = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""])
        status, _, answer = self.send(text.encode() + content)
        try:
            return status, json.loads(answer)
        except ValueError:
            return status, answer

    def state(self, **asked: Any) -> Any:
        """Return the state of the folder once everything in it is read."""
        while True:
            state = self.ask("/ask/state", asked)[1]
            if '"reading": true' not in json.dumps(state):
                return state

    def run(self, action: str, **fields: Any) -> tuple[int, Any]:
        """Order one action."""
        return self.ask("/do/run", {"steps": [[action, fields]]})


class EndingServer(StudioServer):
    """A server that knows its connections."""

    def __init__(self, workspace: Workspace, port: int) -> None:
        self.lines: list[socket.socket] = []
        super().__init__(workspace, port)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.lines.append(request)
        super().process_request(request, client_address)


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[Site]:
    """Serve a folder in this process."""
    workspace = Workspace(folder)
    server = EndingServer(workspace, port)
    thread = threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True)
    thread.start()
    yield Site(server)
    server.shutdown()
    thread.join()
    workspace.close()
    server.server_close()
    for line in server.lines:  # which end with the process
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def serve() -> Callable[..., AbstractContextManager[Site]]:
    """Return what serves a folder, on a port that may be given, in a ``with``."""
    return serving


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Serve a folder with a recording and a table, in this process."""
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    rows = [
        f"{label},anna,{at / 100 + 2 * take:.6f},{at},{-at},8192\n"
        for take, label in enumerate(["rest", "wave", "rest"])
        for at in range(60)
    ]
    (folder / "recording.csv").write_text(MPU6050 + "label,session,time,ax,ay,az\n" + "".join(rows))
    (folder / "table.csv").write_text("label,a\nx,1\ny,2\n")
    (tmp_path / "secret.csv").write_text("label,a\nx,1\n")
    with serving(folder) as site:
        yield site


@pytest.fixture(scope="session")
def whole() -> Path:
    """Give a folder from a recording to a report, and one from a table to a model inside.

    It is made once for all processes of the tests, which do not change it.
    """
    folder = Path(os.environ["PROTONN_EDGE_TEST_RUN"]) / "studio" / "whole"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _make_all(folder.with_name("making"))
            folder.with_name("making").rename(folder)
    return folder


def _make_all(folder: Path) -> None:
    folder.mkdir()
    before = Path.cwd()
    os.chdir(folder)
    try:
        for name, text in sample_files("recording.csv").items():
            Path(name).write_text(text)
        succeed("takes", "recording.csv", "--take", 12, "--keep", "0:99")  # which can be undone
        succeed("windows", "recording.csv", "-o", "windows.npz", "--window", 50, "--stride", 25)
        settings = ["--classifier", "linear", "--features", FEATURES]
        succeed("train", "windows.npz", "-o", "linear.npz", *settings)
        Path("house").mkdir()
        Path("house/house.csv").write_text("\n".join([*HOUSE, ""]))
        read = ["--label", "indoor", "--drop", "hour", "--classifier", "linear"]
        succeed("train", "house/house.csv", "-o", "house/linear.npz", *read)
        if not missing(*EMULATED_AVR):
            sensor = ["--sensor", "adxl345"]
            succeed("build", *sensor, "--rate", RATE)
            succeed("build", "linear.npz", "-o", "live", *sensor, "--hop", 25, "--votes", 3)
            succeed("build", "linear.npz", "-o", "measured")
            succeed("hil", "windows.npz", "--project", "measured", "-o", "results.csv")
            succeed("report", "results.csv", "--data", "windows.npz")
    finally:
        os.chdir(before)


@pytest.fixture
def can_be_interrupted() -> Iterator[None]:
    """A shell that runs tests in the background has them ignore Ctrl-C; `studio` does not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
