"""Boards that classify what they sense, and are taught meanwhile: their scores are NumPy's."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chains import replace as with_numbers
from extensions.sensing.logger_builds import listening, noise
from extensions.sound.audio_factory import audio_of, hearing, random_audio_model
from model_factory import random_window_model, window_features_of

from protonn_edge.chips.boards import Board as TargetBoard
from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard, EmulatedUno
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.device.connection import AnsweringLink
from protonn_edge.device.protocol import Message
from protonn_edge.device.session import Session
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.listener import Listener
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.sensor_board import WindowAnswer
from protonn_edge.extensions.sensing.sensor_kinds import MICROPHONE
from protonn_edge.extensions.sensing.sensor_projects import build_live
from protonn_edge.extensions.sensing.windowing import Windowing, windowing_of
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching import messages
from protonn_edge.extensions.teaching import session as device
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.extensions.teaching.listener import TeachingListener
from protonn_edge.extensions.teaching.messages import LearnReply, TeachRequest
from protonn_edge.model.integer_chain import coordinates
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.files import write_atomically

pytestmark = needs_emulated_avr

UNO = load_board("uno")
ROOM = 4
MOVING = random_window_model(window_features_of("mean,min,max,bands:3", 32, 6))
HEARING = random_audio_model(hearing(audio_of(12, 10, 200)))


def teachable(model: Model, channels: int) -> Model:
    whole = replace(model, raw_exponents=np.zeros(channels, np.int64))
    return with_numbers(whole, teachable=ROOM)


class Board:
    """Firmware, what is played to it, and what it should know."""

    def __init__(
        self,
        model: Model,
        sensor: str,
        rate: float,
        folder: Path,
        chip: TargetBoard = UNO,
        **more: int,
    ) -> None:
        kind = sensor_kind(sensor)
        sampling = Sampling.of([kind], rate, chip)
        self.windows: Windowing = windowing_of(
            quantize(model), model.feature_names, sampling, **more
        )
        built = build_live(model, self.windows)
        assert built.response is not None
        for name, text in built.files.items():
            write_atomically(folder / name, text.replace("-Wall -Wextra", "-Wall -Wextra -Werror"))
        self.elf = build_firmware(folder, chip.environment)
        self.played = self.sounds() if kind is MICROPHONE else noise(307, 6, -300, 300)
        self.sensors = [PlayedSensor(kind, self.played, rate)]
        self.model = self.windows.model
        self.taught = Taught.nothing(teaching.teachable_stage(self.model)[0].n_inputs)

    @staticmethod
    def sounds() -> np.ndarray:
        parts = [512 + noise(2500 + each, 1, -each, each)[:2500] for each in (500, 90, 250)]
        quiet = np.full((1777, 1), 512)
        return np.concatenate([np.concatenate([quiet, part]) for part in parts]).astype(np.int16)

    def inputs(self, answer: WindowAnswer) -> np.ndarray:
        """Return the model's inputs of a window, (1, n)."""
        samples = np.arange(answer.first, answer.first + self.windows.window) % len(self.played)
        raw = self.played[samples][:, self.windows.used]
        return self.model.raw_inputs.quantize(raw.reshape(1, -1))

    def check(self, answer: WindowAnswer) -> None:
        """Compare an answer with NumPy's, of what was taught."""
        Q = self.inputs(answer)
        classes, scores = teaching.with_taught(self.model, self.taught).answers(Q)
        assert (answer.label, list(answer.scores)) == (classes[0], scores[0].tolist())

    def learn(self, answer: WindowAnswer, label: int) -> None:
        point = coordinates(self.model, self.inputs(answer))[0]
        self.taught = self.taught.learn(point, label, ROOM)

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(self.taught.counts(self.model.n_classes).tolist())


CASES = {
    "windows of consecutive samples": (MOVING, "mpu6050", 100.0, {}),
    "windows that overlap": (MOVING, "mpu6050", 100.0, {"hop": 10}),
    "sound": (HEARING, "microphone", 8000.0, {"hop": 2100}),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=list(CASES))
