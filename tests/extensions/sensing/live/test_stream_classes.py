"""The classes that this computer finds in a logger's samples are those of the board's firmware."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from extensions.sensing.logger_builds import compile_logger, listening, noise
from failing_link import FailingLink, Faults
from model_factory import random_window_model, window_features_of

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.codegen.planner import make_plan
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.listener import Listener
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.recorder import Recorder, Samples
from protonn_edge.extensions.sensing.sensor_board import WindowAnswer
from protonn_edge.extensions.sensing.sensor_projects import live_files, windowing_for
from protonn_edge.extensions.sensing.stream_classes import StreamAnswer, StreamClassifier
from protonn_edge.extensions.sensing.windowing import Windowing
from protonn_edge.model.policy import with_rules
from protonn_edge.policy.confidence.rule import Sharpness
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import write_atomically

UNO = load_board("uno")
PLAYED = PlayedSensor(sensor_kind("mpu6050"), noise(1000, 6), 100.0)
WINDOWS = 1000  # of which each answer is compared: all that begin in what is played
PLACES = {sample.tobytes(): place for place, sample in enumerate(PLAYED.values)}
RESETS = 3


def windowing(hop: int = 8, features: str = "mean,min,max,bands:3", window: int = 32) -> Windowing:
    model = with_rules(
        random_window_model(window_features_of(features, window, 6)), Sharpness(0.01)
    )
    model = replace(model, raw_exponents=np.zeros(6, np.int64))
    return windowing_for(model, ("mpu6050",), UNO, rate=100.0, hop=hop, votes=3)


def of_board(folder: Path, windows: Windowing) -> dict[int, WindowAnswer]:
    """Return the answers of the board's own firmware, by the place of their first sample."""
    for name, text in live_files(windows, make_plan(windows.model)).items():
        write_atomically(folder / name, text)
    elf = build_firmware(folder, "uno")
    with EmulatedUno(elf, sensors=[PLAYED]) as uno, listening(uno.url) as line:
        listener = Listener(line, uno.url)
        listener.wait()
        seconds = (WINDOWS * windows.hop + windows.window) / 100
        return {
            answer.first % len(PLAYED.values): answer
            for answer in listener.answers(seconds)
            if isinstance(answer, WindowAnswer)
        }


def fed(windows: Windowing, *pieces: tuple[int, int]) -> list[StreamAnswer]:
    """Return the answers for pieces of what is played, from a sample to before another one."""
    classifier = StreamClassifier(windows)
    return [
        answer
        for begin, end in pieces
        for answer in classifier.feed(Samples(begin, PLAYED.values[begin:end]))
    ]


@needs_emulated_avr
def test_each_answer_is_the_boards_also_over_a_bad_line_and_after_resets(tmp_path: Path) -> None:
    windows = windowing(1, "mean,max", 12)
    board = of_board(tmp_path / "live", windows)
    assert len(board) == WINDOWS
    logger = compile_logger(tmp_path, 100.0, "mpu6050")
    classifier, compared, alike, firsts = StreamClassifier(windows), 0, 0, list[int]()
    with (
        EmulatedUno(logger, sensors=[PLAYED]) as uno,
        FailingLink(uno.port, Faults(drop=0.0005), seed=3) as link,
        listening(link.url) as line,
    ):
        recorder = Recorder(line, link.url)
        recorder.wait()
        # On a slow computer, a second's samples may be those of several resets' worth of windows.
        while compared < WINDOWS or recorder.stream.resets < RESETS:
            for samples in recorder.listen(1.0):
                # After a reset, numbers begin again; the sensor goes on where it was.
                ahead = PLACES[samples.values[0].tobytes()] - samples.first
                for answer in classifier.feed(samples):
                    theirs = board[(answer.first + ahead) % len(PLAYED.values)]
                    assert tuple(answer.scores.values()) == theirs.scores
                    assert answer.label == windows.model.classes[theirs.label]
                    firsts = [*firsts, answer.first][-windows.votes :]
                    whole = firsts == [*range(answer.first - 2, answer.first + 1)]
                    if whole and theirs.number >= windows.votes:  # of the same windows
                        assert tuple(answer.shares.values()) == theirs.shares
                        alike += 1
                    compared += 1
            if compared > WINDOWS * (recorder.stream.resets + 1) / (RESETS + 1):
                uno.reset()
        assert recorder.stream.lost > 0
        assert alike > WINDOWS / 2


def test_all_answers_are_those_of_the_model_and_its_reports() -> None:
    windows = windowing()
    answers = fed(windows, (0, 333), (333, 1000))
    assert [answer.first for answer in answers] == list(range(0, 1000 - 31, 8))
    at = np.array([answer.first for answer in answers])[:, None] + np.arange(32)
    inputs = windows.model.raw_inputs.quantize(PLAYED.values[at].reshape(len(at), -1))
    labels, scores = windows.model.answers(inputs)
    assert [[*answer.scores.values()] for answer in answers] == scores.tolist()
    assert [answer.label for answer in answers] == [windows.model.classes[each] for each in labels]


def test_no_window_spans_a_gap_and_a_reset_forgets_what_was_reported() -> None:
    windows = windowing()
    answers = fed(windows, (0, 40), (45, 80), (0, 40))
    assert [answer.first for answer in answers] == [0, 8, 45, 0, 8]
    assert answers[3].reported is None


def test_windows_may_have_gaps() -> None:
    answers = fed(windowing(hop=50), (0, 31), (31, 60), (60, 140))
    assert [answer.first for answer in answers] == [0, 50, 100]


def test_windows_that_begin_with_a_sound_are_left_to_the_board(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    windows = windowing(hop=40)
    monkeypatch.setattr(Windowing, "triggered", property(lambda _: True))
    with pytest.raises(InputError, match="begin with a sound"):
        StreamClassifier(windows)
