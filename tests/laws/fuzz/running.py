"""Run the cases of several areas in two processes, so that none can stop or fill the machine.

A process runs one case after the other. One that exceeds its deadline or its memory is killed with
all that it started, and a new one takes its place: that is a finding, like a crash.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import pytest
from laws.fuzz.areas import Area, Limits

PROCESSES = 2

_POLL_S = 0.1
_STOP_S = 10.0
_CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Finding:
    """A case that went wrong."""

    area: str
    seed: int
    what: str


@dataclass
class Progress:
    """How far one area is."""

    area: Area
    next_seed: int
    cases: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    skipped: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "area": self.area.name,
            "cases": self.cases,
            "seconds": round(self.seconds, 1),
            "next_seed": self.next_seed,
            "skipped": self.skipped,
            "findings": [asdict(finding) for finding in self.findings],
        }


def run_cases(
    areas: Sequence[Area],
    *,
    seed: int,
    seconds: float,
    cases: int | None = None,
    on_finding: Callable[[Finding], None],
) -> list[Progress]:
    """Run cases of all areas, each area for about as long as the others.

    Parameters
    ----------
    areas : sequence of Area
    seed : int
        Of the first case of each area; the next case has the next seed.
    seconds : float
        After that no case is started any more. Ctrl-C ends it sooner.
    cases : int, optional
        How many of each area at most.
    on_finding : callable
        Called with each finding as it is made.
    """
    progress = [Progress(area, seed) for area in areas]
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="protonn-edge-fuzz-") as scratch:
        workers = [_Worker(Path(scratch), on_finding) for _ in range(PROCESSES)]
        try:
            while True:
                for worker in workers:
                    following = _next(progress, workers, seed, cases)
                    if worker.case is None and following is not None and time.monotonic() < end:
                        worker.start(following)
                busy = [worker for worker in workers if worker.case is not None]
                if not busy:
                    break
                wait([worker.connection for worker in busy], _POLL_S)
                for worker in busy:
                    worker.look()
        except KeyboardInterrupt:
            pass  # what was done counts
        finally:
            for worker in workers:
                worker.kill()
    return progress


def _next(
    progress: Sequence[Progress], workers: Sequence[_Worker], seed: int, cases: int | None
) -> Progress | None:
    """Return the area that had the least time, of those that have cases left."""
    left = [
        one
        for one in progress
        if one.skipped is None and (cases is None or one.next_seed < seed + cases)
    ]

    def seconds(one: Progress) -> float:
        running = [worker.case for worker in workers if worker.case is not None]
        return one.seconds + sum(case.seconds for case in running if case.progress is one)

    return min(left, key=seconds, default=None)


@dataclass(frozen=True)
class _Case:
    progress: Progress
    seed: int
    start: float

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.start


class _Worker:
    """A process that runs one case after the other."""

    case: _Case | None = None

    def __init__(self, scratch: Path, on_finding: Callable[[Finding], None]) -> None:
        self._scratch = scratch
        self._on_finding = on_finding
        self._spawn()

    def _spawn(self) -> None:
        self.connection, others = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_work, args=(others, self._scratch))
        self._process.start()
        others.close()
        self.connection.recv()  # it has begun, in a group of its own

    def start(self, progress: Progress) -> None:
        """Start the next case of an area."""
        self._limits = Limits()  # until the module has been loaded and says its own
        self.case = _Case(progress, progress.next_seed, time.monotonic())
        progress.next_seed += 1
        self.connection.send((progress.area, self.case.seed))

    def look(self) -> None:
        """Take note of the case's end, or put an end to it."""
        assert self.case is not None
        message, limits = self._message(), self._limits
        if isinstance(message, Limits):
            self._limits = message
        elif _memory_bytes(self._process.pid) > limits.memory_bytes:
            self._replace(f"it takes more than {limits.memory_bytes / 1e9:.1f} GB of memory")
        elif message is not None:
            what, self.case.progress.skipped = message
            self._finish(what)
        elif self._process.exitcode is not None:
            self._replace(f"the process ended with the code {self._process.exitcode}")
        elif self.case.seconds > limits.seconds:
            self._replace(f"it takes more than {limits.seconds:g} s")

    def _message(self) -> Limits | tuple[str | None, str | None] | None:
        """Return what the process sent, or None if it did not, or has ended."""
        try:
            return self.connection.recv() if self.connection.poll() else None
        except EOFError:
            self._process.join(_STOP_S)
            return None

    def _replace(self, what: str) -> None:
        self.kill()
        self._finish(what)
        self._spawn()

    def _finish(self, what: str | None) -> None:
        assert self.case is not None
        progress = self.case.progress
        progress.cases += progress.skipped is None
        progress.seconds += self.case.seconds
        if what is not None:
            progress.findings.append(Finding(progress.area.name, self.case.seed, what))
            self._on_finding(progress.findings[-1])
        self.case = None

    def kill(self) -> None:
        """End the process and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.join(_STOP_S)
        self.connection.close()


def _work(connection: Connection, scratch: Path) -> None:
    """Run the cases that arrive, in a process group of its own; send what each found."""
    os.setsid()
    tempfile.tempdir = os.environ["TMPDIR"] = str(scratch)  # what a killed case leaves goes with it
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    connection.send(None)
    while True:
        try:
            area, seed = connection.recv()
        except EOFError:
            return
        connection.send(_outcome(area, seed, scratch, connection.send))


def _outcome(
    area: Area, seed: int, scratch: Path, send: Callable[[Limits], None]
) -> tuple[str | None, str | None]:
    """Return what a case found, if anything, and why the area's cases cannot be run, if so."""
    try:
        send(area.limits)
    except Exception as error:  # noqa: BLE001  (a module does not load: the others may)
        return f"{type(error).__name__}: {error}", "it cannot be loaded"
    try:
        return area.finding(seed, scratch), None
    except pytest.skip.Exception as error:
        return None, str(error)


def _memory_bytes(pid: int) -> int:
    """Return the most memory that a process has had in use; 0 where the system does not say."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return 1024 * int(found[1]) if found else 0