def board(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Board:
    model, sensor, rate, more = request.param
    channels = 1 if sensor == "microphone" else 6
    folder = tmp_path_factory.mktemp("live")
    return Board(teachable(model, channels), sensor, rate, folder, **more)


def test_it_learns_its_last_window_forgets_and_keeps_the_rest_without_power(
    board: Board, tmp_path: Path
) -> None:
    rng, file = np.random.default_rng(0), tmp_path / "eeprom"
    board.taught = Taught.nothing(board.taught.points.shape[1])
    for windows in (9, 5):  # the power is cut in between
        with EmulatedUno(board.elf, sensors=board.sensors, lockstep=True, eeprom=file) as uno:
            teacher = TeachingListener(AnsweringLink(uno.url, UNO.baud), uno.url)
            teacher.wait()
            assert (teacher.taught.room, teacher.taught.counts) == (ROOM, board.counts)
            asked: list[int] = []
            for answer in teacher.answers():
                if isinstance(answer, LearnReply):
                    follow(board, teacher, answer)
                    continue
                board.check(answer)
                if answer.number == windows:
                    break
                asked.append(int(rng.integers(board.model.n_classes)))
                if answer.number % 5 == 4:
                    teacher.forget(asked[-1])
                else:
                    assert teacher.teach(asked[-1]) is None
            assert (teacher.missing, teacher.lost, teacher.stream.torn) == (0, 0, 0)
            assert uno.stats().faults == ()
    assert len(board.taught) > 0


def follow(board: Board, teacher: TeachingListener, reply: LearnReply) -> None:
    """Do on the host what the board has done."""
    [(_, window)] = teacher._asked.values()
    label, outcome, _ = teacher.lesson(reply)
    if outcome == "forgotten":
        board.taught = board.taught.forget(label)
    else:
        assert outcome == "taught"
        assert window is not None
        board.learn(window, label)
    assert reply.examples == len(board.taught)
    assert teacher.taught.counts == board.counts


@pytest.fixture
def moving(tmp_path: Path) -> Board:
    return Board(teachable(MOVING, 6), "mpu6050", 100.0, tmp_path)


@pytest.mark.parametrize("name", ["uno", "mega2560", "leonardo"])
def test_it_answers_requests_as_other_firmware_does(name: str, tmp_path: Path) -> None:
    chip = load_board(name)
    moving = Board(teachable(MOVING, 6), "mpu6050", 100.0, tmp_path, chip)
    emulated = EmulatedBoard(moving.elf, board=chip, sensors=moving.sensors)
    with emulated as uno, Session(uno.url, board=chip) as session:
        about = session.device
        assert about.model_hash.hex() == moving.model.model_sha256[:16]
        assert (about.features, about.classes, about.clock_hz) == (192, 4, 16_000_000)
        while True:  # until there is a window
            try:
                assert device.learn(session, 2) == 1
                break
            except CheckFailed:
                continue
        known = teaching.recalled(moving.model, device.read_store(session))
        windows = moving.model.raw_inputs.quantize(
            np.stack([moving.played[start : start + 32] for start in range(275)]).reshape(275, -1)
        )
        assert known.classes.tolist() == [2]
        assert known.points[0].tolist() in coordinates(moving.model, windows).tolist()
        late = session.ask(TeachRequest(1, 40_000), LearnReply)
        assert (late.learned, late.examples) == (0, 1)
        # Not a PREDICT: the ring buffer can lose bytes of long requests while a window is sent.
        with pytest.raises(CheckFailed, match=r"error 1 \(unknown type of request\)"):
            session.stats()
        with pytest.raises(CheckFailed, match=r"error 2 \(wrong length of payload\)"):
            session.ask(TooShort(), LearnReply)
        assert device.forget(session) == 0
        device.write_store(session, teaching.stored(moving.model, known))
        assert session.ask(TeachRequest(1, 40_000), LearnReply).examples == 1
        assert uno.stats().faults == ()


class TooShort(Message, number=messages.LEARN):
    pass


def test_noise_on_the_line_changes_nothing(moving: Board) -> None:
    rng = np.random.default_rng(0)
    with EmulatedUno(moving.elf, sensors=moving.sensors) as uno:
        with listening(uno.url) as line:
            listener = Listener(line, uno.url)
            listener.wait()
            for answer in islice(listener.answers(), 12):
                assert isinstance(answer, WindowAnswer)
                moving.check(answer)
                line.write(rng.bytes(int(rng.integers(1, 60))))
        assert uno.stats().faults == ()
    assert listener.stream.parts["teaching"].taught is not None
    assert sum(listener.stream.parts["teaching"].taught.counts) == 0
