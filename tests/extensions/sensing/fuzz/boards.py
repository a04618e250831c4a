"""Boards that `record` and `monitor` listen to: whatever one sends, listening ends in time.

It ends as it should, or in a sentence; what was recorded can be read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
from extensions.sensing.lines import Line, live, logger, sent, window
from laws.fuzz.mutation import mutated_bytes, pick
from laws.fuzz.sentences import REFUSALS, check_refusal

from protonn_edge.device.protocol import encode_frame
from protonn_edge.extensions.sensing.listener import Listener
from protonn_edge.extensions.sensing.recorder import Recorder, RecordingFile
from protonn_edge.extensions.sensing.sensor_board import SamplesMessage

BRIEF_CASES = 20

_SECONDS = 2.0
_MOST_S = 150.0  # the deadlines at the lowest rate that a board has
_MOST_READS = 300_000
_PERIODS = (160_000, 160_000, 16_000, 1, 2**32 - 1, 1024 * 65536, 15_900)
_CLOCKS = (16_000_000, 16_000_000, 16_000_000, 8_000_000, 1, 0, 2**32 - 1)
_NUMBERS = (0, 1, 5, 100, 2**16 - 1, 2**24, 2**31, 2**32 - 5)

Send = Callable[[int], bytes]


def run_case(seed: int, folder: Path) -> None:
    """Listen to a board in a time of its own."""
    rng = np.random.default_rng(seed)
    line = _Line(rng, _board(rng))
    with patch("time.monotonic", lambda: line.now), contextlib.suppress(StopIteration):
        try:
            pick(rng, (_monitored, _recorded))(line, folder)
        except REFUSALS as error:
            check_refusal(error)
    assert line.now < _MOST_S, f"it goes on for {line.now:.0f} s"


def _recorded(line: _Line, folder: Path) -> None:
    recorder = Recorder(line, "there")
    recorder.wait()
    path = folder / "r.csv"
    with RecordingFile(path, recorder.description, "s") as file:
        recorder.record_to(file)
        try:
            for label in ("rest", "wave"):
                done = len(recorder.takes)
                recorder.begin(label, _SECONDS, 0.5)
                while len(recorder.takes) == done:
                    recorder.listen()
        finally:
            times = [float(row.split(",")[2]) for row in path.read_text("utf-8").splitlines()[2:]]
            assert (np.diff(times) > 0).all(), "times do not rise"
            wanted = sum(take.kept for take in recorder.takes)
            wanted += 0 if recorder.take is None else recorder.take.kept
            assert len(times) == wanted, f"{len(times)} rows of {wanted} samples"


def _monitored(line: _Line, folder: Path) -> None:
    board = Listener(line, "there")
    board.wait()
    try:
        for answer in board.answers(_SECONDS):
            assert board.name_of(answer.label), "a class has no name"
    finally:
        assert board.seconds <= _SECONDS + 1e-3, f"{board.seconds} s of {_SECONDS}"


class _Line(Line):
    """A line with a piece each so many seconds of its own time, without end."""

    def __init__(self, rng: np.random.Generator, pieces: Iterator[bytes]) -> None:
        every_s = float(pick(rng, (0.001, 0.05, 0.05, 0.5, 2.0, 9.0)))
        super().__init__(then=pieces, every_s=every_s)
        self._reads = 0

    def read(self, wait_s: float) -> bytes:
        self._reads += 1
        assert self.now + self.every_s < _MOST_S, f"it still waits after {self.now:.0f} s"
        assert self._reads < _MOST_READS, f"it still reads after {self._reads} pieces"
        return super().read(wait_s)


def _board(rng: np.random.Generator) -> Iterator[bytes]:
    """Yield what a board sends: its description, and then some kinds of frames in turn."""
    kinds = [_described(rng)]
    makers = (_described, _window, _window, _ranges, _samples, _samples, _noise)
    kinds += [pick(rng, makers)(rng) for _ in range(int(rng.integers(1, 5)))]
    often = int(pick(rng, (1, 1, 20)))  # of the frames behind the first
    number = 0
    while True:
        yield kinds[0](number)
        for _ in range(often):
            for send in kinds[1:]:
                data = send(number)
                yield mutated_bytes(rng, data) if rng.random() < 0.02 else data
                number += 1


def _described(rng: np.random.Generator) -> Send:
    """Return the description of a logger, or of firmware that classifies."""
    period, clock = pick(rng, _PERIODS), pick(rng, _CLOCKS)
    if rng.random() < 0.5:
        sensor, channels = pick(rng, ((3, 6), (3, 6), (4, 3), (1, 6), (2, 1), (9, 0)))
        pins = bytes(range(6)) if rng.random() < 0.9 else bytes([255] * 6)
        about = logger(period, clock, sensor, channels, pins)
        return lambda _: about
    size, hop = int(pick(rng, (50, 50, 1, 65_535))), int(pick(rng, (50, 25, 1, 65_535)))
    onset, step = int(rng.random() < 0.3), int(pick(rng, (0, 0, 1, 50, -50)))
    given = {"triggered": onset, "period": period, "clock": clock, "window": size, "hop": hop}
    return lambda number: live(step * number % 2**32, **given)


def _window(rng: np.random.Generator) -> Send:
    begin, step = int(pick(rng, _NUMBERS)), int(pick(rng, (0, 1, 25, 50, 10**8, -50)))
    label = int(pick(rng, (0, 1, 77, 254, 255)))
    return lambda number: window(
        (begin + step * number) % 2**32,
        number if step else 7,
        label,
        label,
        scores=(-(2**31), 2**31 - 1),
        shares=(50, 0),
    )


def _samples(rng: np.random.Generator) -> Send:
    begin, step = int(pick(rng, _NUMBERS)), int(pick(rng, (0, 5, 5, 6, 1, 10**8, -5)))
    lost, size = int(pick(rng, (0, 0, 3, 2**32 - 1))), int(pick(rng, (60, 60, 30, 2, 0, 7)))
    return lambda number: sent(SamplesMessage((begin + step * number) % 2**32, lost, bytes(size)))


def _ranges(rng: np.random.Generator) -> Send:
    body = bytes([0x96, 0]) + rng.bytes(int(pick(rng, (16, 16, 8, 0, 17))))
    return lambda _: encode_frame(body)


def _noise(rng: np.random.Generator) -> Send:
    piece = pick(rng, (b"", b"", b"\0" * 500, b"\x01" * 4000, rng.bytes(300), b"hello %n\r\n"))
    return lambda _: piece
