"""Reading that may take long, behind the page: what is not there in time comes when it is read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

_MOST_KEPT = 1_000
_LARGE_BYTES = 16 << 20
_AT_ONCE = 2  # files that are read

SOON_S = 0.8
"""After which the page shows what there is."""


class Reader:
    """Reads in threads of its own; `ended` is called when something is there that was not in time.

    A thread ends with the program, whatever it reads.
    """

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended
        self._results: dict[Hashable, Future[Any]] = {}
        self._lock, self._few = threading.Lock(), threading.Semaphore(_AT_ONCE)

    def until(self, deadline: float) -> Callable[..., Any]:
        """Return what calls a function of a version of a file; it returns None after a time.

        A large file is read when the page shows the names, since reading holds up other threads.
        """

        def read(version: str, function: Callable[..., Any], path: Path, *values: Hashable) -> Any:
            is_large = path.is_file() and path.stat().st_size > _LARGE_BYTES
            future = self._begun((version, function, path, *values), SOON_S * is_large)
            try:
                left_s = 0.0 if is_large else deadline - time.monotonic()
                return future.result(max(0.0, left_s))
            except TimeoutError:
                return None

        return read

    def _begun(self, key: tuple[Any, ...], later_s: float) -> Future[Any]:
        with self._lock:
            if key not in self._results:
                ended = [each for each, future in self._results.items() if future.done()]
                for each in ended[: len(self._results) - _MOST_KEPT]:
                    del self._results[each]
                self._results[key] = Future()
                threading.Thread(target=self._read, args=(key, later_s), daemon=True).start()
            return self._results[key]

    def _read(self, key: tuple[Any, ...], later_s: float) -> None:
        future, (_, function, *values) = self._results[key], key
        begun = time.monotonic()
        time.sleep(later_s)
        with self._few:
            try:
                future.set_result(function(*values))
            except BaseException as error:  # noqa: BLE001 - it is raised for all who ask
                future.set_exception(error)
        if time.monotonic() - begun > SOON_S:
            self._ended()


def at_once(_: str, function: Callable[..., Any], *values: Hashable) -> Any:
    """Call a function of a version of a file, however long it takes."""
    return function(*values)
