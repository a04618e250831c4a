"""A board that samples a sensor and only sends: its line, its description, and what follows it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Generic, TypeVar, cast

from protonn_edge.device.framing import ProtocolError
from protonn_edge.device.link import Deadline, Host, SerialLine
from protonn_edge.device.protocol import Message, MessageReader
from protonn_edge.device.sensor_messages import Description
from protonn_edge.errors import CheckFailed
from protonn_edge.sensors.rates import check_reported_rate

_DESCRIPTION_S = 15.0  # a bootloader, and the second between two descriptions
_READ_S = 0.25

Described = TypeVar("Described", bound=Description)
Reported = TypeVar("Reported")


class SensorStream(ABC, Generic[Described, Reported]):
    """Decodes the bytes of a board to what it reports; a subclass says of which firmware."""

    KINDS: ClassVar[tuple[type[Message], ...]]  # of its messages
    LONGEST_FRAME: ClassVar[int]
    OTHER_FIRMWARE: ClassVar[type[Description]]  # whose description is refused
    OTHER: ClassVar[str]  # what to say of it
    CHANGED: ClassVar[str]  # what to say of a description that is not the one before
    SILENT: ClassVar[str]  # what to say where {} does not describe itself

    def __init__(self) -> None:
        # the latest one; before the first, everything else is ignored
        self.description: Described | None = None
        self._reader = MessageReader(
            self.KINDS, self.LONGEST_FRAME, (self.OTHER_FIRMWARE.TYPE, self.OTHER)
        )

    @property
    def torn(self) -> int:
        """Frames that were damaged on the line, or whose contents are impossible."""
        return self._reader.torn

    def feed(self, data: bytes) -> list[Reported]:
        """Return what these bytes complete, in order; see `each`."""
        return list(self.each(data))

    def each(self, data: bytes) -> Iterator[Reported]:
        """Yield what these bytes complete, each before what follows it is decoded.

        Raises
        ------
        CheckFailed
            If the sender has another version or other firmware, is another one than before, or
            reports a sampling rate that it cannot keep.
        """
        for _, message in self._reader.feed(data):
            if isinstance(message, Description):
                self._describe(cast("Described", message))
            elif self.description is not None:
                try:
                    reported = self._take(message, self.description)
                except ProtocolError:
                    self._reader.torn += 1
                    continue
                if reported is not None:
                    yield reported

    def _describe(self, new: Described) -> None:
        check_reported_rate(new.sensors[0], len(new.channels), new.period_cycles, new.clock_hz)
        if self.description not in (None, new):
            raise CheckFailed(self.CHANGED)
        self.description = new

    @abstractmethod
    def _take(self, message: Message, description: Described) -> Reported | None:
        """Return what a message reports, if anything; `ProtocolError` if it cannot be."""


class SensorBoard(Generic[Described, Reported]):
    """The open line of a board, and the decoder of what comes over it.

    Parameters
    ----------
    line : SerialLine
        The open serial line.
    where : str
        Its name, for messages.
    stream : SensorStream
    """

    def __init__(
        self, line: SerialLine, where: str, stream: SensorStream[Described, Reported]
    ) -> None:
        self._host = Host()
        self._line = line
        self._where = where
        self._stream = stream
        self._early: list[Reported] = []

    @property
    def description(self) -> Described:
        """The board's description, after `wait` has returned."""
        assert self._stream.description is not None, "it was waited for"
        return self._stream.description

    def wait(self) -> None:
        """Read until the board's description is complete.

        Raises
        ------
        CheckFailed
            If there is none within 15 s, or the board does not find its sensor.
        """
        deadline = Deadline(self._host, _DESCRIPTION_S)
        while self._stream.description is None:
            if deadline.left_s < 0:
                raise CheckFailed(self._stream.SILENT.format(self._where))
            self._early += self._stream.feed(self._line.read(_READ_S))
        if not self.description.found:
            name = self.description.sensors[0]
            raise CheckFailed(
                f"the board does not find its {name}; check its wires: SDA at A4, SCL at A5, VCC, "
                f"GND; an emulated board needs --sensor {name}=FILE"
            )

    def receive(self, wait_s: float) -> Iterator[Reported]:
        """Yield what the board reports within some time, first what came with its description."""
        early, self._early = self._early, []
        yield from early
        yield from self._stream.each(self._line.read(0.0 if early else wait_s))
