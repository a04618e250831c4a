"""A studio in a process of its own, and requests to it as no browser would send them."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from programs import started

from protonn_edge.extensions.studio.server import StudioServer
from protonn_edge.extensions.studio.workspace import Workspace

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


@pytest.fixture
def address(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Run the command in an empty folder; give the page's address, and the folder."""
    command = [sys.executable, "-m", "protonn_edge", "studio", tmp_path / "work", "--port", 0]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True}
    with started(*command, "--no-browser", **pipes) as program:
        first = program.stdout.readline()
        yield first.strip().rpartition(": ")[2], tmp_path / "work"
        program.terminate()
        assert program.wait(20) == 143


@pytest.fixture
def can_be_interrupted() -> Iterator[None]:
    """A shell that runs tests in the background has them ignore Ctrl-C; `studio` does not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
