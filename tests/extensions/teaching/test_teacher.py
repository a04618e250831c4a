"""Who teaches a board: keys, what is asked, what is said of the replies, and what is refused."""

from __future__ import annotations

import os
import pty
import sys
import time
from collections.abc import Callable, Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import pytest
from chains import replace
from extensions.sensing.conftest import OnALine, on_a_line
from extensions.sensing.lines import Line, live, named, sent, window
from extensions.teaching.serving import on_host
from model_factory import random_inputs, random_model
from refusals import refused_by

from protonn_edge.cli.command import is_terminal
from protonn_edge.device.protocol import (
    decode_frame,
    encode_message,
)
from protonn_edge.extensions.sensing.keys import Keys
from protonn_edge.extensions.sensing.sensor_board import (
    WindowAnswer,
)
from protonn_edge.extensions.teaching.board import stored
from protonn_edge.extensions.teaching.examples import ERASED, Taught
from protonn_edge.extensions.teaching.listener import TeachingListener
from protonn_edge.extensions.teaching.messages import (
    ForgetReply,
    LearnReply,
    StoreReply,
    StoreRequest,
    TaughtMessage,
)
from protonn_edge.extensions.teaching.monitor import Labels
from protonn_edge.model.integer_chain import coordinates
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed

__all__ = ["on_a_line"]

BEGIN = live() + sent(TaughtMessage(9, (1, 0))) + named("rest", "wave")


@pytest.fixture
def teacher(on_a_line: OnALine) -> Callable[..., TeachingListener]:
    return lambda *pieces: on_a_line(TeachingListener, *pieces, wait=False, asked=True)


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
        *(window(75), sent(*reply, number=1)),
        *(window(225), sent(*late, number=2)),
        *(window(375), sent(*gone, number=3)),
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
    late = [window(100), b"", sent(TaughtMessage(9, (1, 1)), LearnReply(1, 2), number=1)]
    board = teacher(BEGIN, window(75), *late)
    assert acted(board, "2", seconds=1.9) == (["taught wave: rest 1, wave 1"], [])
    board = teacher(BEGIN, window(75))
    assert acted(board, "2", seconds=1.9) == ([], [])


@pytest.mark.parametrize(
    ("numbers", "triggered", "warned"),
    [((3, 6), 0, True), ((3, 7), 0, True), ((3, 8), 0, False), ((3, 7), 1, False)],
)
def test_windows_that_overlap_or_follow_one_another_are_one_moment(
    teacher, numbers: tuple[int, int], triggered: int, warned: bool
) -> None:
    about = live(triggered=triggered), sent(TaughtMessage(9, (1, 0))), named("rest", "wave")
    begin = b"".join(about)
    one, two = (sent(TaughtMessage(9, (1, 1)), LearnReply(1, 2), number=n) for n in (1, 2))
    first, second = (window(25 * number) for number in numbers)
    _, told = acted(teacher(begin, first, one, second, two), "2", "2")
    assert ["same moment" in sentence for sentence in told] == [True] * warned
    _, told = acted(teacher(begin, first, one, second, two), "1", "2")
    assert told == []  # of two classes


def test_a_window_is_an_example_once(teacher) -> None:
    board = teacher(BEGIN, window(75), sent(LearnReply(1, 2), number=1))
    acted(board, "2")
    assert board.teach(0) == "this window is already an example; teach another one"
    assert len(board._line.requests) == 1


def test_without_a_window_there_is_nothing_to_teach(teacher) -> None:
    board = teacher(BEGIN)
    board.wait()
    assert board.teach(0) == "there is no window yet; wait for the first one"
    assert board._line.requests == []


