"""`monitor --teach` where keys come at odd moments, or from something that is no keyboard."""

from __future__ import annotations

import os
import pty
import sys
import time
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper

import pytest
from extensions.teaching.test_teacher import BEGIN, Line, sent, window

from protonn_edge.cli.command import is_terminal
from protonn_edge.extensions.sensing.keys import Keys
from protonn_edge.extensions.sensing.sensor_board import WindowAnswer
from protonn_edge.extensions.teaching.listener import TeachingListener
from protonn_edge.extensions.teaching.messages import ForgetReply, LearnReply
from protonn_edge.extensions.teaching.monitor import Labels


def taught(*pieces: bytes) -> tuple[Iterator[object], TeachingListener, Labels, list[str]]:
    """Return what comes from a board that sends pieces, who teaches it, keys, and what is told."""
    board = TeachingListener(Line(BEGIN, *pieces), "there")  # type: ignore[arg-type]
    board.wait()
    told: list[str] = []
    return board.answers(), board, Labels(board, told.append), told


def test_a_reply_is_of_its_request_whatever_was_asked_since() -> None:
    answers, board, labels, told = taught(
        sent(window(1)),
        sent(ForgetReply(1, 0), number=2),  # the reply to the first request is lost
        sent(LearnReply(1, 1), number=7),  # and this one is nobody's
        sent(window(9)),
    )
    assert isinstance(next(answers), WindowAnswer)
    assert board.teach(1) is None
    labels._press("-")
    labels._press("1")
    assert labels.replied(next(answers))[0].startswith("forgotten rest: ")  # type: ignore[arg-type]
    assert isinstance(next(answers), WindowAnswer)
    assert told == []


def test_a_second_key_for_the_same_window_is_refused() -> None:
    answers, board, labels, told = taught(sent(window(1)))
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
    answers, board, labels, told = taught(sent(window(1)))
    next(answers)
    labels.read_line()
    assert len(board._line.requests) == asked  # type: ignore[attr-defined]
    assert words in "".join(told)
    assert bool(words) == bool(told)


def test_without_a_standard_input_there_are_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert not is_terminal(sys.stdin)
    answers, board, labels, told = taught(sent(window(1)))
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
