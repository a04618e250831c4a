"""Workers that run trials: this process, or several processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, Self

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from threadpoolctl import threadpool_limits

from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.store import Record, SearchFile


@dataclass(eq=False)
class Workers:
    """Runs trials in this process; a context manager."""

    objective: Objective
    file: SearchFile  # with the study to which the trials are added
    in_flight: int = 1  # how many trials run at the same time

    # what the result of a trial raises if its worker was lost
    lost: tuple[type[BaseException], ...] = field(
        default=(BrokenExecutor, CancelledError), init=False
    )

    def __enter__(self) -> Self:
        """Start."""
        return self

    def __exit__(self, *_: object) -> None:
        """End running trials without waiting for them."""

    @property
    def records(self) -> Sequence[Record]:
        """The finished trials, by their numbers."""
        return self.file.records

    def submit(self, number: int) -> Future[None]:
        """Submit the next trial of the study; `number` is the sampler's seed."""
        self.objective.study_in(self.file.study._storage, number).optimize(self.objective, 1)
        future = Future[None]()
        future.set_result(None)
        return future


@dataclass(eq=False)
class Processes(Workers):
    """Runs trials in as many processes of this machine, which share the journal.

    Each has one thread.
    """

    def __enter__(self) -> Self:
        context = multiprocessing.get_context("spawn")
        # In a file, since a process is sent its arguments while it still imports the package, and
        # this one would wait for it.
        self._folder = tempfile.TemporaryDirectory()
        objective = Path(self._folder.name, "objective")
        objective.write_bytes(ForkingPickler.dumps(self.objective))
        self._pool = ProcessPoolExecutor(
            self.in_flight,
            mp_context=context,
            initializer=_begin_process,
            initargs=(objective, str(self.file.path), context.Lock()),
        )
        return self

    def __exit__(self, *_: object) -> None:
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(5)
        self._folder.cleanup()

    def submit(self, number: int) -> Future[None]:
        """Submit a trial; Ctrl-C does not reach its process, which the search ends."""
        with _ctrl_c_not_inherited():
            return self._pool.submit(_run_in_process, number)


@contextmanager
def _ctrl_c_not_inherited() -> Iterator[None]:
    """Let processes that are started not get Ctrl-C; this one gets it afterwards, if possible."""
    if sys.platform == "win32":
        usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)
    else:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


_shared: list[Any] = []  # in a process started by `Processes`: the objective and its storage


def _begin_process(objective: Path, path: str, lock: Any) -> None:
    threadpool_limits(limits=1)
    shared = ForkingPickler.loads(objective.read_bytes())
    _shared[:] = [shared, JournalStorage(JournalFileBackend(path, lock))]
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process after the search has ended, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _run_in_process(number: int) -> None:
    objective, storage = _shared
    objective.study_in(storage, number).optimize(objective, n_trials=1)
