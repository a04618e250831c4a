"""Workers that run trials: this process, or several processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Self

from threadpoolctl import threadpool_limits

from protonn_edge.learn.search.objective import Job, Objective
from protonn_edge.learn.search.store import Record


@dataclass(eq=False)
class Workers:
    """Runs trials in this process; a context manager."""

    objective: Objective
    lost: tuple[type[BaseException], ...] = field(
        default=(BrokenExecutor, CancelledError), init=False
    )  # what the result of a trial raises if its worker was lost

    def __enter__(self) -> Self:
        """Start."""
        return self

    def __exit__(self, *_: object) -> None:
        """End running trials without waiting for them."""

    @property
    def in_flight(self) -> int:
        """How many trials run at the same time."""
        return 1

    def submit(self, job: Job) -> Future[Record]:
        """Submit a trial."""
        future = Future[Record]()
        future.set_result(self.objective(job))
        return future


@dataclass(eq=False)
class Processes(Workers):
    """Runs trials in processes of this machine, each with one thread."""

    jobs: int  # the number of processes

    def __enter__(self) -> Self:
        self._pool = ProcessPoolExecutor(
            self.jobs,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin_process,
            initargs=(self.objective,),
        )
        return self

    def __exit__(self, *_: object) -> None:
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(5)

    @property
    def in_flight(self) -> int:
        """A trial for each process."""
        return self.jobs

    def submit(self, job: Job) -> Future[Record]:
        """Submit a trial; Ctrl-C does not reach its process, which the search ends."""
        usual = signal.signal(signal.SIGINT, signal.SIG_IGN)  # for a process that this may start
        try:
            return self._pool.submit(_run_in_process, job)
        finally:
            signal.signal(signal.SIGINT, usual)


_shared: list[Objective] = []  # in a process started by `Processes`


def _begin_process(objective: Objective) -> None:
    threadpool_limits(limits=1)
    _shared[:] = [objective]
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process after the search has ended, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _run_in_process(job: Job) -> Record:
    return _shared[0](job)
