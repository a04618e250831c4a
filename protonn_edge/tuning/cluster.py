"""Workers of a Dask cluster, which run folds on other computers."""

from __future__ import annotations

import contextlib
import importlib
import logging
import socket
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Self

from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.system.lazy import require
from protonn_edge.tuning.trial import FoldResult, Job, run_fold
from protonn_edge.tuning.workers import Workers

_CONNECT_S = 15
_GREETING_BYTES = 1 << 20


@dataclass(eq=False)
class DaskWorkers(Workers):
    """Runs folds on a Dask cluster; this package must be installed on its workers.

    Raises `InputError` on entering, if there is no scheduler, or dask.distributed is not installed;
    `CheckFailed` if the scheduler is lost later.
    """

    address: str  # the scheduler's, such as ``tcp://host:8786``

    def __enter__(self) -> Self:
        self._client = _client_of(self.address)
        try:
            self.renew()
        except BaseException:
            self._client.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def submit(self, job: Job) -> Future[FoldResult]:
        """Submit a fold; Dask runs it again if its worker is lost."""
        with _reaching(self._client, self.address):
            future: Future[FoldResult] = self._executor.submit(run_fold, self._shared, job)
        return future

    def renew(self) -> None:
        """Send the points again after the last worker that had them was lost."""
        with _reaching(self._client, self.address):
            try:
                self._client.wait_for_workers(1, timeout=_CONNECT_S)
            except TimeoutError as error:
                raise InputError(
                    f"the Dask scheduler at {self.address} has no workers; start some with 'dask "
                    f"worker {self.address}'"
                ) from error
            self._shared = self._client.scatter(self.points, broadcast=True, hash=False)
        self._executor = self._client.get_executor(pure=False, retries=2)


def _client_of(address: str) -> Any:
    """Return a client of the scheduler at an address, such as ``tcp://host:8786``.

    Raises `InputError` if there is no scheduler, or dask.distributed is not installed.
    """
    require("distributed")
    distributed: Any = importlib.import_module("distributed")
    # What matters is raised.
    for name in ("distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        _check_scheduler(address)
        return distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"no Dask scheduler answered at {address} within {_CONNECT_S} s; start one with 'dask "
            "scheduler', or correct the address"
        ) from error


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


@contextlib.contextmanager
def _reaching(client: Any, address: str) -> Iterator[None]:
    """Raise `CheckFailed` if the scheduler of a client, at this address, is lost meanwhile."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) or client.status != "running":
            raise CheckFailed(
                f"the Dask scheduler at {address} no longer answers; start it and its workers "
                "again, and repeat the command"
            ) from error
        raise
