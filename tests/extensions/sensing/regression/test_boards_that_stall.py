"""Boards that send without end, but nothing new, and rates that no board can keep.

Whatever came kept `record` and `monitor` waiting, and any rate was believed.
"""

from __future__ import annotations

import itertools
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from refusals import refused_by

from protonn_edge.device.protocol import encode_frame
from protonn_edge.extensions.sensing.listener import AnswerStream, Listener
from protonn_edge.extensions.sensing.recorder import Recorder, RecordingFile, SampleStream
from protonn_edge.system.errors import CheckFailed

CLOCK = 16_000_000


def logger(period: int = 160_000, clock: int = CLOCK, sensor: int = 3, channels: int = 6) -> bytes:
    return encode_frame(struct.pack("<6B2I6s", 0x91, 0, 1, sensor, channels, 1, period, clock, b""))


def samples(first: int, count: int = 5) -> bytes:
    return encode_frame(struct.pack("<BBII", 0x92, 0, first, 0) + bytes(12 * count))


def live(following: int = 0, period: int = 160_000, clock: int = CLOCK, window: int = 50) -> bytes:
    what = (0x93, 0, 2, 3, 1, 0, period, clock, window, window, 1, 2, 0, following, 2)
    return encode_frame(struct.pack("<BBBBBBIIHHBBIIB", *what) + bytes([0, 5]) + bytes(8))


def window(first: int, number: int, label: int = 1, reported: int = 1) -> bytes:
    head = struct.pack("<BBHIIBBB", 0x95, 0, number % 65536, first, 0, label, reported, 50)
    return encode_frame(head + struct.pack("<2i", 1, 2))


class Line:
    """A line with a piece every so many seconds of its own time, without end."""

    def __init__(self, pieces: Iterator[bytes], every_s: float) -> None:
        self.pieces = pieces
        self.every_s = every_s
        self.now = 0.0

    def read(self, wait_s: float) -> bytes:  # noqa: ARG002
        self.now += self.every_s
        assert self.now < 300, "it does not end"
        return next(self.pieces)

    def write(self, data: bytes) -> None:
        raise AssertionError(f"a board is only listened to, and is sent {data!r}")

    def close(self) -> None:
        pass


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Recorder]:
    """Return what records takes of a second until the first one ends."""

    def run(pieces: Iterator[bytes], every_s: float) -> Recorder:
        line = Line(itertools.chain([logger()], pieces), every_s)
        monkeypatch.setattr(time, "monotonic", lambda: line.now)
        recorder = Recorder(line, "there")
        recorder.wait()
        with RecordingFile(tmp_path / "r.csv", recorder.description, "s") as file:
            recorder.record_to(file)
            recorder.begin("rest", 1.0, 0.0)
            while not recorder.takes:
                recorder.listen()
        return recorder

    return run


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Listener]:
    def make(pieces: Iterator[bytes], every_s: float) -> Listener:
        line = Line(itertools.chain([live()], pieces), every_s)
        monkeypatch.setattr(time, "monotonic", lambda: line.now)
        made = Listener(line, "there")
        made.wait()
        return made

    return make


def test_a_logger_that_only_says_what_it_is_sends_no_samples(record) -> None:
    with refused_by("extensions.sensing.recorder", kind=CheckFailed):
        record(itertools.repeat(logger()), 0.5)


def test_a_take_that_takes_ten_times_as_long_is_given_up(record) -> None:
    with refused_by("extensions.sensing.recorder", kind=CheckFailed):
        record((samples(number, 1) for number in itertools.count()), 1.5)


def test_a_logger_that_is_reset_all_the_time_ends_the_take(record) -> None:
    done = record(itertools.cycle([samples(100), samples(105)]), 0.1)
    assert done.takes[0].kept == 10
    assert done.stream.resets == 1


def test_a_board_that_sends_one_window_for_ever_sends_nothing_new(listener) -> None:
    board, answers = listener(itertools.repeat(window(100, 7)), 0.01), []
    with pytest.raises(CheckFailed, match="has classified no window for 12 s"):
        answers.extend(board.answers(3.0))
    assert board.windows == 1


def test_a_board_whose_clock_hardly_moves_is_given_up(listener) -> None:
    board = listener((window(number, number) for number in itertools.count()), 5.0)
    with refused_by("extensions.sensing.listener", kind=CheckFailed):
        list(board.answers(3.0))


def test_seconds_go_on_over_the_resets_of_a_board(listener) -> None:
    board = listener(itertools.cycle([window(25, 0), window(0, 0)]), 0.1)
    assert len(list(board.answers(3.0))) <= 6
    assert board.resets >= 2


def test_what_a_busy_computer_reads_at_once_is_no_reset(listener) -> None:
    """A description that came before the latest windows was taken for one after a reset."""
    windows = [window(50 * number, number) for number in range(20)]
    board = listener(iter([live(50) + b"".join(windows[:10]), b"".join(windows[10:])]), 0.1)
    assert len(list(board.answers(10.0))) == 20
    assert board.resets == 0


IMPOSSIBLE = [
    (1, 2**32 - 1, r"4.295e\+09 samples a second"),
    (2**32 - 1, 1, "2.328e-10 samples a second"),
    (15_000, CLOCK, "1067 samples a second .* at 0.24 to 1,000 Hz"),
    (2**32 - 1, CLOCK, "0.003725 samples a second"),
    (10**7, 1_000, "0.0001 samples a second at a clock of 1,000 Hz"),
]


@pytest.mark.parametrize(("period", "clock", "words"), IMPOSSIBLE)
def test_rates_that_no_board_can_keep_are_refused(period: int, clock: int, words: str) -> None:
    for stream, said in ((SampleStream(), logger), (AnswerStream(), live)):
        with pytest.raises(CheckFailed, match=f"the board reports {words}"):
            stream.feed(said(period=period, clock=clock))


def test_rates_that_boards_keep_are_accepted() -> None:
    for said in (logger(16_000), logger(1024 * 65536), logger(1778, sensor=2, channels=1)):
        stream = SampleStream()
        stream.feed(said)
        assert stream.description is not None


def test_a_logger_whose_rate_changes_is_another_one() -> None:
    with refused_by("extensions.sensing.sensor_board", kind=CheckFailed):
        SampleStream().feed(logger() + logger(period=80_000))


def test_classes_that_the_model_does_not_have_are_no_answers() -> None:
    """They were shown as class 77, and 254, no class yet, as that of a window, as None."""
    stream = AnswerStream()
    wrong = window(0, 0, label=77) + window(0, 0, label=254) + window(0, 0, reported=2)
    assert stream.feed(live() + wrong) == []
    assert stream.torn == 3
    assert len(stream.feed(window(0, 0, label=255, reported=254))) == 1
