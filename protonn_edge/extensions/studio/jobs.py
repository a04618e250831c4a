"""Jobs: commands in child processes, one at a time, with their progress."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from protonn_edge.cli.progress import PROGRESS_VARIABLE
from protonn_edge.extensions.studio.actions import line_of
from protonn_edge.system.errors import InputError, counted
from protonn_edge.system.schema import JsonObject
from protonn_edge.system.shell import WINDOWS

_STOP_S = 5.0
_NOTE_LETTERS = 500


class Busy(InputError):
    """Another job is running."""


class Jobs:
    """Runs commands in a folder; `tell` gets what they report, as keywords, in any thread."""

    def __init__(self, folder: Path, tell: Callable[..., None]) -> None:
        self._folder = folder
        self._tell = tell
        self._child: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False
        self.is_running = False
        self.latest: JsonObject = {}  # the latest report
        self.built: dict[str, JsonObject] = {}  # what builds used, by the hash of their model

    def check_idle(self) -> None:
        """Raise `Busy` if commands are running."""
        if self.is_running:
            task = self.latest.get("action", "another action")
            raise Busy(f"{task} is still running; wait until it ends, or stop it")

    def start(self, steps: Sequence[tuple[str, list[str]]]) -> None:
        """Run the commands of actions one after the other; the first failure ends them.

        Raises `Busy` if others are running.
        """
        self.check_idle()
        self._stopped, self.is_running = False, True
        self._thread = threading.Thread(target=self._run, args=(steps,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Press Ctrl-C for the running command, which keeps what it has."""
        self._stopped = True
        child = self._child
        if child is not None and child.poll() is None:
            child.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))

    def close(self) -> None:
        """End the running command, at the latest after some seconds."""
        self.stop()
        child, thread = self._child, self._thread
        if thread is not None:
            thread.join(_STOP_S)
        if child is not None and child.poll() is None:
            child.kill()

    def _run(self, steps: Sequence[tuple[str, list[str]]]) -> None:
        try:
            self._run_each(steps)
        finally:
            self.is_running = False

    def _run_each(self, steps: Sequence[tuple[str, list[str]]]) -> None:
        for action, words in steps:
            self.latest = {}
            self._report(number=next(_NUMBERS), action=action, line=line_of(words), state="running")
            try:
                code, record, said = self._execute(words)
            except OSError as error:
                code, record, said = 1, {"error": f"cannot run the command: {error}"}, []
            if code == 0 and "flash_bytes" in record:
                self.built[record.get("model_sha256", "")] = record
            state = "done"
            if code:
                state = "stopped" if self._stopped else "failed"
                reason = "stopped" if self._stopped else (said or ["it ended without a reason"])[-1]
                record = {"error": reason, **record}
            last = code != 0 or self._stopped or words is steps[-1][1]
            self.is_running = not last
            self._report(state=state, record=record, last=last)
            if last:
                return

    def _execute(self, words: list[str]) -> tuple[int, JsonObject, list[str]]:
        """Run a command to its end; return its exit code, its JSON object, and its text."""
        groups: dict[str, Any] = {"start_new_session": True}
        if WINDOWS:
            groups = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        with tempfile.TemporaryFile() as printed:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "protonn_edge", *words, "--json"],
                cwd=self._folder,
                env={**os.environ, PROGRESS_VARIABLE: "json"},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                **groups,
            )
            with self._child as child:
                if self._stopped:
                    self.stop()
                assert child.stderr is not None, "it is a pipe"
                said = [line for line in map(self._heard, child.stderr) if line]
            printed.seek(0)
            return child.returncode, _object_in(printed.read()), said

    def _heard(self, line: str) -> str:
        """Pass on the progress that a line reports, or return the line."""
        line = line.strip()
        if line.startswith("{"):
            try:
                record = json.loads(line)
                self._report(progress={name: record.get(name) for name in _PROGRESS})
            except ValueError:
                return line
            return ""
        if line:
            self._report(note=line[:_NOTE_LETTERS])
        return line

    def _report(self, **news: Any) -> None:
        self.latest = {**self.latest, **news}
        self._tell(job=self.latest)


_PROGRESS = ("task", "done", "total", "note")
_NUMBERS = count(1)


def _object_in(printed: bytes) -> JsonObject:
    """Return the JSON object that a command printed, empty without one."""
    lines = printed.splitlines()
    try:
        record = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {"error": f"the command printed {counted(len(lines), 'line')} that are no JSON"}
    return record if isinstance(record, dict) else {}
