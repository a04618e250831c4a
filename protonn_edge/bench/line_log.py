"""A record of the bytes on a line, for the report of a failed test."""

from __future__ import annotations

from collections import deque

from protonn_edge.device.connection import Host, Link

_KEPT = 100  # number of latest entries, at most 4 kB each
_SHOWN_BYTES = 64  # bytes shown of an entry


class LoggingHost(Host):
    """A host that records the latest bytes of all lines that it opens."""

    def __init__(self) -> None:
        self._began = self.now()
        self._entries: deque[tuple[float, str, bytes]] = deque(maxlen=_KEPT)

    def open(self, url: str, baud: int) -> Link:
        """Return an open line; raises `LinkError` if this fails."""
        self.note("opened", url.encode())
        return _LoggedLink(url, baud, self)

    def note(self, what: str, data: bytes) -> None:
        """Record an entry with the current time."""
        self._entries.append((self.now() - self._began, what, data))

    @property
    def text(self) -> str:
        """The entries, one per line: seconds, direction, and bytes in hexadecimal."""
        return "\n".join(
            f"{at:10.4f} {what} {_shown(what, data)}" for at, what, data in self._entries
        )


def _shown(what: str, data: bytes) -> str:
    if what == "opened":
        return data.decode(errors="replace")
    more = f" and {len(data) - _SHOWN_BYTES} more" if len(data) > _SHOWN_BYTES else ""
    return data[:_SHOWN_BYTES].hex(" ") + more


class _LoggedLink(Link):
    def __init__(self, url: str, baud: int, log: LoggingHost) -> None:
        self._log = log
        super().__init__(url, baud)

    def read(self, wait_s: float) -> bytes:
        data = super().read(wait_s)
        if data:
            self._log.note("from the board", data)
        return data

    def write(self, data: bytes) -> None:
        if data:
            self._log.note("to the board  ", data)
        super().write(data)
