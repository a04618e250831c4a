"""What a board says is understood or left out, shown as sure as it is, and every wait ends."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import succeed
from extensions.sensing.conftest import OnALine
from extensions.sensing.lines import BYTES_OF_HASH, Line, live, named, sent, window
from model_factory import random_model
from rich.console import Console

from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.folder import plan_text
from protonn_edge.device.protocol import encode_frame
from protonn_edge.extensions.sensing.commands.monitor import _another_model, _line, picture
from protonn_edge.extensions.sensing.listener import AnswerStream, Listener
from protonn_edge.extensions.sensing.live import LiveFigures
from protonn_edge.extensions.sensing.sensor_board import NameMessage, WindowAnswer
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.rule import Confidence
from protonn_edge.system.errors import CheckFailed

TRAINED = (-300, 310, -20, 20)
CALM = (-100, 100, 0, 0)


def ranges(*sampled: int) -> bytes:
    return encode_frame(struct.pack("<BB4h4h", 0x96, 0, *TRAINED, *sampled))


SAID = live() + named("rest", "wave")
DEADLINE_S = 60.0  # of a board that nobody listens to, if a test fails


@pytest.fixture
def listener(on_a_line: OnALine) -> Callable[..., Listener]:
    return lambda *pieces: on_a_line(Listener, *pieces, wait=False)


def test_answers_have_names_scores_and_times(listener) -> None:
    board = listener(SAID, window(0, reported=254), window(25, label=255))
    board.wait()
    first, second = board.answers(1.25)
    assert (first.scores, second.scores) == ((-5, 70_000), (-5, 70_000))
    assert [board.name_of(label) for label in (0, first.label, first.reported, second.label)] == [
        *("rest", "wave"),
        *(None, "unknown"),
    ]
    assert first.shares == second.shares == (2, 97)
    assert board.seconds_at(second) == 1.25
    assert board.description.used == (0, 5)
    assert board.description.channels == ("ax", "gz")
    assert board.description.model_hash == BYTES_OF_HASH.hex()
    picture(board.named(second))


def test_damaged_frames_are_left_out_and_missing_windows_counted(listener) -> None:
    torn = bytearray(window(50))
    torn[6] ^= 4
    board = listener(
        SAID + window(0) + window(25) + bytes(torn) + window(75, lost=3) + window(200, lost=3)
    )
    board.wait()
    assert [answer.first for answer in board.answers(3.0)] == [0, 25, 75, 200]
    assert (board.stream.torn, board.missing, board.lost) == (1, 1 + 4, 3)


def test_a_board_that_is_reset_begins_anew(listener) -> None:
    firsts = [500, 525, 0, 25, 50]
    board = listener(live(500), *map(window, firsts[:2]), SAID + b"".join(map(window, firsts[2:])))
    board.wait()
    assert [answer.first for answer in board.answers(2.75)] == firsts
    assert (board.missing, board.resets) == (0, 1)


def test_seconds_are_those_of_the_board(listener) -> None:
    board = listener(SAID + b"".join(window(25 * number) for number in range(40)))
    board.wait()
    assert len(list(board.answers(2.0))) == 5
    assert board.seconds == 2.0


def test_seconds_count_from_the_first_description_of_a_read(listener) -> None:
    board = listener(SAID + live(50), window(0), window(25), window(50), window(75))
    board.wait()
    assert [answer.first for answer in board.answers(1.5)] == [0, 25, 50]
    assert board.seconds == 1.5


@pytest.mark.parametrize("reads", [1, 2])
def test_answers_of_a_read_that_is_longer_than_asked_for_are_not_lost(listener, reads) -> None:
    sent = [SAID, *(window(first) for first in range(0, 700, 25)), live(800)]
    pieces = [b"".join(sent)] if reads == 1 else [sent[0], b"".join(sent[1:])]
    board = listener(*pieces)
    board.wait()
    assert [answer.first for answer in board.answers(4.0)] == [*range(0, 325, 25)]


def test_a_board_that_waits_for_sound_is_heard_by_what_it_says_of_itself(listener) -> None:
    def at(sample: int) -> bytes:
        return live(sample, triggered=1)

    silence = [at(100 * second) for second in range(6, 60)]
    board = listener(at(400), window(430, number=7), *silence, window(5950, number=9), at(6600))
    board.wait()
    answers = list(board.answers(61.0))
    assert [answer.first for answer in answers] == [430, 5950]
    assert (board.missing, board.seconds) == (1, 61.0)


def test_a_board_that_waits_for_sound_and_falls_silent_is_told(listener) -> None:
    board = listener(live(triggered=1), live(900, triggered=1), live(triggered=1))
    with pytest.raises(CheckFailed, match="has classified no window"):
        all_of(board)
    assert (board.seconds, board.resets) == (9.0, 1)


def all_of(board: Listener) -> list[WindowAnswer]:
    board.wait()
    return list(board.answers())


@pytest.mark.parametrize(
    ("pieces", "sentence"),
    [
        ([], "no board that classifies sensor samples responds at there"),
        (
            [b"\x00noise\x00" * 9, window(0)],
            "no board that classifies sensor samples responds at there",
        ),
        ([live(found=0)], "cannot find its mpu6050; check .* give --sensor mpu6050=FILE"),
        ([live(version=1)], "has version 1, but this program reads version 3"),
        ([encode_frame(bytes([0x91]) + bytes(19))], "runs a logger, which does not classify"),
        ([live(), live(hop=26)], "firmware has changed since the start"),
        ([SAID, window(0)], "has classified no window for 12 s"),
        ([SAID, named("x"), named("x")], "has classified no window"),
    ],
)
def test_every_wait_ends_in_a_sentence(listener, pieces: list[bytes], sentence: str) -> None:
    board = listener(*pieces)
    with pytest.raises(CheckFailed, match=sentence):
        all_of(board)
    assert board._line.now < 60


def test_nonsense_in_a_whole_frame_is_no_description() -> None:
    stream = AnswerStream()
    assert stream.feed(live(hop=0) + window(0) + live(classes=3) + window(0) + live()[:-9]) == []
    assert stream.description is not None
    assert stream.description.n_classes == 3
    assert stream.torn == 2
    stream.feed(b"\x00" + sent(NameMessage(1, b"a\x1b[2J\xff")))
    assert stream.names[1] == "a?[2J�"


def warnings_after(*sampled: tuple[int, ...]) -> list[str]:
    """Return what is said of these ranges of two channels, a second each."""
    stream, said = AnswerStream(), []
    stream.feed(SAID)
    for each in sampled:
        stream.feed(ranges(*each))
        warning = stream.take_warning()
        said += [] if warning is None else [warning]
    assert stream.torn == 0
    return said


@pytest.mark.parametrize(
    ("sampled", "words"),
    [
        ((-100, 921, 0, 0), "ax from -100 to 921 (in training, from -300 to 310);"),
        ((-911, 0, 0, 0), "ax from -911 to 0 (in training, from -300 to 310);"),
        ((0, 0, -70, -62), "gz from -70 to -62 (in training, from -20 to 20);"),
        ((0, 9999, 0, 61), "ax from 0 to 9,999 (in training, from -300 to 310), gz from 0 to 61"),
    ],
)
def test_values_far_outside_the_training_are_told_once(
    sampled: tuple[int, ...], words: str
) -> None:
    assert warnings_after(*[sampled] * 2) == []
    (text,) = warnings_after(*[sampled] * 20)
    assert words in text


@pytest.mark.parametrize(
    "by_turns",
    [
        [(-910, 920, -60, 60)],  # beyond, by no more than the range is wide
        [CALM, (-100, 9999, 0, 0), (-100, 9999, 0, 0)],
        [(9999, 9999, 0, 0), (0, 0, 999, 999)],
        [(32_767, -32_768, 32_767, -32_768)],  # no sample
    ],
)
def test_values_in_reach_or_seldom_outside_are_not_told(by_turns: list[tuple[int, ...]]) -> None:
    assert warnings_after(*by_turns * 9) == []


def test_ranges_of_other_channels_are_damaged() -> None:
    stream = AnswerStream()
    stream.feed(ranges(*CALM) + SAID + encode_frame(bytes([0x96, 0]) + bytes(15)))
    assert stream.torn == 1


@pytest.mark.parametrize(
    ("built", "words"),
    [
        (BYTES_OF_HASH.hex() + 48 * "0", []),
        ("ab" * 32, ["model 0001020304050607, but live has model abababababababab; to run"]),
    ],
)
def test_a_board_with_another_model_than_the_projects_is_told(
    listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: str, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    board, folder = listener(SAID), Path("live")
    board.wait()
    assert _another_model(folder, board.description) == []  # nothing was built
    folder.mkdir()
    model = quantize(random_model())
    record = json.loads(plan_text(model, make_plan(model))) | {"model_sha256": built}
    (folder / "build.json").write_text(json.dumps(record))
    notices = _another_model(folder, board.description)
    assert len(notices) == len(words)
    assert all(word in str(notice) for word, notice in zip(words, notices, strict=True))


def test_a_board_on_a_port_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = SAID + b"".join(window(25 * number) for number in range(9))

    def speak() -> None:
        with server.accept()[0] as line:
            line.settimeout(DEADLINE_S)
            line.sendall(said)
            while line.recv(99):
                pass

    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as threads:
        server.settimeout(DEADLINE_S)
        board = threads.submit(speak)
        port = f"socket://127.0.0.1:{server.getsockname()[1]}"
        printed = succeed("monitor", "--port", port, "--seconds", 1.25, "--json").stdout
        board.result()
    answers = [json.loads(line) for line in printed.splitlines()]
    assert [each["first_sample"] for each in answers] == [0, 25]
    assert {each["class"] for each in answers} == {"wave"}


SPEED = {"idle": 0, "walking": 4, "running": 9}
HEIGHT = {"idle": 0, "walking": 90, "running": 260}
SAMPLES = 60


def moving(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return windows of counts of an accelerometer, which are easily told apart."""
    t = np.arange(SAMPLES * n) / 50
    swing = [HEIGHT[kind] * np.sin(SPEED[kind] * t + phase) for phase in (0, 1, 2)]
    still = np.array([0, 0, 256])
    counts = np.stack(swing, axis=1) + still + rng.normal(0, 6, (len(t), 3))
    return np.rint(counts).reshape(n, SAMPLES, 3)


