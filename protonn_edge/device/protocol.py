"""Wire protocol v2: messages to bytes and back. ``firmware/PROTOCOL.md`` is the specification.

Both directions of every message are here, since a test plays the device with the same code. All
that arrives is hostile until its CRC, its type and its length have been checked.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

from protonn_edge.device.framing import ProtocolError, encode_frame
from protonn_edge.errors import InputError
from protonn_edge.quantization import MODEL_HASH_BYTES

PROTOCOL_VERSION = 2
FEATURE_TYPE_UINT8 = 0
MOST_REPETITIONS = 1 << 16
MOST_WINDOW_BYTES = 63  # what the ring buffer of a device with a USART holds

REPLY = 0x80
HELLO, PREDICT, SCORES, STATS, REPEAT = 0x01, 0x02, 0x03, 0x04, 0x05
ERROR_REPLY = 0xFF

_ERROR_NAMES = {
    1: "unknown type of request",
    2: "wrong length of payload",
    3: "a feature is out of range",
    4: "the model keeps no features to repeat with",
}


class VersionError(ProtocolError):
    """The device speaks another version of the protocol."""


class Content(Protocol):
    """What every kind of message offers: its type on the wire and its payload both ways."""

    TYPE: ClassVar[int]

    def payload(self) -> bytes:
        """Return the payload's bytes."""
        ...

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the message that has this payload, or raise `ProtocolError`."""
        ...


# --- requests ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HelloRequest:
    """Ask which protocol and which model the device has."""

    TYPE: ClassVar[int] = HELLO

    def payload(self) -> bytes:
        """Return the payload, which is empty."""
        return b""

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the request; `ProtocolError` unless `payload` is empty."""
        _expect_length("HELLO request", payload, 0)
        return cls()


@dataclass(frozen=True)
class PredictRequest:
    """Ask for the class of one input.

    Attributes
    ----------
    features : bytes
        The quantized features, one byte each.
    """

    TYPE: ClassVar[int] = PREDICT
    features: bytes

    def payload(self) -> bytes:
        """Return the features."""
        return self.features

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the request; how many features are right, only the model knows."""
        return cls(payload)


@dataclass(frozen=True)
class ScoresRequest(PredictRequest):
    """Ask for the class and all scores of one input."""

    TYPE: ClassVar[int] = SCORES


@dataclass(frozen=True)
class StatsRequest:
    """Ask for what the device counted since its reset."""

    TYPE: ClassVar[int] = STATS

    def payload(self) -> bytes:
        """Return the payload, which is empty."""
        return b""

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the request; `ProtocolError` unless `payload` is empty."""
        _expect_length("STATS request", payload, 0)
        return cls()


@dataclass(frozen=True)
class RepeatRequest:
    """Ask for the class of one input, computed many times, with the meter's pin high meanwhile.

    Attributes
    ----------
    repetitions : int
        How often, 1 to 65,536.
    features : bytes
        As in `PredictRequest`.
    """

    TYPE: ClassVar[int] = REPEAT
    repetitions: int
    features: bytes

    def payload(self) -> bytes:
        """Return the number of repetitions, of which 65,536 are written as 0, and the features."""
        return struct.pack("<H", self.repetitions & 0xFFFF) + self.features

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the request; `ProtocolError` without a number of repetitions."""
        if len(payload) < 2:
            raise ProtocolError(
                f"a REPEAT request has a payload of {len(payload)} bytes, must have 2 and the "
                "features"
            )
        return cls(int.from_bytes(payload[:2], "little") or MOST_REPETITIONS, payload[2:])


# --- replies -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HelloReply:
    """What the device is.

    Attributes
    ----------
    protocol_version : int
        2; a device that says something else is refused before anything else is read.
    feature_type : int
        0 for uint8 features.
    features, classes : int
        Inputs of one prediction; classes of the model.
    model_hash : bytes
        The first 8 bytes of the integer model's SHA-256.
    clock_hz : int
        CPU clock in hertz: what cycles are divided by.
    window : int
        How many bytes may follow a request that has no reply yet.
    """

    TYPE: ClassVar[int] = REPLY | HELLO
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct(f"<BBHH{MODEL_HASH_BYTES}sIB")
    protocol_version: int
    feature_type: int
    features: int
    classes: int
    model_hash: bytes
    clock_hz: int
    window: int

    def payload(self) -> bytes:
        """Return the 19 bytes of the payload."""
        return self._LAYOUT.pack(
            self.protocol_version,
            self.feature_type,
            self.features,
            self.classes,
            self.model_hash,
            self.clock_hz,
            self.window,
        )

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the reply; `ProtocolError` for another protocol or another length."""
        if payload and payload[0] != PROTOCOL_VERSION:
            raise VersionError(
                f"the device speaks protocol {payload[0]}, this program speaks {PROTOCOL_VERSION}; "
                "remove the folder firmware, run `protonn-edge build --board uno model.npz`, then "
                "`protonn-edge upload`"
            )
        _expect_length("HELLO reply", payload, cls._LAYOUT.size)
        return cls(*cls._LAYOUT.unpack(payload))


