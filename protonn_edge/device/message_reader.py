"""Decode the bytes that arrive on a line into messages of protocol v2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from protonn_edge.device.protocol import (
    FrameSplitter,
    Message,
    ProtocolError,
    VersionError,
    decode_frame,
    decode_message,
)
from protonn_edge.system.errors import DeviceError

_TEXT = bytes([*b"\t\r\n", *range(0x20, 0x7F)])


class MessageReader:
    """Decodes the bytes that arrive on a line into messages of some kinds.

    Other frames, frames of more than `max_bytes`, noise, and text that a sketch prints are skipped.
    `refused` is a message type of other firmware, with a sentence for the error.
    """

    def __init__(
        self, kinds: Iterable[type[Message]], max_bytes: int, refused: tuple[int, str] | None = None
    ) -> None:
        self.torn = 0  # frames that are damaged or invalid, but no text, since the first whole one
        self._kinds = tuple(kinds)
        self._refused = refused
        self._max_bytes = max_bytes
        self._splitter = FrameSplitter(max_bytes)
        self._in_step = False  # the start of a frame was seen

    def restart(self) -> None:
        """Forget the beginning of a frame: its end was lost with the line."""
        self._splitter = FrameSplitter(self._max_bytes)

    def messages(self, data: bytes) -> Iterator[tuple[int, Message]]:
        """Yield the messages that `data` completes, each before the next is decoded, with numbers.

        Raises `DeviceError` for a message of another version, or of other firmware.
        """
        for frame in self._splitter.feed(data):
            try:
                body = decode_frame(frame)
            except ProtocolError:
                self.torn += self._in_step and bool(frame.translate(None, _TEXT))
                continue
            self._in_step = True
            if self._refused is not None and body[0] == self._refused[0]:
                raise DeviceError(self._refused[1])
            try:
                message = decode_message(body, self._kinds)
            except VersionError:
                raise
            except ProtocolError:
                self.torn += 1
                continue
            yield body[1], message
