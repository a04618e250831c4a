"""Jobs: commands in child processes, one at a time, with their progress.

A build goes on behind: another `Jobs`, whose command does not hold up those that people wait for.

A job has steps, of which each is a command. Its reports say how far it is, and what each step that
has ended printed, so that no notice of an earlier step gets lost.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from time import sleep

from protonn_edge.extensions.studio.actions import line_of
from protonn_edge.extensions.studio.log import Log
from protonn_edge.extensions.studio.processes import Launcher, Running
from protonn_edge.extensions.studio.words import PAGE
from protonn_edge.system.errors import InputError, counted
from protonn_edge.system.schema import JsonObject

_STOP_S, _END_S = 5.0, 0.5
_POLL_S = 0.05
_NOTE_LETTERS = 500
_PROGRESS = ("task", "done", "total", "note")
_NUMBERS = count(1)

Steps = Sequence[tuple[str, list[str]]]
"""The actions of a job, with the words of their commands."""


class Busy(InputError):
    """Another job is running."""


class Jobs:
    """Runs commands in a folder; `tell` gets what they report, in any thread, by a keyword."""

    def __init__(
        self, folder: Path, tell: Callable[..., None], log: Log, keyword: str = "job"
    ) -> None:
        self._folder, self._tell, self._log, self._keyword = folder, tell, log, keyword
        self.processes = Launcher(folder)
        self._child: Running | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False
        self.steps: Steps = ()  # of the latest job
        self.is_running = False
        self.latest: JsonObject = {}  # the latest report

    def check_idle(self) -> None:
        """Raise `Busy` if commands are running."""
        if self.is_running:
            task = self.latest.get("action", "another action")
            raise Busy(f"{task} is still running; wait until it ends, or stop it")

    def start(
        self,
        steps: Steps,
        stage: str = "",
        then: Callable[[], None] | None = None,
        after: Jobs | None = None,
    ) -> None:
        """Run the commands of actions one after the other; the first failure ends them.

        If other jobs are running that these come `after`, they begin when those are done. If all
        commands are done, `then` is called before the job ends. Raises `Busy` if others are
        running.
        """
        self.check_idle()
        self._stopped, self.is_running, self.steps = False, True, steps
        self._thread = threading.Thread(
            target=self._run, args=(steps, stage, then or (lambda: None), after), daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Press Ctrl-C for the running command, which keeps what it has."""
        self._stopped = True
        if self._child is not None:
            self._child.stop()

    def end(self, within_s: float = _END_S) -> None:
        """End the running command, at the latest after some time."""
        self.stop()
        if self._thread is not None:
            self._thread.join(within_s)
        if self._child is not None:
            self._child.kill()
        if self._thread is not None:
            self._thread.join(_STOP_S)

    def close(self) -> None:
        """End the running command, and begin no other."""
        self.end(_STOP_S)
        self.processes.close()

    def _run(self, steps: Steps, stage: str, then: Callable[[], None], after: Jobs | None) -> None:
        self.latest = {
            "number": next(_NUMBERS), "stage": stage, "of": len(steps), "records": [], "part": 0.0,
            "behind": self._keyword == "behind",
        }  # fmt: skip
        try:
            if after is not None and after.is_running and not self._is_next(steps[0][0], after):
                return
            for at, step in enumerate(steps, 1):
                if not self._goes_on(at, *step, then):
                    break
        except BaseException:
            self.processes.close()  # an answer to this command may be on its line
            self.is_running = False
            raise

    def _is_next(self, action: str, after: Jobs) -> bool:
        """Wait until other jobs have ended; return whether they are done, else end as they did."""
        self._report(action=action, state="running", last=False, waits=True)
        while after.is_running and not self._stopped:
            sleep(_POLL_S)
        ended: JsonObject = {"state": "stopped", "record": {"error": "stopped"}}
        if not after.is_running:
            ended = {name: after.latest[name] for name in ended}
        if ended["state"] == "done" and not self._stopped:
            return True
        ended |= {"last": True, "waits": False}
        self.latest, self.is_running = {**self.latest, **ended}, False
        self._tell(**{self._keyword: self.latest})
        return False

    def _goes_on(self, at: int, action: str, words: list[str], then: Callable[[], None]) -> bool:
        """Run a step, and report it; return whether the next one follows."""
        begun, line = {"step": at, "action": action, "line": line_of(words)}, line_of(words)
        begun |= {"waits": False}
        self._report(**begun, state="running", last=False, record=None, progress=None, note="")
        try:
            code, record, said = self._execute(words)
        except OSError as error:
            code, record, said = 1, {"error": f"cannot run the command: {error}"}, []
        state = "done"
        if code:
            state = "stopped" if self._stopped else "failed"
            reason = "stopped" if self._stopped else (said or ["it ended without a reason"])[-1]
            record = {"error": reason, **record}
            record["sentence"] = PAGE.worded(record["error"].removeprefix("error: "))
        last = code != 0 or self._stopped or at == self.latest["of"]
        ended = {"action": action, "line": line, "state": state, "record": record}
        news = {"state": state, "record": record, "records": [*self.latest["records"], ended]}
        latest = {**self.latest, **news, "last": last, "part": at / self.latest["of"]}
        self._log.add(latest, _files_of(words))
        if last and state == "done" and not self._stopped:
            then()
        self.latest, self.is_running = latest, not last  # the next job may begin from here on
        self._tell(**{self._keyword: latest})
        return not last

    def _execute(self, words: list[str]) -> tuple[int, JsonObject, list[str]]:
        """Run a command to its end; return its exit code, its JSON object, and its text."""
        with tempfile.TemporaryFile() as printed:
            self._child = child = self.processes.run([*words, "--json"], printed.fileno())
            if self._stopped:
                self.stop()
            said = [line for line in map(self._heard, child.lines()) if line]
            code = child.wait()
            printed.seek(0, os.SEEK_SET)
            return code, _object_in(printed.read()), said

    def _heard(self, line: str) -> str:
        """Pass on the progress that a line reports, or return the line."""
        line = line.strip()
        if line.startswith("{"):
            try:
                record = json.loads(line)
                progress = {name: record.get(name) for name in _PROGRESS}
            except (ValueError, AttributeError, RecursionError):
                return line
            self._report(progress=progress, part=self._part(progress))
            return ""
        if line:
            self._report(note=line[:_NOTE_LETTERS])
        return line

    def _part(self, progress: JsonObject) -> float:
        """Return the part of the job that is done; of a task that counts nothing, none is."""
        done, total = progress["done"], progress["total"]
        counts = all(type(each) in (int, float) and each > 0 for each in (done, total))
        of_step = min(1.0, done / total) if counts else 0.0
        return float((self.latest["step"] - 1 + of_step) / self.latest["of"])

    def _report(self, **news: object) -> None:
        self.latest = {**self.latest, **news}
        self._tell(**{self._keyword: self.latest})


def _files_of(words: Sequence[str]) -> list[str]:
    """Return the file that a command writes, or else the one that it reads."""
    if "-o" in words:
        return [words[words.index("-o") + 1]]
    return [word for word in words[1:2] if not word.startswith("-")]


def _object_in(printed: bytes) -> JsonObject:
    """Return the JSON object that a command printed, empty without one."""
    lines = printed.splitlines()
    try:
        record = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {"error": f"the command printed {counted(len(lines), 'line')} that are no JSON"}
    return record if isinstance(record, dict) else {}
