"""Boards at other computers, where a worker of a Dask cluster keeps the line to each board."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Self

from protonn_edge.device.connection import LinkError
from protonn_edge.device.protocol import HelloReply
from protonn_edge.device.session import Session
from protonn_edge.errors import InputError, ProtoNNEdgeError
from protonn_edge.system.lazy import require

CONNECT_S = 15
_PORT = re.compile(r"dask://([^/]+)/([^@]+)@(.+)")
_REQUESTS = 16  # requests per task
_LOOK_AGAIN_S = 1.0  # seconds between checks that the worker is still there

_sessions: dict[str, Session] = {}  # of a worker, by their URLs


def client_of(address: str) -> Any:
    """Return a client of the scheduler at an address, such as ``tcp://host:8786``.

    Raises `InputError` if there is no scheduler, or dask.distributed is not installed.
    """
    require("distributed")
    distributed: Any = importlib.import_module("distributed")
    try:
        return distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"no Dask scheduler answered at {address} within {CONNECT_S} s; start one with 'dask "
            "scheduler', or correct the address"
        ) from error


class ClusterSession(Session):
    """A session with the board at ``dask://HOST:PORT/WORKER@URL``; HOST:PORT is the scheduler.

    It raises `LinkError` if the worker is lost; `expected` and other errors are as for `Session`.
    """

    def __init__(self, url: str, **expected: Any) -> None:
        super().__init__(url, **expected)
        self._expected = expected

    def __enter__(self) -> Self:
        place = _PORT.fullmatch(self.url)
        if place is None:
            raise InputError(f"the port is {self.url}; give it as dask://HOST:PORT/WORKER@URL")
        scheduler, self._worker, self._port = place.groups()
        self._client = client_of(f"tcp://{scheduler}")
        try:
            self._connection.device = self._on_worker(_open, self._expected)
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Close the worker's line, if the worker is still there."""
        with contextlib.suppress(ProtoNNEdgeError), self._client:
            self._on_worker(_close)

    def _exchange(self, requests: Any, kind: Any, policy: Any = None) -> Iterator[Any]:
        left = iter(requests)
        while some := list(islice(left, _REQUESTS)):
            done = self._on_worker(_replies, some, kind, policy or self._policy)
            replies, self.retried, self._connection.reopened = done
            yield from replies

    def _on_worker(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a task on the worker."""
        at = {"workers": [self._worker], "pure": False}
        future = self._client.submit(task, self._port, *arguments, **at)
        while True:
            try:
                return future.result(_LOOK_AGAIN_S)
            except TimeoutError:
                workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
            except ProtoNNEdgeError:
                raise
            except Exception as error:
                raise LinkError(
                    f"worker {self._worker} failed ({error}); start it again"
                ) from error
            if self._worker not in {str(each["name"]) for each in workers}:
                future.cancel()
                raise LinkError(
                    f"the cluster has no worker {self._worker}; start it, or correct its name"
                )


def _open(url: str, expected: dict[str, Any]) -> HelloReply:
    _close(url)
    _sessions[url] = Session(url, **expected).__enter__()
    return _sessions[url].device


def _close(url: str) -> None:
    if url in _sessions:
        _sessions.pop(url).close()


def _replies(url: str, *exchanged: Any) -> tuple[list[Any], int, int]:
    session = _sessions[url]
    return list(session._exchange(*exchanged)), session.retried, session.reopened
