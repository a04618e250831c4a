"""Frames and messages: what the specification shows, what must round-trip, what must be refused."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from checkout import CHECKOUT
from cobs import cobs
from extension_parts import additions
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.device import protocol
from protonn_edge.device.protocol import (
    ErrorReply,
    FrameSplitter,
    HelloReply,
    HelloRequest,
    PredictReply,
    PredictRequest,
    ProtocolError,
    RepeatReply,
    RepeatRequest,
    ScoresReply,
    ScoresRequest,
    StatsReply,
    StatsRequest,
    crc16,
    decode_frame,
    decode_message,
    encode_frame,
    encode_message,
)

SPECIFICATION = CHECKOUT / "firmware" / "PROTOCOL.md"
KINDS = {
    "HELLO request": HelloRequest,
    "HELLO reply": HelloReply,
    "PREDICT request": PredictRequest,
    "PREDICT reply": PredictReply,
    "SCORES request": ScoresRequest,
    "SCORES reply": ScoresReply,
    "STATS request": StatsRequest,
    "REPEAT request": RepeatRequest,
    "REPEAT reply": RepeatReply,
    "STATS reply": StatsReply,
    **additions("messages"),
    "ERROR reply": ErrorReply,
}


# --- the specification's examples ----------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Example:
    content: protocol.Message
    sequence: int
    body: bytes
    crc: bytes
    wire: bytes


def value_of(name: str, text: str) -> object:
    if name in {"features", "model_hash", "content"} and len(text) > 5:
        return bytes.fromhex(text)
    if name == "scores":
        return tuple(int(score) for score in text.split(","))
    return int(text)


def example(block: str) -> Example:
    title, *lines = block.splitlines()
    entries: dict[str, str] = {}
    name = ""
    for line in lines:
        name = line[:10].strip() or name
        entries[name] = f"{entries.get(name, '')} {line[10:]}"
    fields = dict(field.split("=") for field in entries.get("fields", "").split())
    return Example(
        KINDS[title](**{name: value_of(name, text) for name, text in fields.items()}),
        int(entries["sequence"]),
        bytes.fromhex(entries["body"]),
        bytes.fromhex(entries["crc"]),
        bytes.fromhex(entries["wire"]),
    )


EXAMPLES = [
    example(block)
    for block in re.findall(r"^```frame\n(.*?)^```$", SPECIFICATION.read_text(), re.S | re.M)
    if block.partition("\n")[0] in KINDS  # others are of extensions that are not there
]


def test_the_specification_shows_every_kind_of_message():
    assert {type(shown.content) for shown in EXAMPLES} == set(KINDS.values())


@pytest.mark.parametrize("shown", EXAMPLES, ids=lambda shown: type(shown.content).__name__)
def test_an_example_of_the_specification_is_right_to_the_byte(shown):
    assert bytes([shown.content.TYPE, shown.sequence]) + shown.content.payload() == shown.body
    assert crc16(shown.body).to_bytes(2, "big") == shown.crc
    assert encode_message(shown.content, shown.sequence) == shown.wire
    assert decode_frame(shown.wire[:-1]) == shown.body
    assert decode_message(shown.body) == shown.content


def test_the_crc_is_the_one_that_the_specification_names():
    assert crc16(b"123456789") == 0x31C3


def test_no_byte_of_the_handshake_is_a_command_of_the_bootloader_that_writes():
    program_page, load_address, universal, program_flash = b"\x64\x55\x56\x60"
    dangerous = {program_page, load_address, universal, program_flash}
    for request in [KINDS[name] for name in ("HELLO request", "HEALTH request") if name in KINDS]:
        assert dangerous.isdisjoint(encode_message(request(), 0))


# --- frames --------------------------------------------------------------------------------------


@given(st.binary(min_size=2, max_size=1200) | st.integers(2, 1200).map(lambda n: b"\x01" * n))
def test_any_body_round_trips(body):
    frame = encode_frame(body)
    assert frame.index(0) == len(frame) - 1
    assert len(frame) <= protocol.frame_bytes(len(body))
    assert decode_frame(frame[:-1]) == body


@pytest.mark.parametrize("body", [b"", b"\x01", bytes(65_534)])
def test_a_body_that_no_frame_can_carry_is_refused(body):
    with refused_by("device.protocol"):
        encode_frame(body)


def test_the_longest_body_round_trips():
    body = bytes(65_533)
    assert decode_frame(encode_frame(body)[:-1]) == body


@pytest.mark.parametrize("sequence", [-1, 256])
def test_a_sequence_number_that_no_byte_holds_is_refused(sequence):
    with refused_by("device.protocol"):
        encode_message(HelloRequest(), sequence)


# --- the splitter --------------------------------------------------------------------------------


@given(st.lists(st.binary(min_size=1, max_size=30).map(cobs.encode), max_size=8), st.data())
def test_frames_are_the_same_however_the_bytes_arrive(frames, data):
    stream = b"".join(frame + b"\x00" for frame in frames)
    cut = data.draw(st.integers(0, len(stream)))
    splitter = FrameSplitter(100)
    assert splitter.feed(stream[:cut]) + splitter.feed(stream[cut:]) == frames


def test_empty_frames_mean_nothing():
    assert FrameSplitter(100).feed(b"\x00\x00\x02\x01\x00\x00") == [b"\x02\x01"]


def test_a_frame_that_is_too_long_is_dropped_and_the_next_one_read():
    splitter = FrameSplitter(4)
    assert splitter.feed(b"12345") == []
    assert splitter.feed(b"6789" * 1000) == []
    assert splitter.feed(b"0\x001234\x00") == [b"1234"]


# --- messages ------------------------------------------------------------------------------------

u8, u16, u32 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32))
# As bytes, since Hypothesis takes long to draw 255 numbers one by one.
scores = st.binary(max_size=4 * 255).map(
    lambda drawn: tuple(np.frombuffer(drawn[len(drawn) % 4 :], "<i4").tolist())
)
messages = st.one_of(
    st.builds(HelloRequest),
    st.builds(StatsRequest),
    st.builds(PredictRequest, st.binary(max_size=300)),
    st.builds(ScoresRequest, st.binary(max_size=300)),
    st.builds(RepeatRequest, u16, st.binary(max_size=300)),
    st.builds(HelloReply, st.just(2), u8, u16, u16, st.binary(min_size=8, max_size=8), u32, u8),
    st.builds(PredictReply, u8, u32),
    st.builds(ScoresReply, u8, u32, scores),
    st.builds(RepeatReply, u8, u32),
    st.builds(StatsReply, u16, u16, u16, u32, u16, u8),
    *additions("drawn messages").values(),
    st.builds(ErrorReply, u8),
)


@given(messages, u8)
def test_any_message_round_trips(content, sequence):
    body = decode_frame(encode_message(content, sequence)[:-1])
    assert body[1] == sequence
    decoded = decode_message(body, [*protocol.messages(), type(content)])
    assert type(decoded) is type(content)
    assert decoded == content


@pytest.mark.parametrize(
    "body",
    [
        "2b 00",
        "01 00 05",
        "81 00",
        "81 00 01 00",
        "82 00 01 02 03",
        "83 00 01 02 03 04",
        "83 00 01 02 03 04 05 06",
        "04 00 00",
        "84 00 01",
        "05 00 01",
        "85 00 01",
        "06 00",
        "87 00 01",
        "08 00 01",
        "09 00 01",
        "ff 00",
    ],
)
def test_a_message_with_a_payload_that_does_not_fit_is_refused(body):
    with refused_by("device.protocol", kind=ProtocolError):
        decode_message(bytes.fromhex(body))


def test_an_error_says_what_it_means():
    assert str(ErrorReply(2)) == "error 2 (wrong length of payload)"
    assert str(ErrorReply(9)) == "error 9 (unknown)"
