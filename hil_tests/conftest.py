"""A device to test: the board at --port, or, when none is given, the emulated Uno.

pytest.ini describes the options.

Both run the firmware of --build-dir, where `protonn-edge build` was run; for a board the default is
the current checkout. The emulated Uno without --build-dir gets a small model of scikit-learn's
digits, made for the occasion.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import serial
from numpy.typing import NDArray

from protonn_edge.avr.program import read_program
from protonn_edge.boards import Board, load_board
from protonn_edge.build.checks import Usage, measure_usage
from protonn_edge.build.folder import Project
from protonn_edge.build.project import build
from protonn_edge.chain.model import Model
from protonn_edge.codegen import DevicePlan
from protonn_edge.datasets import load_digits_dataset, load_points
from protonn_edge.datasets.preparation import Preparation
from protonn_edge.device import ReferenceAnswers, Run, Session, protocol, run
from protonn_edge.emulator import EmulatedBoard
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.quantization import DeviceModel
from protonn_edge.verification.agreement import open_session

DEADLINE_S = 10.0

Record = Callable[[str, object], None]  # the type of pytest's fixture record_property


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("device")
    group.addoption("--port", help="a board's port, for example /dev/ttyACM0, or a pyserial URL")
    group.addoption("--board", default="uno", help="its name, or its .toml file (default: uno)")
    group.addoption("--build-dir", type=Path, help="where `protonn-edge build` was run")
    group.addoption("--data", type=Path, help="the model's test points (default: the digits)")
    group.addoption(
        "--accuracy-floor",
        type=float,
        help="least share of right answers (default: the floor in the model's record)",
    )
    group.addoption("--watts", type=float, help="what the board draws (default: its figure)")
    group.addoption("--energy-limit", type=float, help="most mJ that a prediction may take")


@dataclass(frozen=True)
class Points:
    """Test points as the device takes them; `y` is None where their classes are not known.

    Scores and classes are the reference's answers.
    """

    Q: NDArray[np.uint8]
    scores: NDArray[np.int64]
    y: NDArray[np.int64] | None
    classes: NDArray[np.int64]


# --- what the device runs ------------------------------------------------------------------------


@pytest.fixture(scope="session")
def board(pytestconfig: pytest.Config) -> Board:
    board = load_board(pytestconfig.getoption("--board"))
    watts = pytestconfig.getoption("--watts")
    return board if watts is None else replace(board, power_watts=watts)


@pytest.fixture(scope="session")
def project(
    pytestconfig: pytest.Config, board: Board, tmp_path_factory: pytest.TempPathFactory
) -> Project:
    """Give the folder that was built, where one is named or a board is; else build the digits."""
    named = pytestconfig.getoption("--build-dir")
    if named is not None or pytestconfig.getoption("--port") is not None:
        folder = named or pytestconfig.rootpath
        if Project(folder).built:
            return Project(folder)
        pytest.fail(
            f"no model was built in {folder}; run `protonn-edge build --board {board.name} "
            "model.npz` there, then `protonn-edge upload`, or name another folder with --build-dir",
            pytrace=False,
        )
    _need_avr_tools()
    digits = load_digits_dataset()
    classifier = ProtoNNClassifier(n_prototypes=30, normalization="standard", epochs=15)
    classifier.fit(digits.X_train, digits.y_train)
    classifier.set_accuracy_floor(digits.X_test, digits.y_test)
    model = classifier.to_model(classes=digits.classes)
    made = tmp_path_factory.mktemp("digits")
    build(model, board, made)
    return Project(made)


@pytest.fixture(scope="session")
def model(project: Project) -> Model:
    return project.model()


@pytest.fixture(scope="session")
def generated(project: Project) -> tuple[DeviceModel, DevicePlan]:
    return project.generated()


@pytest.fixture(scope="session")
def reference(generated: tuple[DeviceModel, DevicePlan]) -> DeviceModel:
    return generated[0]


@pytest.fixture(scope="session")
def plan(generated: tuple[DeviceModel, DevicePlan]) -> DevicePlan:
    return generated[1]


@pytest.fixture(scope="session")
def elf(project: Project, board: Board) -> Path:
    _need_avr_tools()
    return project.compile(board)


@pytest.fixture(scope="session")
def usage(elf: Path, board: Board) -> Usage:
    return measure_usage(read_program(elf))


@pytest.fixture(scope="session")
def points(pytestconfig: pytest.Config, model: Model, reference: DeviceModel) -> Points:
    """Give --data, or the digits for a model of digits, or random points."""
    data = pytestconfig.getoption("--data")
    digits = load_digits_dataset()
    if data is not None:
        X, y = load_points(
            data,
            classes=model.classes,
            n_features=model.n_features,
            preparation=Preparation.of_record(model.record, model.n_features),
            feature_names=model.feature_names,
        )
        Q = reference.quantize(X)
    elif (model.n_features, model.classes) == (64, digits.classes):
        Q, y = reference.quantize(digits.X_test), digits.y_test
    else:
        size, top = (200, model.n_features), reference.features.maximum
        Q, y = np.random.default_rng(0).integers(0, top, size, np.uint8, endpoint=True), None
    classes, scores = reference.answers(Q)
    return Points(Q, scores, y, classes)


def _need_avr_tools() -> None:
    if shutil.which("avr-gcc") is None or not Path("/usr/include/simavr").is_dir():
        pytest.skip(
            "the AVR tools are missing; to run: apt install gcc gcc-avr avr-libc libsimavr-dev"
        )


# --- the device ----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def url(pytestconfig: pytest.Config, board: Board, request: pytest.FixtureRequest) -> Iterator[str]:
    port = pytestconfig.getoption("--port")
    if port is not None:
        yield port
        return
    with EmulatedBoard(request.getfixturevalue("elf"), board=board) as emulated:
        yield emulated.url
        assert emulated.stats().faults == ()


@pytest.fixture
def session(url: str, reference: DeviceModel, board: Board) -> Iterator[Session]:
    """Give a conversation with the device, which was reset for it."""
    with open_session(url, reference, board) as opened:
        yield opened


@pytest.fixture(scope="session")
def done(url: str, reference: DeviceModel, points: Points, board: Board) -> Run:
    """Give what the device answers for all points; they are sent once, as fast as the line goes."""
    y = np.zeros(len(points.Q), np.int64) if points.y is None else points.y
    with open_session(url, reference, board) as opened:
        expected = ReferenceAnswers(points.scores, points.classes, reference.score_tolerance)
        return run([opened], points.Q, y, expected)


class Line:
    """Raw bytes to the device, frames from it."""

    def __init__(self, link: serial.Serial) -> None:
        self._link = link
        self._splitter = protocol.FrameSplitter(2000)
        self._frames: list[bytes] = []

    def send(self, data: bytes) -> None:
        self._link.write(data)

    def receive(self, deadline_s: float = DEADLINE_S) -> tuple[int, protocol.Message] | None:
        """Return the sequence number and the content of the next message, None if none comes."""
        end = time.monotonic() + deadline_s
        while not self._frames:
            if time.monotonic() > end:
                return None
            self._frames += self._splitter.feed(self._link.read(1))
        body = protocol.decode_frame(self._frames.pop(0))
        return body[1], protocol.decode_message(body)


@pytest.fixture
def line(url: str, board: Board) -> Iterator[Line]:
    """Give the raw line, after the device has answered HELLO and nothing is left to read."""
    with serial.serial_for_url(url, baudrate=board.baud, timeout=0.05) as link:
        opened = Line(link)
        for _ in range(40):
            opened.send(b"\x00" + protocol.encode_message(protocol.HelloRequest(), 0))
            if opened.receive(0.25) is not None:
                break
        else:
            pytest.fail(f"no device answered on {url}; is the firmware on it?", pytrace=False)
        while opened.receive(0.25) is not None:
            pass
        yield opened
