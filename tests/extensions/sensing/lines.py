"""What boards that sense send, and a line on which it comes in a time of its own."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from protonn_edge.device.protocol import Message, decode_frame, encode_message
from protonn_edge.extensions.sensing.sensor_board import (
    LiveDescription,
    LoggerDescription,
    NameMessage,
    SamplesMessage,
    WindowAnswer,
)

CLOCK = 16_000_000
BYTES_OF_HASH = bytes(range(8))


def sent(*messages: Message, number: int = 0) -> bytes:
    """Return the frames of messages."""
    return b"".join(encode_message(message, number) for message in messages)


def logger(
    period: int = 160_000,
    clock: int = CLOCK,
    sensor: int = 3,
    channels: int = 6,
    pins: bytes = bytes(6),
) -> bytes:
    """Return the description of a logger."""
    return sent(LoggerDescription(1, sensor, channels, 1, period, clock, pins))


def samples(first: int, count: int = 5) -> bytes:
    """Return samples of six channels."""
    return sent(SamplesMessage(first, 0, bytes(12 * count)))


def live(
    following: int = 0,
    *,
    version: int = 3,
    found: int = 1,
    triggered: int = 0,
    period: int = 160_000,
    clock: int = CLOCK,
    window: int = 100,
    hop: int = 25,
    classes: int = 2,
) -> bytes:
    """Return the description of a board that classifies two channels of an MPU-6050."""
    about = (version, 3, found, triggered, period, clock, window, hop)
    rest = (1, classes, 0, following, 2, bytes([0, 5]) + BYTES_OF_HASH)
    return sent(LiveDescription(*about, *rest))


def named(*names: str) -> bytes:
    """Return the names of the first classes."""
    return sent(*(NameMessage(label, name.encode()) for label, name in enumerate(names)))


def window(
    first: int,
    number: int | None = None,
    label: int = 1,
    reported: int = 1,
    lost: int = 0,
    scores: tuple[int, ...] = (-5, 70_000),
    shares: tuple[int, ...] = (2, 97),
) -> bytes:
    """Return the answer for a window of two classes; by default, one begins every 25 samples."""
    number = first // 25 % 65_536 if number is None else number % 65_536
    return sent(WindowAnswer.of((number, first, lost, label, reported), shares, scores))


class Line:
    """A line with a piece every so many seconds, and then none; requests are noted, if allowed."""

    def __init__(
        self, *pieces: bytes, then: Iterable[bytes] = (), every_s: float = 0.0, asked: bool = False
    ) -> None:
        self.pieces, self.every_s, self.now = chain(pieces, then), every_s, 0.0
        self.asked, self.requests = asked, list[bytes]()

    def read(self, wait_s: float) -> bytes:
        piece = next(self.pieces, None)
        self.now += wait_s if piece is None else self.every_s
        assert self.now < 300, "it does not end"
        return piece or b""

    def write(self, data: bytes) -> None:
        if data == b"\0":  # nothing, except to a sketch
            return
        assert self.asked, f"a board is only listened to, and is sent {data!r}"
        self.requests.append(decode_frame(data[:-1]))

    def close(self) -> None:
        pass
