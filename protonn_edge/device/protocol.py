"""Messages and frames of wire protocol v2, and back. ``firmware/PROTOCOL.md`` is the specification.

Both directions of every message are here, since a test plays the device with the same code.
Everything that arrives is hostile until its CRC, its type and its length have been checked.
"""

from __future__ import annotations

import binascii
import struct
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, Self, cast

from cobs import cobs

from protonn_edge.errors import DeviceError, InputError
from protonn_edge.quantization import MODEL_HASH_BYTES

DELIMITER = b"\x00"

BITS_PER_BYTE = 10  # on the line, with start and stop bit
_CRC_BYTES = 2
_MIN_BODY_BYTES = 4  # type, sequence number, CRC
_MAX_BODY_BYTES = 0xFFFF

PROTOCOL_VERSION = 2
FEATURE_TYPE_UINT8 = 0
MOST_REPETITIONS = 1 << 16
MOST_STORED_BYTES = 16  # that a STORE writes
MOST_WINDOW_BYTES = 63  # the ring buffer of a device with a USART

REPLY = 0x80
HELLO, PREDICT, SCORES, STATS, REPEAT, LEARN, FORGET, STORE, HEALTH = range(1, 10)
ERROR_REPLY = 0xFF

_ERROR_NAMES = {
    1: "unknown type of request",
    2: "wrong length of payload",
    3: "a feature is out of range",
    4: "the model keeps no features to repeat with",
}


class ProtocolError(DeviceError):
    """Bytes that violate protocol v2."""


class VersionError(ProtocolError):
    """The device speaks another version of the protocol."""


class Rest(NamedTuple):
    """The rest of a payload, of any length: the last field of a message.

    `code` is the `struct` code of each number in it, or "s" for bytes; `words` its name in errors.
    """

    code: str
    words: str


class Message:
    """A message; its payload holds the values of its fields, one after the other.

    `TYPE` is its type on the wire, `NAME` its name in errors, `LAYOUT` the layout of its fields,
    without the last one if that is the `REST`. If it has a `VERSION`, that is its first field, and
    `OTHER_VERSION` a sentence about others.
    """

    TYPE: ClassVar[int]
    NAME: ClassVar[str]
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<")
    REST: ClassVar[Rest | None] = None
    VERSION: ClassVar[int | None] = None
    OTHER_VERSION: ClassVar[str]

    def payload(self) -> bytes:
        """Return the payload's bytes."""
        values = [getattr(self, field.name) for field in fields(cast("Any", self))]
        if self.REST is None:
            return self.LAYOUT.pack(*values)
        rest = values.pop()
        code = f"<{len(rest)}{self.REST.code}"
        return self.LAYOUT.pack(*values) + struct.pack(code, *([rest] if code[-1] == "s" else rest))

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the message of a payload; `VersionError`, or `ProtocolError` of another length."""
        if cls.VERSION is not None and payload and payload[0] != cls.VERSION:
            raise VersionError(cls.OTHER_VERSION.format(payload[0], cls.VERSION))
        size = cls.LAYOUT.size
        allowed, count, beyond = str(size), 0, len(payload) - size
        if cls.REST is not None:
            allowed = f"{size} and {cls.REST.words}"
            count, beyond = divmod(beyond, struct.calcsize(f"<{cls.REST.code}"))
        if count < 0 or beyond:
            raise ProtocolError(
                f"a {cls.NAME} has a payload of {len(payload)} bytes, but must have {allowed}"
            )
        values = [*cls.LAYOUT.unpack_from(payload)]
        if cls.REST is not None:
            rest = struct.unpack_from(f"<{count}{cls.REST.code}", payload, size)
            values.append(rest[0] if cls.REST.code == "s" else rest)
        return cls(*values)


_FEATURES = Rest("s", "the features")


# --- requests ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HelloRequest(Message):
    """Ask which protocol and which model the device has."""

    TYPE, NAME = HELLO, "HELLO request"


@dataclass(frozen=True)
class PredictRequest(Message):
    """Ask for the class of one input."""

    TYPE, NAME, REST = PREDICT, "PREDICT request", _FEATURES
    features: bytes  # quantized, one byte each; how many are right, only the model knows


@dataclass(frozen=True)
class ScoresRequest(PredictRequest):
    """Ask for the class and all scores of one input."""

    TYPE, NAME = SCORES, "SCORES request"


@dataclass(frozen=True)
class StatsRequest(Message):
    """Request the device's counters since its reset."""

    TYPE, NAME = STATS, "STATS request"


