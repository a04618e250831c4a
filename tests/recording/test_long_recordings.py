"""Ten minutes of six channels over a line that drops a byte in a thousand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from logger_builds import noise

from protonn_edge.device.protocol import encode_frame
from protonn_edge.sensors.recorder import Recorder, RecordingFile

RATE, SECONDS, DROPPED = 100, 600, 0.001
PLAYED = noise(RATE * SECONDS + 1000, 6)
FRAME_SAMPLES = 5
FRAMES_AT_ONCE = 20
LOGGER = bytes([0x91, 0, 1, 3, 6, 1]) + b"".join(
    number.to_bytes(4, "little") for number in (160_000, 16_000_000)
)


class BadLine:
    """A logger's frames without a board, some of whose bytes are lost."""

    def __init__(self) -> None:
        self.described = False
        self.next = 0
        self.dropped = 0
        self._chance = np.random.default_rng(1)

    def read(self, wait_s: float) -> bytes:  # noqa: ARG002
        if not self.described:
            self.described = True
            return encode_frame(LOGGER + bytes(6))
        firsts = range(self.next, self.next + FRAMES_AT_ONCE * FRAME_SAMPLES, FRAME_SAMPLES)
        self.next = firsts.stop
        return self._through(b"".join(map(sampled, firsts)))

    def _through(self, sent: bytes) -> bytes:
        kept = self._chance.random(len(sent)) >= DROPPED
        self.dropped += int(np.count_nonzero(~kept))
        return np.frombuffer(sent, np.uint8)[kept].tobytes()

    def write(self, data: bytes) -> None:
        raise AssertionError(f"a logger is only listened to, and is sent {data!r}")

    def close(self) -> None:
        pass


def sampled(first: int) -> bytes:
    head = bytes([0x92, 0]) + first.to_bytes(4, "little") + bytes(4)
    return encode_frame(head + PLAYED[first : first + FRAME_SAMPLES].astype("<i2").tobytes())


def test_every_lost_sample_is_known_and_none_is_wrong(tmp_path: Path) -> None:
    line = BadLine()
    recorder = Recorder(line, "there")
    recorder.wait()
    with RecordingFile(tmp_path / "r.csv", recorder.description, "long") as file:
        recorder.record_to(file)
        recorder.begin("wave", SECONDS, 0.0)
        while not recorder.takes:
            recorder.listen()
    (take,) = recorder.takes
    assert take.first is not None
    table = np.loadtxt(tmp_path / "r.csv", delimiter=",", skiprows=2, usecols=range(2, 9))
    numbers = np.rint(table[:, 0] * RATE).astype(int) + take.first
    assert np.array_equal(table[:, 1:], PLAYED[numbers])
    assert np.all(np.diff(numbers) > 0)
    assert take.kept == len(table)
    assert take.lost == SECONDS * RATE - take.kept
    assert 500 < line.dropped < 1500
    # A lost byte spoils its frame, and if it was the last one the next frame, too.
    assert FRAME_SAMPLES * line.dropped * 0.8 < take.lost < 2 * FRAME_SAMPLES * line.dropped
