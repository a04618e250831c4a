"""The base of all power meters, and the reading of those on a serial line.

A meter samples the board's supply together with its trigger, an input wired to the board's busy
pin. Nothing from a meter is trusted until it has been checked.
"""

from __future__ import annotations

import contextlib
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.device.connection import Deadline, Host, Link, LinkError
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import (
    DeviceError,
    InstrumentError,
    InvalidValue,
    ProtoNNEdgeError,
    shortened,
)

LONGEST_S = 100.0  # seconds of sampling
_MOST_BYTES = 1 << 26  # received from a meter in this time
_OPEN_S, _END_S = 20.0, 60.0
_MOST_TEXT = 1 << 12  # of a meter's description
_READ_S, _SILENCE_S, _DRAIN_S = 0.05, 2.0, 0.5


_Made = TypeVar("_Made")  # by a call


@dataclass(frozen=True, eq=False)
class MeterSamples:
    """Samples of a meter, in the order of their times; all arrays have shape (n,)."""

    seconds: NDArray[np.float64]  # by the meter's clock
    volts: NDArray[np.float64]
    amperes: NDArray[np.float64]
    trigger: NDArray[np.bool_]
    ranges: Array  # the meter's range, within which errors of offset and gain are the same
    dropped: int  # samples that are missing between them


class Meter(ABC):
    """A power meter, as a context manager that opens it.

    `place` is the part of its name after the colon; the supply's voltage may be known, too.
    Methods raise `InstrumentError` if the meter is at fault or does not stop in time; `DeviceError`
    is reserved for the board.
    """

    NAME: ClassVar[str]
    TRIGGER: ClassVar[str]  # the input for the board's pin
    GAIN: ClassVar[float]  # the largest relative error of a power
    OFFSET_AMPERES: ClassVar[float]  # the largest error of a current of 0

    def __init__(self, place: str, _volts: float | None) -> None:
        self._place = place

    def __enter__(self) -> Self:
        try:
            self._result(self._begun(self._open), _OPEN_S)
        except BaseException:
            with contextlib.suppress(ProtoNNEdgeError):
                self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._result(self._begun(self._close), _OPEN_S)

    def start(self) -> None:
        """Start sampling."""
        self._ended = threading.Event()
        self._sampling = self._begun(lambda: self._sample(self._ended))

    def stop(self) -> MeterSamples:
        """Stop sampling, and return the samples since `start`."""
        self._ended.set()
        return self._result(self._sampling, _END_S)

    def _begun(self, call: Callable[[], _Made]) -> Future[_Made]:
        """Start a call in a separate thread, which may be abandoned."""
        future: Future[_Made] = Future()

        def run() -> None:
            try:
                future.set_result(call())
            except Exception as error:  # noqa: BLE001  (a driver raises what it likes)
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future

    def _result(self, future: Future[_Made], within_s: float) -> _Made:
        if not wait([future], within_s).done:
            raise self._fault(f"did not finish within {within_s:g} s")
        try:
            return future.result()
        except DeviceError as error:  # of its line
            raise InstrumentError(str(error)) from error
        except ProtoNNEdgeError:
            raise
        except Exception as error:
            summary = shortened(" ".join(f"{type(error).__name__} {error}".split()), 200)
            raise self._fault(f"failed ({summary})") from error

    def _fault(self, what: str) -> InstrumentError:
        return InstrumentError(
            f"the {self.NAME} {what}; check its cable, and plug the meter in again"
        )

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...

    @abstractmethod
    def _sample(self, ended: threading.Event) -> MeterSamples:
        """Sample until the event, at most `LONGEST_S`."""


class SerialMeter(Meter):
    """A meter that sends its samples on a serial line."""

    BAUD: ClassVar[int]
    START, STOP = b"", b""  # the commands

    def _open(self) -> None:
        try:
            self._line = Link(self._place, self.BAUD)
        except LinkError as error:
            raise InvalidValue(
                f"the {self.NAME} at {self._place or 'an unnamed port'}",
                "it cannot be opened",
                f"plug the meter in, and name its port, as in --meter {self.NAME.lower()}:PORT",
            ) from error

    def _close(self) -> None:
        self._line.close()

    def _sample(self, ended: threading.Event) -> MeterSamples:
        received, silence = bytearray(), Deadline(Host(), _SILENCE_S)
        self._line.write(self.START)
        while not ended.is_set():
            if data := self._line.read(_READ_S):
                silence.renew()
            received += data
            if silence.left_s < 0 or len(received) > _MOST_BYTES:
                raise self._fault(f"sent no samples for {_SILENCE_S:g} s, or sent too many")
        self._line.write(self.STOP)
        received += self._rest()
        return self._decode(bytes(received))

    def _rest(self) -> bytearray:
        """Return the bytes that are still arriving."""
        rest, drain = bytearray(), Deadline(Host(), _DRAIN_S)
        while drain.left_s > 0 and (data := self._line.read(_READ_S)):
            rest += data
        return rest

    def _text_until(self, end: re.Pattern[bytes], within_s: float) -> bytes:
        """Return the text received up to a pattern, within seconds that no byte extends."""
        received, deadline = b"", Deadline(Host(), within_s)
        while not end.search(received):
            if deadline.left_s < 0:
                raise self._fault(f"at {self._place} did not respond within {within_s:g} s")
            received = received[-_MOST_TEXT:] + self._line.read(_READ_S)
        return received

    @abstractmethod
    def _decode(self, data: bytes) -> MeterSamples:
        """Return the samples in received bytes; `InstrumentError` if there are none."""


def steps_of(counts: Array, modulus: int) -> NDArray[np.int64]:
    """Return the increments, at least 1, of counts modulo a number."""
    return np.mod(np.diff(counts.astype(np.int64)) - 1, modulus) + 1
