"""Workers of a Dask cluster, which run trials on other computers."""

from __future__ import annotations

import logging
import socket
import warnings
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Self

from protonn_edge.learn.search.objective import Job, Objective
from protonn_edge.learn.search.store import Record
from protonn_edge.learn.search.workers import Workers
from protonn_edge.system.errors import CheckFailed, InvalidValue
from protonn_edge.system.lazy import require

_CONNECT_S = 15
_GREETING_BYTES = 1 << 20


@dataclass(eq=False)
class DaskWorkers(Workers):
    """Runs trials on a Dask cluster; this package must be installed on its workers.

    Raises `InputError` on entering, if there is no scheduler or worker, or dask.distributed is not
    installed; `CheckFailed` if the scheduler is lost later.
    """

    address: str  # the scheduler's, such as ``tcp://host:8786``
    _threads: int = field(default=0, init=False)  # of all workers

    def __enter__(self) -> Self:
        require("distributed")
        import distributed

        # What matters is raised.
        for name in ("distributed", "distributed.client", "tornado.application"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            _check_scheduler(self.address)
            self._client = distributed.Client(
                self.address, timeout=_CONNECT_S, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise InvalidValue(
                self.address,
                f"no Dask scheduler answered within {_CONNECT_S} s",
                "start one with 'dask scheduler', or correct the address",
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=_CONNECT_S)
            self._shared = self._submitted_objective()
        except TimeoutError as error:
            self._client.close()
            raise InvalidValue(
                self.address,
                "the Dask scheduler has no workers",
                f"start some with 'dask worker {self.address}'",
            ) from error
        self._executor = self._client.get_executor(pure=False, retries=2)
        self.lost = (*self.lost, distributed.KilledWorker)
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _submitted_objective(self) -> Any:
        """Return the objective as the result of a task, which Dask repeats if a worker is lost.

        Scattered data would be lost with the last worker that has it.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(_itself, self.objective, pure=False)

    @property
    def in_flight(self) -> int:
        """Two trials for each thread, so that none waits for the next trial."""
        return 2 * max(1, self._threads)

    def submit(self, job: Job) -> Future[Record]:
        """Submit a trial; Dask runs it again if its worker is lost."""
        try:
            self._threads = sum(self._client.nthreads().values())  # workers come and go
            future: Future[Record] = self._executor.submit(Objective.__call__, self._shared, job)
        except Exception as error:
            if isinstance(error, OSError) or self._client.status != "running":
                raise CheckFailed(
                    f"the Dask scheduler at {self.address} no longer answers; start it and its "
                    "workers again, and repeat the command"
                ) from error
            raise
        return future


def _itself(objective: Objective) -> Objective:
    return objective


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
