"""Workers of a Dask cluster, which run trials on other computers.

The scheduler has a copy of the journal, to which the workers add; the search brings its file up to
date.
"""

from __future__ import annotations

import functools
import json
import logging
import socket
import uuid
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any, Self

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend

from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.store import Record, SearchFile, let_wait
from protonn_edge.learn.search.workers import Workers
from protonn_edge.system.errors import CheckFailed, InvalidValue
from protonn_edge.system.lazy import require

_CONNECT_S = 15
_GREETING_BYTES = 1 << 20
_TASK = "task"  # attribute of a trial: Dask's key of the task that runs it


class DaskWorkers(Workers):
    """Runs trials on a Dask cluster; this package must be installed on all its computers.

    Raises `InputError` on entering, if there is no scheduler or worker, or dask.distributed is not
    installed; `CheckFailed` if the scheduler is lost later.
    """

    def __init__(self, objective: Objective, file: SearchFile, address: str) -> None:
        super().__init__(objective, file)
        self._address, self._name, self._copied = address, str(uuid.uuid4()), 0

    def __enter__(self) -> Self:
        require("distributed")
        import distributed

        for name in ("distributed", "distributed.client", "tornado.application"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is raised
        try:
            _check_scheduler(self._address)
            self._client = distributed.Client(
                self._address, timeout=_CONNECT_S, set_as_default=False
            )
            self._client.wait_for_workers(1, timeout=_CONNECT_S)
        except (OSError, ValueError) as error:  # a timeout, too
            raise InvalidValue(
                self._address,
                f"no Dask scheduler with a worker answered within {_CONNECT_S} s",
                f"start 'dask scheduler' and 'dask worker {self._address}', or correct the address",
            ) from error
        self.lost = (*self.lost, distributed.KilledWorker)
        lines = self.file.path.read_text("utf-8").splitlines()
        self._copied = len(lines)
        self._asked(self._client.run_on_scheduler, _exchange, self._name, lines)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            # The result of a task is computed again if its worker is lost; scattered data is not.
            self._shared = self._client.submit(_itself, self.objective, pure=False)
        self._executor = self._client.get_executor(pure=False, retries=2)
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    @property
    def records(self) -> Sequence[Record]:
        """The finished trials, by their numbers, once the file has the scheduler's lines."""
        ask = self._client.run_on_scheduler
        lines: list[str] = self._asked(ask, _exchange, self._name, [], self._copied)
        self._copied += len(lines)
        self.file.append(lines)
        return self.file.records

    def submit(self, number: int) -> Future[None]:
        """Submit a trial, of two for each thread; Dask runs it again if its worker is lost."""
        threads: int = sum(self._asked(self._client.nthreads).values())  # workers come and go
        self.in_flight = 2 * max(1, threads)
        work = _run_task, self._shared, self._name, number
        future: Future[None] = self._asked(self._executor.submit, *work)
        return future

    def _asked(self, request: Any, *values: Any) -> Any:
        try:
            return request(*values)
        except Exception as error:
            if isinstance(error, OSError) or self._client.status != "running":
                raise CheckFailed(
                    f"the Dask scheduler at {self._address} no longer answers; start it and its "
                    "workers again, and repeat the command"
                ) from error
            raise


class _Journal(BaseJournalBackend):
    """The lines of a search that its scheduler has, for Optuna in a worker."""

    def __init__(self, name: str) -> None:
        from distributed import get_client

        client: Any = get_client()
        self._name, self._client = name, client

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        ask = self._client.run_on_scheduler
        return map(json.loads, ask(_exchange, self._name, [], log_number_from))

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        self._client.run_on_scheduler(_exchange, self._name, [*map(json.dumps, logs)])


def _exchange(
    name: str, new: list[str], start: int | None = None, *, dask_scheduler: Any
) -> list[str]:
    """Append lines to a journal, in the scheduler, and return those from one on."""
    lines: list[str] = dask_scheduler.extensions.setdefault(name, [])
    lines += new
    return [] if start is None else lines[start:]


@functools.cache
def _storage(journal: str) -> JournalStorage:
    return JournalStorage(_Journal(journal))


def _itself(objective: Objective) -> Objective:
    return objective


def _run_task(objective: Objective, journal: str, number: int) -> None:
    """Run a trial in a worker: the one that this task began, if a former worker was lost."""
    from distributed import get_worker

    task = get_worker().get_current_task()
    study = objective.study_in(_storage(journal), number)
    begun = [each for each in study.get_trials() if each.user_attrs.get(_TASK) == task]
    if any(trial.state.is_finished() for trial in begun):
        return
    let_wait(study, begun)

    def run(trial: optuna.Trial) -> float:
        trial.set_user_attr(_TASK, task)
        return objective(trial)

    study.optimize(run, n_trials=1)


def _check_scheduler(address: str) -> None:
    """Raise `OSError` unless the first bytes at a TCP address are those of a scheduler.

    For others, Dask's client would wait without end, or allocate as much memory as they state.
    """
    scheme, found, place = address.rpartition("://")
    if found and scheme != "tcp":
        return
    host, _, port = place.rpartition(":")
    at = host.strip("[]"), int(port)
    with socket.create_connection(at, _CONNECT_S) as line, line.makefile("rb") as greeting:
        first = greeting.read(8)  # its length
    if len(first) < 8 or int.from_bytes(first, "little") > _GREETING_BYTES:
        raise OSError(f"{address} is not a scheduler")
