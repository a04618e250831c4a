"""Boards that send without end, but nothing new, and rates that no board can keep.

Whatever came kept `record` and `monitor` waiting, and any rate was believed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from extensions.sensing.conftest import OnALine
from extensions.sensing.lines import CLOCK, live, logger, named, samples, window
from refusals import refused_by

from protonn_edge.device.protocol import (
    ProtocolError,
    decode_frame,
    decode_message,
    encode_frame,
)
from protonn_edge.extensions.sensing.listener import AnswerStream, Listener
from protonn_edge.extensions.sensing.recorder import Recorder, RecordingFile, SampleStream
from protonn_edge.extensions.sensing.sensor_board import LoggerDescription, NameMessage
from protonn_edge.system.errors import CheckFailed

LIVE = live(window=50, hop=50)


@pytest.fixture
def record(tmp_path: Path, on_a_line: OnALine) -> Callable[..., Recorder]:
    """Return what records takes of a second until the first one ends."""

    def run(pieces: Iterator[bytes], every_s: float) -> Recorder:
        recorder = on_a_line(Recorder, logger(), then=pieces, every_s=every_s)
        with RecordingFile(tmp_path / "r.csv", recorder.description, "s") as file:
            recorder.record_to(file)
            recorder.begin("rest", 1.0, 0.0)
            while not recorder.takes:
                recorder.listen()
        return recorder

    return run


@pytest.fixture
def listener(on_a_line: OnALine) -> Callable[..., Listener]:
    return lambda pieces, every_s: on_a_line(Listener, LIVE, then=pieces, every_s=every_s)


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
    board = listener(
        iter([live(50, window=50, hop=50) + b"".join(windows[:10]), b"".join(windows[10:])]), 0.1
    )
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
    assert stream.feed(LIVE + wrong) == []
    assert stream.torn == 3
    assert len(stream.feed(window(0, 0, label=255, reported=254))) == 1


def test_a_board_that_classifies_is_no_silent_logger() -> None:
    with refused_by("device.message_reader", kind=CheckFailed):
        SampleStream().feed(encode_frame(bytes([0x93]) + bytes(40)))


# --- a frame behind another one whose delimiter was lost: the CRC of both together is right -------

SAMPLES = samples(0, 1)


def test_a_description_does_not_absorb_the_next_frame() -> None:
    stream, joined = SampleStream(), logger()[:-1] + SAMPLES
    decode_frame(joined[:-1])  # its CRC is right
    assert stream.feed(logger() + joined) == []
    assert stream.torn == 1
    assert stream.description == LoggerDescription(1, 3, 6, 1, 160_000, CLOCK, bytes(6))
    (found,) = stream.feed(SAMPLES)
    assert not found.values.any()


def test_a_name_does_not_absorb_the_next_frame() -> None:
    frame = named("up")
    assert decode_message(decode_frame(frame[:-1]), [NameMessage]) == NameMessage(0, b"up")
    with pytest.raises(ProtocolError, match="another message in it"):
        decode_message(decode_frame((frame[:-1] + SAMPLES)[:-1]), [NameMessage])
