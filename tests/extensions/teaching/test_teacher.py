"""Who teaches a board: what is asked, what is said of the replies, and what is refused."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from refusals import refused_by

from protonn_edge.device.protocol import (
    Message,
    decode_frame,
    encode_message,
)
from protonn_edge.extensions.sensing.sensor_board import (
    LiveDescription,
    NameMessage,
    WindowAnswer,
)
from protonn_edge.extensions.teaching.listener import TeachingListener
from protonn_edge.extensions.teaching.messages import ForgetReply, LearnReply, TaughtMessage
from protonn_edge.extensions.teaching.monitor import Labels
from protonn_edge.system.errors import CheckFailed


def sent(*messages: Message, number: int = 0) -> bytes:
    return b"".join(encode_message(message, number) for message in messages)


def live(classes: int = 2, triggered: int = 0) -> LiveDescription:
    about = (2, 3, 1, triggered, 160_000, 16_000_000, 100, 25, 1, classes, 0, 0, 2)
    return LiveDescription(*about, bytes([0, 5, *range(8)]))


def named(*names: str) -> list[NameMessage]:
    return [NameMessage(label, name.encode()) for label, name in enumerate(names)]


def window(number: int) -> WindowAnswer:
    return WindowAnswer(number, 25 * number, 0, 1, 1, 90, (-5, 70))


class Line:
    """A line on which pieces come one by one, and what is written to it."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces, self.now = list(pieces), 0.0
        self.requests: list[bytes] = []

    def read(self, wait_s: float) -> bytes:
        self.now += wait_s
        return self.pieces.pop(0) if self.pieces else b""

    def write(self, data: bytes) -> None:
        self.requests.append(decode_frame(data[:-1]))


BEGIN = sent(live(), TaughtMessage(9, (1, 0)), *named("rest", "wave"))


@pytest.fixture
def teacher(monkeypatch: pytest.MonkeyPatch) -> Callable[..., TeachingListener]:
    def make(*pieces: bytes) -> TeachingListener:
        line = Line(*pieces)
        monkeypatch.setattr(time, "monotonic", lambda: line.now)
        return TeachingListener(line, "there")  # type: ignore[arg-type]

    return make


def acted(
    board: TeachingListener, *keys: str, seconds: float | None = None
) -> tuple[list[str], list[str]]:
    """Press a key after each window; return what is said of replies, and what else is told."""
    board.wait()
    told: list[str] = []
    labels, left, said = Labels(board, told.append), list(keys), []
    try:
        for answer in board.answers(seconds):
            if isinstance(answer, WindowAnswer):
                for key in left.pop(0):
                    labels._press(key)
            else:
                said.append(labels.replied(answer)[0])
    except CheckFailed:  # the board fell silent
        pass
    return said, told


def test_a_request_names_the_window_and_the_reply_says_what_became_of_it(teacher) -> None:
    reply = [TaughtMessage(9, (1, 1)), LearnReply(1, 2)]
    late = [TaughtMessage(9, (1, 1)), LearnReply(0, 2)]
    gone = [TaughtMessage(9, (0, 1)), ForgetReply(0, 1)]
    board = teacher(
        BEGIN,
        *(sent(window(3)), sent(*reply, number=1)),
        *(sent(window(9)), sent(*late, number=2)),
        *(sent(window(15)), sent(*gone, number=3)),
    )
    said, told = acted(board, "2", "2", "-1")
    assert board._line.requests == [
        bytes.fromhex(text) for text in ("0601010300", "0602010900", "070300")
    ]
    late = "wave came too late (the board has classified another window since)"
    assert said == [
        "taught wave: rest 1, wave 1",
        f"the key for {late}: rest 1, wave 1",
        "forgotten rest: rest 0, wave 1",
    ]
    assert told == []


def test_the_reply_about_the_last_window_is_awaited(teacher) -> None:
    late = [sent(window(4)), b"", sent(TaughtMessage(9, (1, 1)), LearnReply(1, 2), number=1)]
    board = teacher(BEGIN, sent(window(3)), *late)
    assert acted(board, "2", seconds=1.9) == (["taught wave: rest 1, wave 1"], [])
    board = teacher(BEGIN, sent(window(3)))
    assert acted(board, "2", seconds=1.9) == ([], [])


@pytest.mark.parametrize(
    ("numbers", "triggered", "warned"),
    [((3, 6), 0, True), ((3, 7), 0, True), ((3, 8), 0, False), ((3, 7), 1, False)],
)
def test_windows_that_overlap_or_follow_one_another_are_one_moment(
    teacher, numbers: tuple[int, int], triggered: int, warned: bool
) -> None:
    begin = sent(live(triggered=triggered), TaughtMessage(9, (1, 0)), *named("rest", "wave"))
    one, two = (sent(TaughtMessage(9, (1, 1)), LearnReply(1, 2), number=n) for n in (1, 2))
    first, second = map(sent, map(window, numbers))
    _, told = acted(teacher(begin, first, one, second, two), "2", "2")
    assert ["same moment" in sentence for sentence in told] == [True] * warned
    _, told = acted(teacher(begin, first, one, second, two), "1", "2")
    assert told == []  # of two classes


def test_a_window_is_an_example_once(teacher) -> None:
    board = teacher(BEGIN, sent(window(3)), sent(LearnReply(1, 2), number=1))
    acted(board, "2")
    assert board.teach(0) == "this window is already an example; teach another one"
    assert len(board._line.requests) == 1


def test_without_a_window_there_is_nothing_to_teach(teacher) -> None:
    board = teacher(BEGIN)
    board.wait()
    assert board.teach(0) == "there is no window yet; wait for the first one"
    assert board._line.requests == []


@pytest.mark.parametrize(
    "pieces", [(sent(live(), *named("rest", "wave")),), (sent(live()),)], ids=["names", "silence"]
)
def test_a_board_without_room_is_refused(teacher, pieces: tuple[bytes, ...]) -> None:
    board = teacher(*pieces)
    with pytest.raises(CheckFailed, match="no room for examples; train the model with --teachable"):
        board.wait()
    assert board._line.now < 60


def test_counts_of_other_classes_are_damaged(teacher) -> None:
    board = teacher(BEGIN + sent(TaughtMessage(9, (1, 2, 3))))
    board.wait()
    assert (board.taught.counts, board.stream.torn) == ((1, 0), 1)


def test_more_classes_than_keys_are_refused(teacher) -> None:
    names = [f"class {label}" for label in range(40)]
    board = teacher(sent(live(classes=40), TaughtMessage(9, (0,) * 40), *named(*names)))
    board.wait()
    with refused_by("extensions.teaching.monitor", kind=CheckFailed):
        Labels(board, print)
