"""Boards at other computers, where a worker of a Dask cluster keeps the line to each board."""

from __future__ import annotations

import contextlib
import importlib
import logging
import re
import socket
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Self

from protonn_edge.device.connection import LONGEST_REPLY_BYTES, LinkError
from protonn_edge.device.protocol import HelloReply
from protonn_edge.device.session import Session
from protonn_edge.errors import CheckFailed, InputError, ProtoNNEdgeError
from protonn_edge.system.lazy import require

CONNECT_S = 15
_PORT = re.compile(r"dask://([^/]+)/([^@]+)@(.+)")
_REQUESTS = 16  # requests per task
_LOOK_AGAIN_S = 1.0  # seconds between checks that the worker is still there
_GREETING_BYTES = 1 << 20
_CLOSING_S = 2.0  # of silence at the end, and of a worker that was silent before

_sessions: dict[str, Session] = {}  # of a worker, by their URLs


def client_of(address: str) -> Any:
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
        return distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"no Dask scheduler answered at {address} within {CONNECT_S} s; start one with 'dask "
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
    with socket.create_connection(at, CONNECT_S) as line, line.makefile("rb") as greeting:
        first = greeting.read(8)  # its length
    if len(first) < 8 or int.from_bytes(first, "little") > _GREETING_BYTES:
        raise OSError(f"{address} is not a scheduler")


@contextlib.contextmanager
def reaching(client: Any, address: str) -> Iterator[None]:
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


class ClusterSession(Session):
    """A session with the board at ``dask://HOST:PORT/WORKER@URL``; HOST:PORT is the scheduler.

    It raises `LinkError` if the worker is lost, also if it has been silent for `silent_s` seconds,
    or exceeds the session's own time limits by as much, and `CheckFailed` if the scheduler is lost;
    `expected` and other errors are as for `Session`.
    """

    def __init__(self, url: str, *, silent_s: float = 30.0, **expected: Any) -> None:
        super().__init__(url, **expected)
        self._expected = expected
        self._silent_s = silent_s

    def __enter__(self) -> Self:
        place = _PORT.fullmatch(self.url)
        if place is None:
            raise InputError(f"the port is {self.url}; give it as dask://HOST:PORT/WORKER@URL")
        scheduler, self._worker, self._port = place.groups()
        self._scheduler = f"tcp://{scheduler}"
        self._client = client_of(self._scheduler)
        try:
            self._connection.device = self._on_worker(
                self._connection.handshake_s, _open, self._expected
            )
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Close the worker's line, if the worker is still there."""
        self._silent_s = min(self._silent_s, _CLOSING_S)
        with contextlib.suppress(ProtoNNEdgeError), contextlib.closing(self._client):
            self._on_worker(0.0, _close)

    def _exchange(self, requests: Any, kind: Any, policy: Any = None) -> Iterator[Any]:
        left, policy = iter(requests), policy or self._policy
        each_s = policy.progress_s + self._connection.wire_s(self.device.features)
        each_s += self._connection.wire_s(LONGEST_REPLY_BYTES)
        while some := list(islice(left, _REQUESTS)):
            done = self._on_worker(len(some) * each_s, _replies, some, kind, policy)
            replies, self.retried, self._connection.reopened = done
            yield from replies

    def _on_worker(self, within_s: float, task: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a task on the worker, which takes at most `within_s` seconds."""
        at = {"workers": [self._worker], "pure": False}
        try:
            with reaching(self._client, self._scheduler):
                future = self._client.submit(task, self._port, *arguments, **at)
                loss = self._loss(future, within_s + self._silent_s)
                if loss is None:
                    return future.result()
        except ProtoNNEdgeError:
            raise
        except Exception as error:
            loss = f"worker {self._worker} failed ({error}); start it again"
            raise LinkError(loss) from error
        raise LinkError(loss)

    def _loss(self, future: Any, within_s: float) -> str | None:
        """Wait for the end of a task, and return None; if the worker is lost, return the reason."""
        began = beat_at = time.monotonic()
        beat, missing = None, f"has sent no heartbeat for {self._silent_s:g} s"
        while time.monotonic() - beat_at < self._silent_s:
            if time.monotonic() - began > within_s:
                missing = f"has not finished a task within {within_s:.3g} s"
                break
            with contextlib.suppress(TimeoutError):
                future.exception(_LOOK_AGAIN_S)
                return None
            identity = self._client.scheduler.identity
            state = self._client.sync(identity, n_workers=-1, callback_timeout=self._silent_s)
            beats = {str(each["name"]): each["last_seen"] for each in state["workers"].values()}
            if self._worker not in beats:
                return f"the cluster has no worker {self._worker}; start it, or correct its name"
            if beats[self._worker] != beat:
                beat, beat_at = beats[self._worker], time.monotonic()
        self._silent_s = min(self._silent_s, _CLOSING_S)
        return (
            f"worker {self._worker} {missing}; check its computer, its network and its other "
            "tasks, and start it again"
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
