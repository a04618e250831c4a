"""A client of `protonn-edge mcp`, as small as the protocol allows."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psutil
from programs import started

_FOUND_WITHIN_S = 60  # by a slow computer


class Client:
    """Sends messages to a server, and reads its answers, which come one a line."""

    def __init__(self, process: subprocess.Popen[Any]) -> None:
        self.process = process
        self._ids = count(1)

    def send(self, message: dict[str, Any] | bytes) -> None:
        """Send a message; bytes as they are."""
        assert self.process.stdin is not None
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Return the next answer."""
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        assert answer.pop("jsonrpc") == "2.0"
        return answer

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a request, whose answer must come next."""
        number = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = self.read()
        assert answer["id"] == number, answer
        result: dict[str, Any] = answer["result"]
        return result

    def text(self, name: str, **arguments: Any) -> str:
        """Return what a tool answers."""
        result = self.ask("tools/call", name=name, arguments=arguments)
        text: str = result["content"][0]["text"]
        assert result["isError"] is not json.loads(text)["ok"]
        return text

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Return the object that a tool answers."""
        found: dict[str, Any] = json.loads(self.text(name, **arguments))
        return found

    def begin(self, name: str, **arguments: Any) -> int:
        """Start a tool, and wait for no answer; return the number of the request."""
        number, params = next(self._ids), {"name": name, "arguments": arguments}
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        return number

    def cancel(self, number: int) -> None:
        """Cancel a request."""
        params = {"requestId": number}
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def heirs(self, *names: str) -> list[psutil.Process]:
        """Return the processes that the server has started, once those of these names run."""
        until = time.monotonic() + _FOUND_WITHIN_S
        while time.monotonic() < until:
            with contextlib.suppress(psutil.Error):
                found = psutil.Process(self.process.pid).children(recursive=True)
                running = [each.name() for each in found]
                if all(any(name in each for each in running) for name in names):
                    return found
            time.sleep(0.02)
        raise AssertionError(f"{names} never ran")


def all_end(processes: list[psutil.Process]) -> bool:
    """Return whether processes end, soon."""
    return not psutil.wait_procs(processes, timeout=_FOUND_WITHIN_S)[1]


@contextlib.contextmanager
def served(folder: Path, *options: object) -> Iterator[Client]:
    """Run a server for a folder during a block."""
    command = (sys.executable, "-m", "protonn_edge", "mcp", folder, *options)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started(*command, **pipes) as process:
        yield Client(process)
