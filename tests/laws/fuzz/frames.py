"""Frames: the firmware's decoder and commands on the host, under sanitizers, fed hostile bytes.

What it answers is compared with a device that is written here, in Python, from PROTOCOL.md.
"""

from __future__ import annotations

import functools
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from avr_tools import skip_without
from checkout import CHECKOUT
from cobs import cobs
from laws.fuzz.mutation import mutated_bytes, pick

from protonn_edge.device import protocol
from protonn_edge.device.protocol import (
    ErrorReply,
    HelloReply,
    PredictReply,
    ProtocolError,
    RepeatReply,
    ScoresReply,
    StatsReply,
    crc16,
)

BRIEF_CASES = 4

_FIRMWARE = CHECKOUT / "firmware"
_HERE = Path(__file__).parent
_FAKE_MODEL = CHECKOUT / "tests" / "chips" / "firmware" / "fake_model"
_CFLAGS = [
    *("-std=gnu99", "-O1", "-g", "-Wall", "-Wextra", "-Werror"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
]
_HASH = bytes.fromhex("face000102030405")
_WITHOUT_ZEROS = (255, 255, 255, 251)  # whose narrow scores have a long run without a zero
_TYPES = (0, 1, 2, 3, 4, 5, 6, 0x7F, 0x80, 0x82, 0xFF)
_FRAGMENTS = 200
_SPAN = 7  # cycles, of frames_stubs.h


@dataclass(frozen=True)
class _Device:
    """The fake model's sizes, and whether the firmware holds all features of a prediction."""

    features: int
    classes: int
    maximum: int
    held: bool
    narrow: bool = False

    @property
    def macros(self) -> dict[str, object]:
        chunk = self.features if self.held else min(32, self.features - 1)
        return {
            "FAKE_FEATURES": f"{self.features}u",
            "FAKE_CLASSES": f"{self.classes}u",
            "FAKE_INPUT_MAXIMUM": f"{self.maximum}u",
            "FAKE_SCORE_TYPE": "int16_t" if self.narrow else "int32_t",
            "FAKE_BEND": 4 if self.narrow else 200,
            "PNN_CHUNK_FEATURES": f"{chunk}u",
        }


_DEVICES = (
    _Device(4, 3, 255, held=False),
    _Device(4, 3, 15, held=True),
    _Device(4, 255, 255, held=False, narrow=True),
    _Device(300, 255, 255, held=False, narrow=True),
    _Device(60, 2, 127, held=True, narrow=True),
)


def run_case(seed: int, folder: Path) -> None:
    """Send many streams to one device; compare all that it answers."""
    skip_without("gcc")
    rng = np.random.default_rng(seed)
    device = pick(rng, _DEVICES)
    wire = b"\x00".join(_fragment(rng, device) for _ in range(_FRAGMENTS)) + b"\x00"
    done = subprocess.run(
        [_program(device)], input=wire, capture_output=True, check=False, timeout=60
    )
    words = done.stderr.decode(errors="replace").splitlines()
    assert done.returncode == 0, f"the firmware ended with {done.returncode}: {words[:2]}"
    expected = b"".join(protocol.encode_message(*reply) for reply in _replies(device, wire))
    assert done.stdout == expected, _difference(done.stdout, expected)
    _check_host(wire)


@functools.cache
def _program(device: _Device) -> Path:
    """Compile the firmware's portable part with a fake model; the process keeps it."""
    folder = Path(tempfile.mkdtemp())
    (folder / "avr").mkdir()
    (folder / "avr" / "interrupt.h").write_text("#define cli()\n#define sei()\n")
    (folder / "generated").symlink_to(_FAKE_MODEL)
    sources = [_FIRMWARE / name for name in ("requests.c", "frame.c", "prediction.c")]
    sources += [_HERE / "frames_host.c", _FAKE_MODEL / "pnn_model.c"]
    defines = [f"-D{name}={value}" for name, value in device.macros.items()]
    includes = [f"-I{folder}", f"-I{_FIRMWARE}", "-include", _HERE / "frames_stubs.h"]
    command = ["gcc", *_CFLAGS, *defines, *includes, *sources, "-o", folder / "firmware"]
    subprocess.run(command, check=True, timeout=60)
    return folder / "firmware"


# --- hostile streams ------------------------------------------------------------------------------


def _fragment(rng: np.random.Generator, device: _Device) -> bytes:
    """Return what may stand between two delimiters; it may have some of its own."""
    chance = rng.random()
    if chance < 0.1:
        return rng.bytes(int(rng.choice([1, 3, 20, 600])))
    frame = _encoded(_body(rng, device))
    if chance < 0.35:
        return mutated_bytes(rng, frame)
    if chance < 0.4:  # a delimiter that was lost
        return frame + _encoded(_body(rng, device))
    return frame


def _encoded(body: bytes) -> bytes:
    """Return a frame without its end; its body may be longer than any that may be sent."""
    return cobs.encode(body + crc16(body).to_bytes(2, "big"))


def _body(rng: np.random.Generator, device: _Device) -> bytes:
    kind = pick(rng, _TYPES) if rng.random() < 0.2 else int(rng.integers(1, 6))
    size = 0 if kind in (protocol.HELLO, protocol.STATS) else device.features
    size += 2 if kind == protocol.REPEAT else 0
    chance = rng.random()
    if chance < 0.1:
        size = max(0, size + int(rng.integers(-3, 4)))
    elif chance < 0.15:
        size = int(rng.choice([0, 1, 2, 252, 253, 254, 255, 508, 2000]))
    elif chance < 0.152:
        size = int(rng.choice([65_530, 80_000]))
    largest = device.maximum if rng.random() < 0.9 else 255
    values = rng.integers(0, largest + 1, size)
    values[rng.random(size) < rng.choice([0.0, 0.3, 1.0])] = rng.choice([0, largest])
    if size == len(_WITHOUT_ZEROS) and rng.random() < 0.1:
        values = np.array(_WITHOUT_ZEROS)
    payload = bytearray(values.astype(np.uint8).tobytes())
    if kind == protocol.REPEAT and len(payload) > 1:
        payload[:2] = pick(rng, (b"\x01\x00", b"\x00\x00", b"\x03\x00", b"\xff\x01"))
    return bytes([kind, int(rng.integers(256))]) + bytes(payload)


# --- what a device answers ------------------------------------------------------------------------


def _replies(device: _Device, wire: bytes) -> Iterator[tuple[protocol.Message, int]]:
    """Yield the replies with their sequence numbers."""
    dropped = saturations = 0
    for segment in wire.split(b"\x00")[:-1]:
        if not segment:
            continue
        body, torn = _decoded(segment)
        features = _features(device, body)
        saturations += features.count(device.maximum) if features is not None else 0
        if torn or len(body) < 4 or crc16(body) != 0:
            dropped = min(0xFFFF, dropped + 1)
            continue
        stats = StatsReply(99, dropped, 3, saturations & 0xFFFFFFFF, 1, 2)
        yield _reply(device, body, features or b"", stats), body[1]


def _decoded(segment: bytes) -> tuple[bytes, bool]:
    """Return the bytes of a frame as far as it goes, and whether the file ends too early."""
    body, place = bytearray(), 0
    while place < len(segment):
        code = segment[place]
        block = segment[place + 1 : place + code]
        body += block
        place += code
        if len(block) < code - 1:
            return bytes(body), True
        if place < len(segment) and code != 0xFF:
            body.append(0)
    return bytes(body), False


def _features(device: _Device, body: bytes) -> bytes | None:
    """Return the bytes that go into the model; those of a frame that is cut off, too."""
    kind = body[0] if body else 0
    if kind in (protocol.PREDICT, protocol.SCORES):
        begin = 2
    elif kind == protocol.REPEAT:
        begin = 4
    else:
        return None
    return _limited(device, body[begin : begin + device.features])


def _limited(device: _Device, features: bytes) -> bytes:
    return bytes(value if value <= device.maximum else 0 for value in features)


def _reply(device: _Device, body: bytes, features: bytes, stats: StatsReply) -> protocol.Message:
    kind = body[0]
    error = _error(device, body)
    if error is not None:
        return ErrorReply(error)
    if kind == protocol.HELLO:
        return HelloReply(2, 0, device.features, device.classes, _HASH, 16_000_000, 56)
    if kind == protocol.STATS:
        return stats
    scores = _scores(device, features)
    label = int(np.argmax(scores))
    if kind == protocol.REPEAT:
        return RepeatReply(label, _SPAN * (int.from_bytes(body[2:4], "little") or 1 << 16))
    cycles = _SPAN * (1 if device.held else _spans(device))
    if kind == protocol.SCORES:
        return ScoresReply(label, cycles, scores)
    return PredictReply(label, cycles)


def _error(device: _Device, body: bytes) -> int | None:
    """Return the code of the error that a request gets, if it gets one."""
    kind, size = body[0], len(body) - 4
    if not protocol.HELLO <= kind <= protocol.REPEAT:
        return 1
    if kind in (protocol.HELLO, protocol.STATS):
        return 2 if size else None
    begin = 4 if kind == protocol.REPEAT else 2
    if size != device.features + begin - 2:
        return 2
    if kind == protocol.REPEAT and not device.held:
        return 4
    return 3 if max(body[begin:-2]) > device.maximum else None


def _scores(device: _Device, features: bytes) -> tuple[int, ...]:
    bend = 4 if device.narrow else 200
    wide = [(c + 1) * sum(features) - c * c * bend for c in range(device.classes)]
    return tuple((s + 0x8000) % 0x10000 - 0x8000 if device.narrow else s for s in wide)


def _spans(device: _Device) -> int:
    """Return how many spans are timed: the begin, each chunk, the finish."""
    return 2 + -(-device.features // min(32, device.features - 1))


def _difference(answered: bytes, expected: bytes) -> str:
    ours, theirs = (data.split(b"\x00") for data in (expected, answered))
    for number, (left, right) in enumerate(zip(ours, theirs, strict=False)):
        if left != right:
            return f"reply {number} is {right.hex()[:60]}, not {left.hex()[:60]}"
    return f"{len(theirs) - 1} replies, not {len(ours) - 1}"


def _check_host(wire: bytes) -> None:
    """Let the host's own decoder read the same bytes: it takes the same frames for good."""
    for frame in protocol.FrameSplitter(90_000).feed(wire):
        body, torn = _decoded(frame)
        found = None
        with suppress(ProtocolError):
            found = protocol.decode_frame(frame)
            protocol.decode_message(found)
        good = not torn and len(body) >= 4 and crc16(body) == 0
        assert found == (body[:-2] if good else None), f"the host reads {frame.hex()[:60]}"
