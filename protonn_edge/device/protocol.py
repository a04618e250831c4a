"""Messages and frames of wire protocol v2, and back. ``firmware/PROTOCOL.md`` is the specification.

Both directions of every message are here, since a test plays the device with the same code.
Everything that arrives is hostile until its CRC, its type and its length have been checked.
"""

from __future__ import annotations

import binascii
import re
import struct
from collections.abc import Iterable
from dataclasses import Field, dataclass, field, fields
from typing import Annotated, Any, ClassVar, Self, cast, dataclass_transform, get_type_hints

from cobs import cobs

from protonn_edge.system.checks import check_range
from protonn_edge.system.errors import DeviceError
from protonn_edge.system.extensions import extensions

DELIMITER = b"\x00"

BITS_PER_BYTE = 10  # on the line, with start and stop bit
_CRC_BYTES = 2
_MIN_BODY_BYTES = 4  # type, sequence number, CRC
_MAX_BODY_BYTES = 0xFFFF

PROTOCOL_VERSION = 2
FEATURE_TYPE_UINT8 = 0
MOST_REPETITIONS = 1 << 16
MOST_WINDOW_BYTES = 63  # the ring buffer of a device with a USART

REPLY = 0x80
HELLO, PREDICT, SCORES, STATS, REPEAT = range(1, 6)
ERROR_REPLY = 0xFF

_ERROR_NAMES = {
    1: "unknown type of request",
    2: "wrong length of payload",
    3: "a feature is out of range",
    4: "the model does not store features, so it cannot repeat a prediction",
}


class ProtocolError(DeviceError):
    """Bytes that violate protocol v2."""


class VersionError(ProtocolError):
    """The device speaks another version of the protocol."""


U8 = Annotated[int, "B"]  # with codes of `struct`
U16 = Annotated[int, "H"]
U32 = Annotated[int, "I"]
Bytes6 = Annotated[bytes, "6s"]
Bytes8 = Annotated[bytes, "8s"]
U8s = Annotated[tuple[int, ...], "*B"]  # any number, as the last field of a message
I16s = Annotated[tuple[int, ...], "*h"]
I32s = Annotated[tuple[int, ...], "*i"]
Bytes = Annotated[bytes, "*s"]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Message:
    """A message; its payload consists of the values of its fields.

    A subclass with a `number`, its `TYPE` on the wire, becomes a frozen dataclass. `NAME` is its
    name in errors, and `LAYOUT` the layout of its fields, without `REST`: the name and code of a
    last field of variable length. If there is a `VERSION`, it is the first field, and
    `OTHER_VERSION` is a sentence about other versions.
    """

    TYPE: ClassVar[int]
    NAME: ClassVar[str]
    LAYOUT: ClassVar[struct.Struct]
    REST: ClassVar[tuple[str, str] | None]
    VERSION: ClassVar[int | None] = None
    OTHER_VERSION: ClassVar[str]
    declared: ClassVar[list[type[Message]]] = []

    def __init_subclass__(cls, number: int | None = None) -> None:
        if number is None:
            return
        dataclass(frozen=True)(cls)
        first, *others = re.findall("[A-Z][a-z]+", cls.__name__)
        cls.TYPE, cls.NAME = number, " ".join([first.upper(), *map(str.lower, others)])
        hints = get_type_hints(cls, include_extras=True)
        codes = [(each.name, hints[each.name].__metadata__[0]) for each in _fields(cls)]
        cls.REST = codes.pop() if codes and codes[-1][1][0] == "*" else None
        cls.LAYOUT = struct.Struct("".join(["<", *(code for _, code in codes)]))
        cls.declared.append(cls)

    def payload(self) -> bytes:
        """Return the payload's bytes."""
        values = [getattr(self, each.name) for each in _fields(self)]
        if self.REST is None:
            return self.LAYOUT.pack(*values)
        rest = values.pop()
        values += [rest] if isinstance(rest, bytes) else rest
        return struct.pack(self._format(len(rest)), *values)

    @classmethod
    def from_payload(cls, payload: bytes) -> Self:
        """Return the message of a payload; `VersionError`, or `ProtocolError` of another length."""
        if cls.VERSION is not None and payload and payload[0] != cls.VERSION:
            raise VersionError(cls.OTHER_VERSION.format(payload[0], cls.VERSION))
        size, n = cls.LAYOUT.size, len(_fields(cls))
        allowed, count, beyond = str(size), 0, len(payload) - size
        if cls.REST is not None:
            each = struct.calcsize(cls.REST[1][1:])
            allowed += f" plus a multiple of {each} for its {cls.REST[0]}"
            count, beyond = divmod(beyond, each)
        if count < 0 or beyond:
            raise ProtocolError(
                f"{cls.NAME}: the payload has {len(payload)} bytes, but must have {allowed}"
            )
        values = struct.unpack(cls._format(count), payload)
        if cls.REST is not None and cls.REST[1] != "*s":
            values = *values[: n - 1], values[n - 1 :]
        return cls(*values)

    @classmethod
    def _format(cls, count: int) -> str:
        """Return the layout of all fields, the last with a number of elements."""
        rest = "" if cls.REST is None else cls.REST[1].replace("*", str(count))
        return cls.LAYOUT.format + rest


