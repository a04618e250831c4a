"""A command of this package in a child process, which can be stopped at any time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from protonn_edge.system.own_commands import python_module, safe_environment
from protonn_edge.system.schema import JsonObject

_GRACE_S = 1.5  # for an end in good order; clients wait only a little longer for a server's
# Nobody writes to the standard input. Its end is the end of the server, even if that was killed.
_WATCHER = 'read -r _; kill -s KILL -- "-$0"'  # with -KILL, dash refuses a group
_LOOK_EVERY_S = 0.05
_MOST_BYTES = 50_000_000  # of an object


class ChildCommand:
    """A command that runs once; `stop` may be called from any thread, even before `run`."""

    def __init__(self) -> None:
        self._stop = threading.Event()

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stop.is_set()

    def stop(self) -> None:
        """End the command and all that it has started."""
        self._stop.set()

    def run(self, words: Sequence[str], folder: Path, limit_s: float) -> JsonObject:
        """Run the command in a folder for at most `limit_s`; return its JSON object.

        Of a command that had to be stopped, it has the entry "stopped".
        """
        with tempfile.TemporaryFile() as printed:
            child = subprocess.Popen(
                python_module("protonn_edge", [*words, "--json"]),
                cwd=folder,
                env=safe_environment(),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                with _ended_with_this_process(child):
                    try:
                        in_time = self._wait(child, limit_s)
                    finally:
                        _end(child)  # while it is watched
            finally:
                _end(child)
            if self.is_stopped:
                return {"ok": False, "error": "stopped", "stopped": True}
            if not in_time:
                advice = "use fewer points or a faster kind of model"
                error = f"stopped after {limit_s:g} s; {advice}"
                return {"ok": False, "error": error, "stopped": True}
            printed.seek(0)
            with contextlib.suppress(ValueError):
                record = json.loads(printed.read(_MOST_BYTES))
                if isinstance(record, dict):
                    return record
        return {"ok": False, "error": f"{words[0]!r} ended with code {child.returncode}, silently"}

    def _wait(self, child: subprocess.Popen[bytes], limit_s: float) -> bool:
        """Wait until a child ends, or is to be stopped; return whether it has ended."""
        until = time.monotonic() + limit_s
        while child.poll() is None:
            if self._stop.wait(_LOOK_EVERY_S) or time.monotonic() > until:
                return False
        return True


@contextlib.contextmanager
def _ended_with_this_process(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Let a shell kill a child and its group if this process ends within the block."""
    if not hasattr(os, "killpg"):  # Windows
        yield
        return
    watching = ["/bin/sh", "-c", _WATCHER, str(child.pid)]
    with subprocess.Popen(watching, stdin=subprocess.PIPE, start_new_session=True) as watcher:
        try:
            yield
        finally:
            watcher.kill()


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a child, which then ends what it has started; then all that is left of its group."""
    if child.poll() is None:
        child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE_S)
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nothing is left
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()