@dataclass(frozen=True)
class RepeatRequest(Message):
    """Request the class of one input, computed many times while the meter's pin is high."""

    TYPE, NAME, REST = REPEAT, "REPEAT request", _FEATURES
    LAYOUT = struct.Struct("<H")
    repetitions: int  # how often, 1 to 65,536
    features: bytes  # as in `PredictRequest`

    def payload(self) -> bytes:
        """Return the number of repetitions, 65,536 written as 0, and the features."""
        return self.LAYOUT.pack(self.repetitions & 0xFFFF) + self.features

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the request; `ProtocolError` without a number of repetitions."""
        request = super().from_payload(payload)
        return replace(request, repetitions=request.repetitions or MOST_REPETITIONS)


@dataclass(frozen=True)
class LearnRequest(Message):
    """Teach the last prediction's point, at most once for each prediction."""

    TYPE, NAME = LEARN, "LEARN request"
    LAYOUT = struct.Struct("<B")
    label: int  # the class of the example


@dataclass(frozen=True)
class ForgetRequest(LearnRequest):
    """Forget the examples of a class, or of all with 255."""

    TYPE, NAME = FORGET, "FORGET request"


@dataclass(frozen=True)
class StoreRequest(Message):
    """Request the device's store of examples; first write a part of it, or nothing."""

    TYPE, NAME, REST = STORE, "STORE request", Rest("s", "the bytes to write")
    LAYOUT = struct.Struct("<H")
    place: int = 0  # of the first byte in the store
    content: bytes = b""  # at most `MOST_STORED_BYTES`


@dataclass(frozen=True)
class HealthRequest(Message):
    """Request the counters of the answers."""

    TYPE, NAME = HEALTH, "HEALTH request"


# --- replies -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HelloReply(Message):
    """The device's description of itself."""

    TYPE, NAME = REPLY | HELLO, "HELLO reply"
    LAYOUT = struct.Struct(f"<BBHH{MODEL_HASH_BYTES}sIB")
    VERSION = PROTOCOL_VERSION
    OTHER_VERSION = (
        "the device speaks protocol {}, this program speaks {}; remove the folder firmware, run "
        "`protonn-edge build --board uno model.npz`, then `protonn-edge upload`"
    )
    protocol_version: int  # 2; a device of another one is refused before anything else is read
    feature_type: int  # 0 for uint8 features
    features: int  # inputs of one prediction
    classes: int
    model_hash: bytes  # the first 8 bytes of the integer model's SHA-256
    clock_hz: int  # CPU clock in hertz: cycles divided by it are seconds
    window: int  # the bytes that may follow a request without a reply


@dataclass(frozen=True)
class PredictReply(Message):
    """The answer to PREDICT."""

    TYPE, NAME = REPLY | PREDICT, "PREDICT reply"
    LAYOUT = struct.Struct("<BI")
    label: int  # index of the class, or 255 for "unknown"
    cycles: int  # CPU cycles that the prediction took


@dataclass(frozen=True)
class RepeatReply(PredictReply):
    """The answer to REPEAT: the `cycles` of all repetitions, modulo 2**32."""

    TYPE, NAME = REPLY | REPEAT, "REPEAT reply"


@dataclass(frozen=True)
class ScoresReply(Message):
    """The answer to SCORES."""

    TYPE, NAME, REST = REPLY | SCORES, "SCORES reply", Rest("i", "4 for each class")
    LAYOUT = PredictReply.LAYOUT
    label: int  # as in `PredictReply`
    cycles: int
    scores: tuple[int, ...]  # one score per class, each in the range of an int32


@dataclass(frozen=True)
class StatsReply(Message):
    """The device's counters since its reset; a full counter stays at 65,535."""

    TYPE, NAME = REPLY | STATS, "STATS reply"
    LAYOUT = struct.Struct("<HHHIHB")
    stack_bytes: int  # the most bytes that the stack has held
    frames_dropped: int  # frames with a wrong CRC or broken framing
    overruns: int  # received bytes that were lost because they were not read in time
    saturations: int  # features that arrived at the upper end of their range, modulo 2**32
    resets: int  # resets since power-on
    reset_cause: int  # of the last start: 1 power-on, 2 external, 4 brown-out, 8 watchdog


