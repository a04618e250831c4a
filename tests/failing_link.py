"""A line that fails on purpose, to test what talks over it.

A TCP server between a host and a device behind another TCP port. What goes wrong is drawn from a
seed and depends on which byte it is alone, not on when it comes: a failure can be had again.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

_PIECE_BYTES = 1024
_ACCEPT_S = 0.1
_END_S = 5.0


@dataclass(frozen=True)
class Faults:
    """What goes wrong, and how often.

    Attributes
    ----------
    drop, flip, double : float
        The chance of each byte, in either direction, to vanish, to have one bit turned over, to
        come twice.
    split : float
        The chance of each byte to be the last of a piece that is handed on alone.
    delay : float
        The chance of such a piece to be late.
    delay_s : float
        By how much, in seconds.
    resets, closes : tuple of int
        After so many bytes from the host the device is reset, or the line closed.
    """

    drop: float = 0.0
    flip: float = 0.0
    double: float = 0.0
    split: float = 0.0
    delay: float = 0.0
    delay_s: float = 0.0
    resets: tuple[int, ...] = ()
    closes: tuple[int, ...] = ()


@dataclass
class Done:
    """What has gone wrong so far."""

    dropped: int = 0
    flipped: int = 0
    doubled: int = 0
    delayed: int = 0
    resets: int = 0
    closes: int = 0


@dataclass
class _Direction:
    """Bytes one way: how many have come, and what is drawn for those that follow."""

    chance: np.random.Generator
    choice: np.random.Generator
    count: int = 0
    events: list[tuple[int, str]] = field(default_factory=list)


class FailingLink:
    """A line to a device on a TCP port of this computer that fails, as a context manager.

    Parameters
    ----------
    port : int
        The device's TCP port on 127.0.0.1.
    faults : Faults
        What goes wrong.
    seed : int
        Of the draw.
    reset : callable, optional
        Resets the device: `EmulatedUno.reset`.

    Attributes
    ----------
    done : Done
        What has gone wrong so far.
    """

    def __init__(
        self, port: int, faults: Faults, *, seed: int = 0, reset: Callable[[], None] | None = None
    ) -> None:
        self.done = Done()
        self._target = ("127.0.0.1", port)
        self._faults = faults
        self._reset = reset
        draws = [np.random.default_rng([seed, number]) for number in range(4)]
        events = [(at, "reset") for at in faults.resets] + [(at, "close") for at in faults.closes]
        self._to_device = _Direction(draws[0], draws[1], events=sorted(events))
        self._to_host = _Direction(draws[2], draws[3])
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(_ACCEPT_S)
        self._ended = False
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        """The line as pyserial's ``serial_for_url`` takes it."""
        return f"socket://127.0.0.1:{self._server.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._thread.join(_END_S)
        self._server.close()

    def _serve(self) -> None:
        """One host at a time, as a serial port has it."""
        while not self._ended:
            with contextlib.suppress(OSError):
                host, _ = self._server.accept()
                with host, socket.create_connection(self._target, timeout=_END_S) as device:
                    self._connect(host, device)

    def _connect(self, host: socket.socket, device: socket.socket) -> None:
        closed = threading.Event()
        to_host = (device, host, self._to_host, closed)
        back = threading.Thread(target=self._hand_on, args=to_host, daemon=True)
        back.start()
        self._hand_on(host, device, self._to_device, closed)
        back.join()

    def _hand_on(
        self,
        source: socket.socket,
        sink: socket.socket,
        direction: _Direction,
        closed: threading.Event,
    ) -> None:
        for end in (source, sink):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        source.settimeout(_ACCEPT_S)
        with contextlib.suppress(OSError):
            while not (closed.is_set() or self._ended):
                try:
                    piece = source.recv(_PIECE_BYTES)
                except TimeoutError:
                    continue
                if not piece or not self._pass(piece, sink, direction):
                    break
        closed.set()

    def _pass(self, piece: bytes, sink: socket.socket, direction: _Direction) -> bool:
        """Hand on what becomes of a piece; return whether the line stays open."""
        for part, late in self._damage(piece, direction):
            if late:
                self.done.delayed += 1
                time.sleep(self._faults.delay_s)
            sink.sendall(part)
        direction.count += len(piece)
        while direction.events and direction.events[0][0] <= direction.count:
            if direction.events.pop(0)[1] == "close":
                self.done.closes += 1
                return False
            self.done.resets += 1
            if self._reset is not None:
                self._reset()
        return True

    def _damage(self, piece: bytes, direction: _Direction) -> list[tuple[bytes, bool]]:
        """Return the pieces that come out, each with whether it is late."""
        faults, out, parts = self._faults, bytearray(), []
        limits = np.cumsum([faults.drop, faults.flip, faults.double])
        kinds = np.searchsorted(limits, direction.chance.random(len(piece)), side="right")
        splits = direction.choice.random((len(piece), 3))
        for byte, kind, (split, late, bit) in zip(piece, kinds.tolist(), splits, strict=True):
            if kind == 0:
                self.done.dropped += 1
            elif kind == 1:
                self.done.flipped += 1
                out.append(byte ^ 1 << int(8 * bit))
            else:
                self.done.doubled += kind == 2
                out += bytes([byte]) * (2 if kind == 2 else 1)
            if split < faults.split:
                parts.append((bytes(out), bool(late < faults.delay)))
                out.clear()
        return [*parts, (bytes(out), False)]
