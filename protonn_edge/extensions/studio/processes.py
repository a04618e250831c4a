"""The processes of commands: each its own, with the command line that the page shows.

Where the system can fork, a helper has imported what commands need, and forks for each command, so
that none waits seconds for imports. Elsewhere, and if the helper ends, commands start as usual.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from protonn_edge.cli.progress import PROGRESS_VARIABLE
from protonn_edge.extensions.studio import warm
from protonn_edge.system.own_commands import python_module, safe_environment
from protonn_edge.system.shell import LINUX, WINDOWS

_END_S = 2.0
_ENVIRONMENT = {PROGRESS_VARIABLE: "json"}


class Running(Protocol):
    """A command that was started."""

    def lines(self) -> Iterator[str]:
        """Yield what it prints on standard error, until it ends."""

    def wait(self) -> int:
        """Return its exit code."""

    def stop(self) -> None:
        """Press Ctrl-C for it."""

    def kill(self) -> None:
        """End it at once."""


class Launcher:
    """Starts commands in a folder; `warm_up` starts the helper that has the imports."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._helper: _Helper | None = None

    def warm_up(self) -> None:
        """Start the helper, if the system can fork."""
        if LINUX and self._helper is None:
            self._helper = _Helper(self._folder)

    def run(self, words: Sequence[str], printed: int) -> Running:
        """Start a command whose standard output is a file; `OSError` if there is no process."""
        request = json.dumps([*words], ensure_ascii=False).encode("utf-8", "surrogatepass")
        if self._helper is not None and len(request) <= warm.REQUEST_BYTES:
            with contextlib.suppress(OSError, ValueError):  # it has ended
                return self._helper.run(request, printed)
            self.close()
        return _Started(words, printed, self._folder)

    def close(self) -> None:
        """End the helper."""
        helper, self._helper = self._helper, None
        if helper is not None:
            helper.close()


class _Started:
    """A command that a new Python runs."""

    def __init__(self, words: Sequence[str], printed: int, folder: Path) -> None:
        groups: dict[str, Any] = {"start_new_session": True}
        if WINDOWS:
            groups = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        self._child = subprocess.Popen(
            python_module("protonn_edge", words),
            cwd=folder,
            env=safe_environment(**_ENVIRONMENT),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            **groups,
        )

    def lines(self) -> Iterator[str]:
        assert self._child.stderr is not None, "it is a pipe"
        with self._child.stderr as said:
            yield from said

    def wait(self) -> int:
        return self._child.wait()

    def stop(self) -> None:
        if self._child.poll() is None:
            self._child.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))

    def kill(self) -> None:
        if self._child.poll() is None:
            self._child.kill()


class _Helper:
    """The process that forks for each command; see `warm`."""

    def __init__(self, folder: Path) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                python_module(warm.__name__, [str(theirs.fileno())]),
                cwd=folder,
                env=safe_environment(**_ENVIRONMENT),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def run(self, request: bytes, printed: int) -> Running:
        """Have it fork for a command's words as JSON; `OSError` or `ValueError` if it fails."""
        reading, writing = os.pipe()
        try:
            try:
                socket.send_fds(self._line, [request], [printed, writing])
            finally:
                os.close(writing)
            return _Forked(self._line, int(self._line.recv(warm.ANSWER_BYTES)), reading)
        except BaseException:
            os.close(reading)
            raise

    def close(self) -> None:
        """End it; a command that runs goes on."""
        self._line.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Forked:
    """A command that the helper has forked for."""

    def __init__(self, line: socket.socket, pid: int, said: int) -> None:
        self._line, self._pid, self._said = line, pid, said
        self._ended = False

    def lines(self) -> Iterator[str]:
        with open(self._said, encoding="utf-8", errors="replace") as said:  # noqa: PTH123 - a pipe
            yield from said

    def wait(self) -> int:
        try:
            return int(self._line.recv(warm.ANSWER_BYTES))
        except (OSError, ValueError):  # the helper was killed
            return 1
        finally:
            self._ended = True

    def stop(self) -> None:
        self._send(signal.SIGINT)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, what: int) -> None:
        if not self._ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, what)