@dataclass(frozen=True)
class LearnReply(Message):
    """The answer to LEARN."""

    TYPE, NAME = REPLY | LEARN, "LEARN reply"
    LAYOUT = struct.Struct("<BB")
    learned: int  # 1 if the last prediction's point has been learned, 0 if there was none
    examples: int  # how many there are now


@dataclass(frozen=True)
class ForgetReply(LearnReply):
    """The answer to FORGET."""

    TYPE, NAME = REPLY | FORGET, "FORGET reply"


@dataclass(frozen=True)
class StoreReply(Message):
    """The answer to STORE, which `kinds.protonn.teaching.recalled` reads."""

    TYPE, NAME, REST = REPLY | STORE, "STORE reply", Rest("s", "the store")
    content: bytes


@dataclass(frozen=True)
class HealthReply(Message):
    """The answer to HEALTH, which `Health.of_bytes` reads; boards with a sensor send it unasked."""

    TYPE, NAME, REST = REPLY | HEALTH, "HEALTH reply", Rest("s", "the counters")
    content: bytes


@dataclass(frozen=True)
class ErrorReply(Message):
    """The device understood a request but could not execute it."""

    TYPE, NAME = ERROR_REPLY, "ERROR reply"
    LAYOUT = struct.Struct("<B")
    code: int  # 1 unknown type, 2 wrong length, 3 feature out of range, 4 nothing to repeat with

    def __str__(self) -> str:
        return f"error {self.code}, {_ERROR_NAMES.get(self.code, 'not known to this program')}"


MESSAGES: tuple[type[Message], ...] = (
    HelloRequest,
    PredictRequest,
    ScoresRequest,
    StatsRequest,
    RepeatRequest,
    LearnRequest,
    ForgetRequest,
    StoreRequest,
    HealthRequest,
    HelloReply,
    PredictReply,
    ScoresReply,
    StatsReply,
    RepeatReply,
    LearnReply,
    ForgetReply,
    StoreReply,
    HealthReply,
    ErrorReply,
)
"""Every request and reply. What boards send that only send is in `sensor_board`."""


# --- frames: COBS, a CRC and a delimiter ---------------------------------------------------------


def encode_frame(body: bytes) -> bytes:
    """Return COBS(body, CRC-16/XMODEM of the body, big endian) and a 0x00.

    Raises `InputError` if the body has fewer than 2 or, with its CRC, more than 65,535 bytes.
    """
    whole = body + crc16(body).to_bytes(_CRC_BYTES, "big")
    if not _MIN_BODY_BYTES <= len(whole) <= _MAX_BODY_BYTES:
        raise InputError(
            f"a frame's body has {len(body)} bytes, but must have {_MIN_BODY_BYTES - _CRC_BYTES} "
            f"to {_MAX_BODY_BYTES - _CRC_BYTES}; use fewer features"
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
            f"a frame's body has {len(whole)} bytes, but must have at least {_MIN_BODY_BYTES}"
        )
    if crc16(whole) != 0:  # of a body followed by its own CRC
        raise ProtocolError(f"the CRC of a frame of {len(frame)} bytes is wrong")
    return whole[:-_CRC_BYTES]


def crc16(data: bytes) -> int:
    """Return CRC-16/XMODEM of `data`: polynomial 0x1021, start 0, nothing reflected."""
    return binascii.crc_hqx(data, 0)


class FrameSplitter:
    """Split bytes into frames, in bounded memory: frames of over `max_bytes` are dropped."""

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


def name_of(kind: type[Message]) -> str:
    """Return the name of a request, or of the request that a reply answers; errors have none."""
    return kind.NAME.split()[0]


def encode_message(message: Message, sequence: int) -> bytes:
    """Return the frame of a message; `InputError` unless its number, 0 to 255, and length fit."""
    if not 0 <= sequence <= 0xFF:
        raise InputError(f"the sequence number is {sequence}; it must be 0 to 255")
    return encode_frame(bytes([message.TYPE, sequence]) + message.payload())


def decode_message(body: bytes, kinds: Iterable[type[Message]] = MESSAGES) -> Message:
    """Return the message in such a body; `ProtocolError` if it is none of the `kinds`, or unfit."""
    for kind in kinds:
        if body[0] == kind.TYPE:
            return kind.from_payload(body[2:])
    raise ProtocolError(f"a message has type 0x{body[0]:02x}, which protocol v2 does not define")
