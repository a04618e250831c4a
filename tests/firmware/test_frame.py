"""The firmware's frames, compiled on the host with sanitizers, against Python's COBS and CRC."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import CHECKOUT
from cobs import cobs
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import started

from protonn_edge.device.protocol import ProtocolError, crc16, decode_frame, encode_frame

FIRMWARE = CHECKOUT / "firmware"
CFLAGS = [
    *("-std=gnu99", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
]


class FrameProgram:
    """frame.c behind a pipe; a finding of a sanitizer ends it, and the test with it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def encode(self, body: bytes) -> bytes:
        return self._command(b"E", body)

    def decode(self, wire: bytes) -> list[bytes | None]:
        """Return the body with its CRC of each frame that ended, None for a bad one."""
        answer = self._command(b"D", wire)
        bodies: list[bytes | None] = []
        while answer:
            good, length = struct.unpack_from("<BH", answer)
            bodies.append(answer[3 : 3 + length] if good else None)
            answer = answer[3 + length :]
        return bodies

    def _command(self, letter: bytes, content: bytes) -> bytes:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(letter + struct.pack("<I", len(content)) + content)
            stdin.flush()
            head = stdout.read(4)
            assert len(head) == 4, "the program ended; its words are in the captured stderr"
            return stdout.read(struct.unpack("<I", head)[0])
        except BaseException:
            self._process.kill()  # it is in the middle of an answer
            raise


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrameProgram]:
    executable = tmp_path_factory.mktemp("frame") / "frame_host"
    sources = [FIRMWARE / "frame.c", Path(__file__).parent / "frame_host.c"]
    command = ["gcc", *CFLAGS, f"-I{FIRMWARE}", *sources, "-o", executable]
    subprocess.run(command, check=True, timeout=60)
    with started(executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield FrameProgram(process)
        process.communicate()
        assert process.returncode == 0


def with_crc(body: bytes) -> bytes:
    return body + crc16(body).to_bytes(2, "big")


# Random bytes, and long runs without a zero, where COBS blocks are full.
bodies = st.one_of(
    st.binary(min_size=2, max_size=600),
    st.lists(
        st.sampled_from([b"\x00", b"\x01" * 251, b"\x01" * 254, b"\xff" * 300]), min_size=2
    ).map(b"".join),
)


@given(bodies)
@settings(max_examples=300)
def test_a_frame_is_encoded_as_python_does(program, body):
    assert program.encode(body) == encode_frame(body)


@given(bodies)
@settings(max_examples=300)
def test_a_frame_is_decoded_to_its_body(program, body):
    assert program.decode(encode_frame(body)) == [with_crc(body)]


@pytest.mark.parametrize("length", [2, 249, 250, 251, 252, 253, 254, 255, 256, 507, 65_533])
@pytest.mark.parametrize("byte", [0x00, 0x5A])
def test_blocks_may_be_full_or_empty(program, length, byte):
    body = bytes([byte]) * length
    assert program.encode(body) == encode_frame(body)
    assert program.decode(encode_frame(body)) == [with_crc(body)]


@given(st.lists(st.binary(min_size=1, max_size=40).map(lambda b: b.replace(b"\x00", b"\x01"))))
@settings(max_examples=300)
def test_garbage_is_judged_as_python_does(program, frames):
    verdicts = program.decode(b"".join(frame + b"\x00" for frame in frames))
    assert len(verdicts) == len(frames)
    for frame, verdict in zip(frames, verdicts, strict=True):
        try:
            expected = with_crc(decode_frame(frame))
        except ProtocolError:
            expected = None
        assert verdict == expected


@given(bodies, st.binary(max_size=100), st.data())
@settings(max_examples=300)
def test_the_decoder_is_in_step_again_after_the_next_delimiter(program, body, garbage, data):
    frame = encode_frame(body)
    torn = frame[: data.draw(st.integers(0, len(frame)))]
    assert program.decode(torn + garbage + b"\x00" + frame)[-1] == with_crc(body)


def test_empty_frames_mean_nothing(program):
    assert program.decode(b"\x00\x00\x00") == []


def test_a_body_of_fewer_than_four_bytes_is_bad(program):
    # COBS of 00 00 00, whose CRC is 0, and of nothing at all.
    assert program.decode(b"\x01\x01\x01\x01\x00\x01\x00") == [None, None]


def test_a_body_that_is_too_long_does_not_overflow_its_length(program):
    whole = with_crc(b"\x5a\x00" * 40_000)
    wire = cobs.encode(whole) + b"\x00" + encode_frame(b"\x01\x00")
    assert program.decode(wire) == [whole[:65_535], with_crc(b"\x01\x00")]