@pytest.mark.parametrize(
    "pieces", [(live() + named("rest", "wave"),), (live(),)], ids=["names", "silence"]
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
    board = teacher(live(classes=40) + sent(TaughtMessage(9, (0,) * 40)) + named(*names))
    board.wait()
    with refused_by("extensions.teaching.monitor", kind=CheckFailed):
        Labels(board, print)


def being_taught(*pieces: bytes) -> tuple[Iterator[object], TeachingListener, Labels, list[str]]:
    """Return what comes from a board that sends pieces, who teaches it, keys, and what is told."""
    board = TeachingListener(Line(BEGIN, *pieces, asked=True), "there")
    board.wait()
    told: list[str] = []
    return board.answers(), board, Labels(board, told.append), told


def test_a_reply_is_of_its_request_whatever_was_asked_since() -> None:
    answers, board, labels, told = being_taught(
        window(25),
        sent(ForgetReply(1, 0), number=2),  # the reply to the first request is lost
        sent(LearnReply(1, 1), number=7),  # and this one is nobody's
        window(225),
    )
    assert isinstance(next(answers), WindowAnswer)
    assert board.teach(1) is None
    labels._press("-")
    labels._press("1")
    assert labels.replied(next(answers))[0].startswith("forgotten rest: ")  # type: ignore[arg-type]
    assert isinstance(next(answers), WindowAnswer)
    assert told == []


def test_a_second_key_for_the_same_window_is_refused() -> None:
    answers, board, labels, told = being_taught(window(25))
    next(answers)
    for key in "21":
        labels._press(key)
    assert told == ["this window is being taught; teach another one"]
    assert len(board._line.requests) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("line", "asked", "words"),
    [
        (
            b"12\n",
            0,
            "a line from the pipe has 2 characters, but must be the key of one class; send one",
        ),
        (b"\xff\x00\xe4\n", 0, "has 3 characters, but must be"),
        (b"1" * 5000, 0, "has 1000 characters, but must be"),
        (b"-1\n", 1, ""),
        (b" 2 \r\n", 1, ""),
        (b"", 0, ""),
    ],
    ids=["two", "binary", "long", "forget", "spaces", "end"],
)
def test_a_line_of_a_pipe_is_one_key(
    line: bytes, asked: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(line)))
    answers, board, labels, told = being_taught(window(25))
    next(answers)
    labels.read_line()
    assert len(board._line.requests) == asked  # type: ignore[attr-defined]
    assert words in "".join(told)
    assert bool(words) == bool(told)


def test_without_a_standard_input_there_are_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert not is_terminal(sys.stdin)
    answers, board, labels, told = being_taught(window(25))
    next(answers)
    with labels.pressed():
        labels.read_line()
    assert (board._line.requests, told) == ([], [])  # type: ignore[attr-defined]


def test_an_arrow_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, end = pty.openpty()
    with os.fdopen(end) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with Keys("otherwise") as keys:
            os.write(terminal, b"\x1b[A")
            time.sleep(0.1)
            assert keys.pressed() == ""
            os.write(terminal, b"a")
            time.sleep(0.1)
            assert [keys.pressed(), keys.pressed()] == ["a", ""]
    os.close(terminal)


MODEL, OTHER = (
    replace(random_model(seed, projections=3, features=6, classes=3), teachable=4)
    for seed in (0, 1)
)


def store_of(floats: object) -> bytes:
    model = quantize(floats)  # type: ignore[arg-type]
    point = coordinates(model, random_inputs(0, 1, model)).astype(np.int8)
    return stored(model, Taught(point, np.array([1], np.uint8)))


def test_generated_c_knows_whose_examples_it_has(tmp_path: Path) -> None:
    with on_host(quantize(MODEL), tmp_path) as program:
        assert not program.has_others
        for content, others in ((store_of(OTHER), 1), (store_of(MODEL), 0)):
            program.store = content
            for changed, expected in ((content, others), (b"\xff" + content[1:], 0)):
                program.store = changed
                program.start()
                assert program.has_others == expected


@pytest.mark.parametrize(
    ("content", "warned"),
    [(b"\x01" + bytes(9), True), (b"\x01" + bytes(range(8)), False), (b"\xff" * 40, False)],
)
def test_who_teaches_is_warned(content: bytes, warned: bool) -> None:
    none = live() + sent(TaughtMessage(9, (0, 0))) + named("rest", "wave")
    line = Line(none, window(25), sent(StoreReply(content)), window(125), asked=True)
    teacher, told = TeachingListener(line, "there"), list[str]()  # type: ignore[arg-type]
    teacher.wait()
    assert line.requests == [decode_frame(encode_message(StoreRequest(), 0)[:-1])]
    Labels(teacher, told.append)
    assert told == [f"warning: {ERASED}"] * warned
    assert [answer.number for answer in teacher.receive(0.0)] == [1, 5]  # type: ignore[union-attr]


def test_a_board_with_examples_is_not_asked_for_its_store() -> None:
    line = Line(BEGIN, asked=True)
    TeachingListener(line, "there").wait()  # type: ignore[arg-type]
    assert line.requests == []