@dataclass(frozen=True)
class PredictReply:
    """The answer to PREDICT.

    Attributes
    ----------
    label : int
        Index of the class, 0 to 254.
    cycles : int
        CPU cycles that the prediction took.
    """

    TYPE: ClassVar[int] = REPLY | PREDICT
    _NAME: ClassVar[str] = "PREDICT reply"
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BI")
    label: int
    cycles: int

    def payload(self) -> bytes:
        """Return the 5 bytes of the payload."""
        return self._LAYOUT.pack(self.label, self.cycles)

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the reply; `ProtocolError` for another length."""
        _expect_length(cls._NAME, payload, cls._LAYOUT.size)
        return cls(*cls._LAYOUT.unpack(payload))


@dataclass(frozen=True)
class RepeatReply(PredictReply):
    """The answer to REPEAT: `cycles` are those of all repetitions, modulo 2**32."""

    TYPE: ClassVar[int] = REPLY | REPEAT
    _NAME: ClassVar[str] = "REPEAT reply"


@dataclass(frozen=True)
class ScoresReply:
    """The answer to SCORES.

    Attributes
    ----------
    label, cycles : int
        As in `PredictReply`.
    scores : tuple of int
        One score per class, each in the range of an int32.
    """

    TYPE: ClassVar[int] = REPLY | SCORES
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BI")
    label: int
    cycles: int
    scores: tuple[int, ...]

    def payload(self) -> bytes:
        """Return the payload: 5 bytes and 4 for each class."""
        head = self._LAYOUT.pack(self.label, self.cycles)
        return head + struct.pack(f"<{len(self.scores)}i", *self.scores)

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the reply; `ProtocolError` where the length cannot be that of whole scores."""
        size = cls._LAYOUT.size
        if len(payload) < size or (len(payload) - size) % 4:
            raise ProtocolError(
                f"a SCORES reply has a payload of {len(payload)} bytes, must have {size} and 4 for "
                "each class"
            )
        label, cycles = cls._LAYOUT.unpack_from(payload)
        scores = struct.unpack_from(f"<{(len(payload) - size) // 4}i", payload, size)
        return cls(label, cycles, scores)


@dataclass(frozen=True)
class StatsReply:
    """What the device counted since its reset; a counter that is full stays at 65,535.

    Attributes
    ----------
    stack_bytes : int
        The most bytes that the stack has held.
    frames_dropped : int
        Frames with a wrong CRC or broken framing.
    overruns : int
        How often received bytes were lost because nobody read them in time.
    saturations : int
        Features that arrived at the upper end of their range, modulo 2**32.
    resets : int
        Resets since power-on.
    reset_cause : int
        Of the last start: 1 power-on, 2 external, 4 brown-out, 8 watchdog.
    """

    TYPE: ClassVar[int] = REPLY | STATS
    _LAYOUT: ClassVar[struct.Struct] = struct.Struct("<HHHIHB")
    stack_bytes: int
    frames_dropped: int
    overruns: int
    saturations: int
    resets: int
    reset_cause: int

    def payload(self) -> bytes:
        """Return the 13 bytes of the payload."""
        return self._LAYOUT.pack(
            self.stack_bytes,
            self.frames_dropped,
            self.overruns,
            self.saturations,
            self.resets,
            self.reset_cause,
        )

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the reply; `ProtocolError` for another length."""
        _expect_length("STATS reply", payload, cls._LAYOUT.size)
        return cls(*cls._LAYOUT.unpack(payload))


@dataclass(frozen=True)
class ErrorReply:
    """The device could read a request but not do it.

    Attributes
    ----------
    code : int
        1 unknown type, 2 wrong length, 3 feature out of range, 4 nothing to repeat with.
    """

    TYPE: ClassVar[int] = ERROR_REPLY
    code: int

    def payload(self) -> bytes:
        """Return the code as a byte."""
        return bytes([self.code])

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the reply; `ProtocolError` for another length."""
        _expect_length("ERROR reply", payload, 1)
        return cls(payload[0])

    def __str__(self) -> str:
        return f"error {self.code}, {_ERROR_NAMES.get(self.code, 'not known to this program')}"


_CONTENTS: dict[int, type[Content]] = {
    HelloRequest.TYPE: HelloRequest,
    PredictRequest.TYPE: PredictRequest,
    ScoresRequest.TYPE: ScoresRequest,
    StatsRequest.TYPE: StatsRequest,
    RepeatRequest.TYPE: RepeatRequest,
    HelloReply.TYPE: HelloReply,
    PredictReply.TYPE: PredictReply,
    ScoresReply.TYPE: ScoresReply,
    StatsReply.TYPE: StatsReply,
    RepeatReply.TYPE: RepeatReply,
    ErrorReply.TYPE: ErrorReply,
}


_REQUESTS = {HELLO: "HELLO", PREDICT: "PREDICT", SCORES: "SCORES", STATS: "STATS", REPEAT: "REPEAT"}


# --- messages ------------------------------------------------------------------------------------


def name_of(kind: type[Content]) -> str:
    """Return the name of a request, or of the one that a reply other than an error answers."""
    return _REQUESTS[kind.TYPE & ~REPLY]


def encode_message(content: Content, sequence: int) -> bytes:
    """Return the frame of a message, from its first byte to the delimiter.

    Parameters
    ----------
    content : Content
        A request or a reply.
    sequence : int
        Its sequence number, 0 to 255.

    Raises
    ------
    InputError
        If the sequence number or the length is out of range.
    """
    if not 0 <= sequence <= 0xFF:
        raise InputError(f"the sequence number is {sequence}, must be 0 to 255; count modulo 256")
    return encode_frame(bytes([content.TYPE, sequence]) + content.payload())


def decode_message(body: bytes) -> Content:
    """Return the message in a body that `decode_frame` gave.

    Raises
    ------
    ProtocolError
        If the type is unknown, or the payload does not fit it.
    """
    kind = _CONTENTS.get(body[0])
    if kind is None:
        raise ProtocolError(f"a message has type 0x{body[0]:02x}, which protocol v2 does not know")
    return kind.from_payload(body[2:])


def _expect_length(name: str, payload: bytes, length: int) -> None:
    if len(payload) != length:
        raise ProtocolError(f"a {name} has a payload of {len(payload)} bytes, must have {length}")
