"""Frames of the wire protocol: COBS, a CRC and a delimiter; see ``firmware/PROTOCOL.md``."""

from __future__ import annotations

import binascii

from cobs import cobs

from protonn_edge.errors import CheckFailed, InputError

DELIMITER = b"\x00"

BITS_PER_BYTE = 10
"""On the line, with start and stop bit."""

_CRC_BYTES = 2
_MIN_BODY_BYTES = 4  # type, sequence number, CRC
_MAX_BODY_BYTES = 0xFFFF


class ProtocolError(CheckFailed):
    """Bytes that violate protocol v2."""


def encode_frame(body: bytes) -> bytes:
    """Return COBS(body, CRC-16/XMODEM of the body, big endian) and a 0x00.

    Raises `InputError` if the body has fewer than 2 or, with its CRC, more than 65,535 bytes.
    """
    whole = body + crc16(body).to_bytes(_CRC_BYTES, "big")
    if not _MIN_BODY_BYTES <= len(whole) <= _MAX_BODY_BYTES:
        raise InputError(
            f"a frame's body has {len(body)} bytes, must have {_MIN_BODY_BYTES - _CRC_BYTES} to "
            f"{_MAX_BODY_BYTES - _CRC_BYTES}; use fewer features"
        )
    return bytes(cobs.encode(whole)) + DELIMITER


def decode_frame(frame: bytes) -> bytes:
    """Return the body (type, sequence number, payload) of a frame given without its delimiter.

    Raises `ProtocolError` if the COBS encoding is broken, the body too short or the CRC wrong.
    """
    try:
        whole = bytes(cobs.decode(frame))
    except cobs.DecodeError as error:
        raise ProtocolError(f"a frame of {len(frame)} bytes is not COBS: {error}") from error
    if len(whole) < _MIN_BODY_BYTES:
        raise ProtocolError(
            f"a frame's body has {len(whole)} bytes, must have at least {_MIN_BODY_BYTES}"
        )
    if crc16(whole) != 0:  # of a body followed by its own CRC
        raise ProtocolError(f"the CRC of a frame of {len(frame)} bytes is wrong")
    return whole[:-_CRC_BYTES]


def crc16(data: bytes) -> int:
    """Return CRC-16/XMODEM of `data`: polynomial 0x1021, start 0, nothing reflected."""
    return binascii.crc_hqx(data, 0)


class FrameSplitter:
    """Split a stream of bytes into frames, in bounded memory for any input.

    Frames of more than `max_bytes` are dropped up to their delimiter.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._frame = bytearray()
        self._too_long = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the frames that `data` completes, without delimiters; empty ones are omitted."""
        frames = []
        *ended, rest = data.split(DELIMITER)
        for part in ended:
            self._append(part)
            if self._frame:
                frames.append(bytes(self._frame))
            self._frame.clear()
            self._too_long = False
        self._append(rest)
        return frames

    def _append(self, part: bytes) -> None:
        if self._too_long or len(self._frame) + len(part) > self._max_bytes:
            self._too_long = True
            self._frame.clear()
        else:
            self._frame += part


def frame_bytes(body_bytes: int) -> int:
    """Return the maximum size of a frame on the wire, including the delimiter."""
    whole = body_bytes + _CRC_BYTES
    return whole + whole // 254 + 2