def _fields(message: Message | type[Message]) -> tuple[Field[Any], ...]:
    return fields(cast("Any", message))


# --- requests ------------------------------------------------------------------------------------


class HelloRequest(Message, number=HELLO):
    """Ask which protocol and which model the device has."""


class PredictRequest(Message, number=PREDICT):
    """Ask for the class of one input."""

    features: Bytes  # quantized, one byte each; how many are right, only the model knows


class ScoresRequest(PredictRequest, number=SCORES):
    """Ask for the class and all scores of one input."""


class StatsRequest(Message, number=STATS):
    """Request the device's counters since its reset."""


class RepeatRequest(Message, number=REPEAT):
    """Request the class of one input, computed many times while the busy pin is high."""

    repetitions: U16  # how often; 0 for 65,536
    features: Bytes  # as in `PredictRequest`


# --- replies -------------------------------------------------------------------------------------


class HelloReply(Message, number=REPLY | HELLO):
    """The device's description of itself."""

    VERSION = PROTOCOL_VERSION
    OTHER_VERSION = (
        "the device speaks protocol v{}, but this program speaks v{}; remove the folder 'firmware',"
        " build the firmware with `protonn-edge build`, then run `protonn-edge upload`"
    )
    protocol_version: U8  # 2; a device of another one is refused before anything else is read
    feature_type: U8  # 0 for uint8 features
    features: U16  # inputs of one prediction
    classes: U16
    model_hash: Bytes8  # the first 8 bytes of the integer model's SHA-256
    # CPU clock in hertz: cycles divided by it are seconds; 0 if instructions are counted instead
    clock_hz: U32
    window: U8  # the bytes that may follow a request without a reply

    @property
    def counts(self) -> str:
        """What the device counts: ``"cycles"``, or ``"instructions"``, which take no time."""
        return "cycles" if self.clock_hz else "instructions"


class PredictReply(Message, number=REPLY | PREDICT):
    """The answer to PREDICT."""

    label: U8  # index of the class, or 255 for "unknown"
    cycles: U32  # CPU cycles that the prediction took


class RepeatReply(Message, number=REPLY | REPEAT):
    """The answer to REPEAT."""

    label: U8  # as in `PredictReply`
    cycles: U32  # of all repetitions, modulo 2**32


class ScoresReply(Message, number=REPLY | SCORES):
    """The answer to SCORES."""

    label: U8  # as in `PredictReply`
    cycles: U32
    scores: I32s  # one score per class, each in the range of an int32


class StatsReply(Message, number=REPLY | STATS):
    """The device's counters since its reset; a full counter stays at 65,535."""

    stack_bytes: U16  # the most bytes that the stack has held
    frames_dropped: U16  # frames with a wrong CRC or broken framing
    overruns: U16  # received bytes that were lost because they were not read in time
    saturations: U32  # features that arrived at the upper end of their range, modulo 2**32
    resets: U16  # resets since power-on
    reset_cause: U8  # of the last start: 1 power-on, 2 external, 4 brown-out, 8 watchdog


class ErrorReply(Message, number=ERROR_REPLY):
    """The device understood a request but could not execute it."""

    code: U8  # 1 unknown type, 2 wrong length, 3 feature out of range, 4 nothing to repeat with

    def __str__(self) -> str:
        return f"error {self.code} ({_ERROR_NAMES.get(self.code, 'unknown')})"


_OWN = tuple(Message.declared)


def messages() -> tuple[type[Message], ...]:
    """Return every request and reply, and those of extensions.

    What boards send that only send is in `sensor_board`.
    """
    return (*_OWN, *(each for added in extensions() for each in added.messages()))


# --- frames: COBS, a CRC and a delimiter ---------------------------------------------------------


def encode_frame(body: bytes) -> bytes:
    """Return COBS(body, CRC-16/XMODEM of the body, big endian) and a 0x00.

    Raises `InputError` if the body has fewer than 2 or, with its CRC, more than 65,535 bytes.
    """
    whole = body + crc16(body).to_bytes(_CRC_BYTES, "big")
    check_range(
        "bytes in a frame's body",
        len(body),
        _MIN_BODY_BYTES - _CRC_BYTES,
        _MAX_BODY_BYTES - _CRC_BYTES,
        "use fewer features",
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
    check_range("sequence number", sequence, 0, 0xFF)
    return encode_frame(bytes([message.TYPE, sequence]) + message.payload())


def decode_message(body: bytes, kinds: Iterable[type[Message]] | None = None) -> Message:
    """Return the message in such a body; `ProtocolError` if it is none of the `kinds`, or unfit."""
    for kind in messages() if kinds is None else kinds:
        if body[0] == kind.TYPE:
            return kind.from_payload(body[2:])
    raise ProtocolError(f"a message has type 0x{body[0]:02x}, which protocol v2 does not define")
