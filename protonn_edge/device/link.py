"""The serial line itself: bytes both ways over any pyserial URL, and one error if it breaks.

`Host` opens it and provides the time, by which each wait has a `Deadline`. Tests use one with
simulated lines and time.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from typing import Protocol

from protonn_edge.errors import CheckFailed

_MOST_BYTES = 4096  # of one reading
_WRITE_BYTES = 256  # at a time: 2.1 s at 1,200 baud
_WRITE_DEADLINE_S = 5.0
_POLL_S = 0.001


class LinkError(CheckFailed):
    """The serial line cannot be opened, or broke while it was in use."""


class SerialLine(Protocol):
    """An open line; each method but `close` raises `LinkError` if it breaks."""

    def read(self, wait_s: float) -> bytes:
        """Return what has arrived; wait up to `wait_s` seconds for the first byte."""
        ...

    def write(self, data: bytes) -> None:
        """Send bytes, all of them."""
        ...

    def close(self) -> None:
        """Close the line; closing it again does nothing."""
        ...


class Host:
    """A computer: its serial ports and its clock."""

    def open(self, url: str, baud: int) -> SerialLine:
        """Return an open line; `LinkError` if it cannot be opened."""
        return Link(url, baud)

    def now(self) -> float:
        """Return the time in seconds, from an arbitrary start."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait for this number of seconds."""
        time.sleep(seconds)


class Deadline:
    """A time limit in seconds that only progress renews."""

    def __init__(self, host: Host, seconds: float) -> None:
        self.seconds = seconds
        self._host = host
        self.renew()

    def renew(self) -> None:
        """Start again: there was progress."""
        self.renewed_at = self._host.now()

    @property
    def left_s(self) -> float:
        """Seconds until it passes; negative afterwards."""
        return self.renewed_at + self.seconds - self._host.now()


class Link:
    """An open line to a serial port, or to anything else that pyserial knows.

    `url` is what pyserial's `serial_for_url` takes: ``/dev/ttyACM0``, ``COM3``,
    ``socket://127.0.0.1:PORT``. A link that is not a serial port ignores the baud rate. Raises
    `LinkError` if the line cannot be opened; later, if it breaks.
    """

    def __init__(self, url: str, baud: int) -> None:
        import serial  # noqa: PLC0415  (it takes its time, and many only name this class)

        self._url = url
        try:
            self._port = serial.serial_for_url(
                url, baudrate=baud, timeout=0, write_timeout=_WRITE_DEADLINE_S
            )
        except Exception as error:  # pyserial's handlers raise various exceptions
            raise LinkError(
                f"cannot open {url or 'a port without a name'} ({error}); plug the board in, or "
                "choose another --port"
            ) from error
        # What pyserial does not do for a TCP port: send without waiting for acknowledgements, and
        # close a socket that the other side has closed.
        self._socket: socket.socket | None = getattr(self._port, "_socket", None)
        if self._socket is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        """Close the line; closing it again does nothing."""
        with contextlib.suppress(OSError):  # a port whose device is gone
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)
                self._port.is_open = False  # else pyserial waits for 0.3 s after closing it
            self._port.close()
        if self._socket is not None:
            self._socket.close()

    def read(self, wait_s: float) -> bytes:
        """Return what has arrived; wait up to `wait_s` seconds for the first byte."""
        try:
            self._wait(wait_s)
            return bytes(self._port.read(_MOST_BYTES))
        except (OSError, TypeError, ValueError) as error:  # a port that was closed raises any
            raise LinkError(
                f"cannot read from {self._url}: {error}; plug the board in again"
            ) from error

    def write(self, data: bytes) -> None:
        """Send bytes, all of them."""
        try:
            while data:
                data = data[self._port.write(data[:_WRITE_BYTES]) or 0 :]
        except (OSError, TypeError, ValueError) as error:
            raise LinkError(
                f"cannot write to {self._url}: {error}; plug the board in again"
            ) from error

    def _wait(self, wait_s: float) -> None:
        try:
            number = self._port.fileno()
        except (AttributeError, OSError):  # not every handler has one: ask again and again
            end = time.monotonic() + wait_s
            while not self._port.in_waiting and time.monotonic() < end:
                time.sleep(_POLL_S)
        else:
            select.select([number], [], [], max(0.0, wait_s))
