"""Workers that run folds: this process, or several processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from threadpoolctl import threadpool_limits

from protonn_edge.tuning.trial import FoldResult, Job, Points, run_fold


@dataclass(eq=False)
class Workers(ABC):
    """Runs folds; a context manager. By default, it has no processes to end or lose."""

    points: Points  # the data shared by all trials

    def __enter__(self) -> Self:
        """Start."""
        return self

    def __exit__(self, *_: object) -> None:  # noqa: B027
        """End running folds without waiting for them."""

    @abstractmethod
    def submit(self, job: Job) -> Future[FoldResult]:
        """Submit a fold."""

    def renew(self) -> None:  # noqa: B027
        """Replace a lost worker, so that its folds can be submitted again."""


class InProcessWorkers(Workers):
    """Runs a fold when it is submitted."""

    def submit(self, job: Job) -> Future[FoldResult]:
        """Run the fold."""
        future: Future[FoldResult] = Future()
        future.set_result(run_fold(self.points, job))
        return future


@dataclass(eq=False)
class Processes(Workers):
    """Runs folds in processes of this machine, each with one thread."""

    jobs: int  # the number of processes

    def __enter__(self) -> Self:
        self.renew()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def submit(self, job: Job) -> Future[FoldResult]:
        """Submit a fold; in a broken pool it is lost at once."""
        try:
            with _ctrl_c_later():  # this may start a process, which Ctrl-C must not reach
                return self._pool.submit(_run_in_process, job)
        except BrokenProcessPool as error:
            lost: Future[FoldResult] = Future()
            lost.set_exception(error)
            return lost

    def renew(self) -> None:
        """Restart all processes: the pool is broken after one of them has died."""
        if hasattr(self, "_pool"):
            self._end()
        self._pool = ProcessPoolExecutor(
            self.jobs,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin_process,
            initargs=(self.points,),
        )

    def _end(self) -> None:
        # Running folds are not waited for; they end with their process.
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(5)


_shared: list[Points] = []  # in a process started by `Processes`


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Delay Ctrl-C until the end; a process started in between never receives it."""
    if sys.platform == "win32":
        yield
        return
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, usual)


def _begin_process(points: Points) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the search handles Ctrl-C, and ends this process
    threadpool_limits(limits=1)
    _shared[:] = [points]
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process after the search has ended, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _run_in_process(job: Job) -> FoldResult:
    return run_fold(_shared[0], job)
