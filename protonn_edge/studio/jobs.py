"""Jobs: commands in child processes, one at a time, with their progress."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import IO, Any

from protonn_edge.cli.progress import PROGRESS_VARIABLE
from protonn_edge.errors import InputError, counted
from protonn_edge.studio.actions import line_of
from protonn_edge.system.shell import WINDOWS

_STOP_S = 5.0
_STOPPED = 130
_NOTE_LETTERS = 500


class Busy(InputError):
    """Another job is running."""


class Jobs:
    """Runs commands in a folder; `tell` gets what they report, as keywords, in any thread."""

    def __init__(self, folder: Path, tell: Callable[..., None]) -> None:
        self._folder = folder
        self._tell = tell
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._numbers = count(1)
        self.latest: dict[str, Any] = {}  # the latest report
        self.built: dict[str, dict[str, Any]] = {}  # what builds used, by the hash of their model

    @property
    def is_running(self) -> bool:
        """Whether a command is running."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, steps: Sequence[tuple[str, list[str]]]) -> int:
        """Run the commands of actions one after the other; return the number of the first one.

        The first failure ends them. Raises `Busy` if others are running.
        """
        with self._lock:
            if self.is_running:
                task = self.latest.get("action", "another action")
                raise Busy(f"{task} is still running; wait until it ends, or stop it")
            self._stopped = False
            number = next(self._numbers)
            self._thread = threading.Thread(target=self._run, args=(number, steps), daemon=True)
            self._thread.start()
            return number

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

    def _run(self, number: int, steps: Sequence[tuple[str, list[str]]]) -> None:
        for at, (action, words) in enumerate(steps):
            self._report(number=number, action=action, line=line_of(words), state="running")
            try:
                code, record, said = self._execute(words)
            except OSError as error:
                code, record, said = 1, {"error": f"cannot run the command: {error}"}, []
            if code == 0 and "flash_bytes" in record:
                self.built[record.get("model_sha256", "")] = record
            state = "done" if code == 0 else "stopped" if code == _STOPPED else "failed"
            if code and "error" not in record:
                record["error"] = (said or ["the command ended without a reason"])[-1]
            last = code != 0 or self._stopped or at == len(steps) - 1
            self._report(state=state, record=record, said=said[-20:], last=last)
            if last:
                return

    def _execute(self, words: list[str]) -> tuple[int, dict[str, Any], list[str]]:
        """Run a command to its end; return its exit code, its JSON object, and its text."""
        groups: dict[str, Any] = {"start_new_session": True}
        if WINDOWS:
            groups = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        self._child = subprocess.Popen(
            [sys.executable, "-m", "protonn_edge", *words, "--json"],
            cwd=self._folder,
            env={**os.environ, PROGRESS_VARIABLE: "json"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            **groups,
        )
        with self._child as child:
            if self._stopped:
                self.stop()
            assert child.stdout is not None, "it is a pipe"
            assert child.stderr is not None, "it is a pipe"
            printed = list[str]()
            reading = threading.Thread(target=_read_all, args=(child.stdout, printed), daemon=True)
            reading.start()
            said = [line for line in map(self._heard, child.stderr) if line]
            code = child.wait()
            reading.join()
        return code, _object_in(printed), said

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
        if news.get("state") == "running":
            self.latest = {}
        self.latest = {**self.latest, **news}
        self._tell(job=self.latest)


_PROGRESS = ("task", "done", "total", "note")


def _read_all(stream: IO[str], into: list[str]) -> None:
    into.append(stream.read())


def _object_in(printed: list[str]) -> dict[str, Any]:
    """Return the JSON object that a command printed, empty without one."""
    lines = "".join(printed).strip().splitlines()
    try:
        record = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {"error": f"the command printed {counted(len(lines), 'line')} that are no JSON"}
    return record if isinstance(record, dict) else {}