def flat(windows: np.ndarray) -> np.ndarray:
    return windows.reshape(len(windows), -1).astype(np.float32)


def test_a_window_of_two_classes_is_less_certain_than_one_of_a_class() -> None:
    rng = np.random.default_rng(0)
    X = flat(np.concatenate([moving(kind, 30, rng) for kind in SPEED]))
    features = "mean,deviation,crossings:2,bands:3"
    classifier = ProtoNNClassifier(
        features=features, window_shape=(SAMPLES, 3), epochs=60, random_state=0
    ).fit(X, np.repeat(list(SPEED), 30))
    model = quantize(classifier.model_)
    mixed = moving("idle", 20, rng)
    mixed[:, SAMPLES // 2 :] = moving("running", 20, rng)[:, SAMPLES // 2 :]
    of_one, of_two = (
        model.policy.find(Confidence).percent(model.scores(model.quantize(points)))
        for points in (X, flat(mixed))
    )
    assert 90 < of_one.mean() < 99
    assert of_two.mean() < of_one.mean() - 10


@pytest.fixture
def hearing() -> Listener:
    hearing = Listener(Line(), "there")
    hearing.stream.feed(live() + named("idle", "walking"))
    return hearing


def drawn(hearing: Listener, answer: WindowAnswer) -> list[str]:
    console = Console(width=100, force_terminal=False)
    with console.capture() as capture:
        console.print(picture(hearing.named(answer)))
    return capture.get().splitlines()


def test_the_word_is_shown_with_the_shares_of_all_classes_and_of_none(hearing: Listener) -> None:
    answer = WindowAnswer.of((0, 0, 0, 1, 0), (55, 40), (-5, 90))
    lines = drawn(hearing, answer)
    assert [line.split()[:3] for line in lines[1:3]] == [
        ["idle", "55", "%"],
        ["walking", "40", "%"],
    ]
    assert lines[0].strip() == "idle"
    assert lines[3].split()[:5] == ["none", "of", "these", "5", "%"]
    assert _line(hearing.named(answer)).endswith("idle 55 %  (window: walking, score 90)")


def test_unknown_is_shown_with_the_share_of_none(hearing: Listener) -> None:
    answer = WindowAnswer.of((0, 0, 0, 255, 255), (20, 10), (-5, 90))
    assert "unknown 70 %  (window: unknown" in _line(hearing.named(answer))


def test_figures_of_false_alarms_are_shown_with_their_interval_and_places() -> None:
    figures = LiveFigures(1 / 36, "rest", 1, ((67.0, "shake"),), ((45.26, "shake"),), ())
    assert figures.facts() == [
        ("events", "1 run of labels other than 'rest'"),
        ("missed events", "1\nshake at 67.0 s"),
        (
            "false alarms",
            "1 in 1.7 min, 36.0 per hour (95 % confidence: 0.9 to 200.6)\nshake at 45.3 s",
        ),
    ]
    assert replace(figures, events=3).facts()[0][1] == "3 runs of labels other than 'rest'"
