"""The device to test: the board at --pnn-port or, by default, the emulated Uno.

The fixtures that begin with pnn_ are those of this package's plugin for pytest. Both boards run the
firmware that `protonn-edge build` wrote to --pnn-project; for a real board, the default is the
current folder. Without --pnn-project, a small model of scikit-learn's digits is built for the
emulated Uno.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import serial
from numpy.typing import NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.data.reading import load_points
from protonn_edge.device import protocol
from protonn_edge.device.session import Session
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.expected import expected_by
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model, raw_ends
from protonn_edge.system.extensions import extensions

if TYPE_CHECKING:
    from protonn_edge.extensions.lab.boards import BoardUnderTest

DEADLINE_S = 10.0

# Without the extension that has boards under test, there is nothing to run.
collect_ignore_glob = [] if "lab" in {each.name for each in extensions()} else ["test_*.py"]

Record = Callable[[str, object], None]  # the type of pytest's fixture record_property


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("protonn-edge")
    group.addoption(
        "--accuracy-floor",
        type=float,
        help="the lowest allowed accuracy, 0 to 1 (default: the floor in the model's record)",
    )
    group.addoption("--energy-limit", type=float, help="the most energy of a prediction, in mJ")


# --- what the device runs ------------------------------------------------------------------------


@pytest.fixture(scope="session")
def pnn_project(
    pytestconfig: pytest.Config, pnn_target: Board, tmp_path_factory: pytest.TempPathFactory
) -> Project:
    """Return the built folder if a folder or board is given; otherwise, build the digits."""
    from protonn_edge.extensions.lab.boards import built_project

    named = pytestconfig.getoption("--pnn-project")
    if named is not None or pytestconfig.getoption("--pnn-port"):
        project: Project = built_project(named or pytestconfig.rootpath)
        return project
    _need_avr_tools()
    digits = load_digits_dataset()
    classifier = ProtoNNClassifier(n_prototypes=30, normalization="standard", epochs=15)
    classifier.fit(digits.X_train, digits.y_train)
    classifier.set_accuracy_floor(digits.X_test, digits.y_test)
    made = tmp_path_factory.mktemp("digits")
    build(classifier.to_model(classes=digits.classes), pnn_target, made)
    return Project(made)


@pytest.fixture(scope="session")
def generated(pnn_project: Project) -> tuple[IntegerChain, DevicePlan]:
    return pnn_project.generated()


@pytest.fixture(scope="session")
def reference(generated: tuple[IntegerChain, DevicePlan]) -> IntegerChain:
    return generated[0]


@pytest.fixture(scope="session")
def plan(generated: tuple[IntegerChain, DevicePlan]) -> DevicePlan:
    return generated[1]


@pytest.fixture(scope="session")
def labelled(pytestconfig: pytest.Config, pnn_model: Model) -> bool:
    """Return whether the classes of the points are known."""
    digits = load_digits_dataset()
    return pytestconfig.getoption("--pnn-data") is not None or (
        (pnn_model.n_features, pnn_model.classes) == (64, digits.classes)
    )


@pytest.fixture(scope="session")
def pnn_points(
    pytestconfig: pytest.Config, pnn_model: Model, labelled: bool
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return --pnn-data, or the digits for a model of digits, or random points."""
    data = pytestconfig.getoption("--pnn-data")
    if data is not None:
        return load_points(data, expected_by(pnn_model))
    if labelled:
        digits = load_digits_dataset()
        return np.asarray(digits.X_test, np.float32), digits.y_test
    low, high = (np.resize(end, pnn_model.n_features) for end in raw_ends(pnn_model))
    X = np.random.default_rng(0).uniform(low, high, (200, len(low)))
    return X.astype(np.float32), np.zeros(len(X), np.int64)


@pytest.fixture(scope="session")
def rows(reference: IntegerChain, pnn_points: tuple[NDArray[np.float32], Any]) -> NDArray[np.uint8]:
    """Return the points (n, D) in the form that the device receives."""
    return reference.quantize(pnn_points[0])


def _need_avr_tools() -> None:
    if shutil.which("avr-gcc") is None or not Path("/usr/include/simavr").is_dir():
        pytest.skip(
            "the AVR tools are missing; install gcc, gcc-avr, avr-libc and libsimavr-dev with apt"
        )


# --- the device ----------------------------------------------------------------------------------


@pytest.fixture
def session(pnn_board: BoardUnderTest) -> Session:
    """Yield a session with the device, which is reset first."""
    session: Session = pnn_board.session
    return session


class Line:
    """Sends raw bytes to the device, and reads its frames."""

    def __init__(self, link: serial.Serial) -> None:
        self._link = link
        self._splitter = protocol.FrameSplitter(2000)
        self._frames: list[bytes] = []

    def send(self, data: bytes) -> None:
        self._link.write(data)

    def receive(self, deadline_s: float = DEADLINE_S) -> tuple[int, protocol.Message] | None:
        """Return the sequence number and the content of the next message, None if none arrives."""
        end = time.monotonic() + deadline_s
        while not self._frames:
            if time.monotonic() > end:
                return None
            self._frames += self._splitter.feed(self._link.read(1))
        body = protocol.decode_frame(self._frames.pop(0))
        return body[1], protocol.decode_message(body)


@pytest.fixture
def line(pnn_board: BoardUnderTest, pnn_target: Board) -> Iterator[Line]:
    """Yield the raw line, after the device has answered HELLO and nothing is left to read."""
    pnn_board.session.__exit__()
    url = pnn_board.url
    with serial.serial_for_url(url, baudrate=pnn_target.baud, timeout=0.05) as link:
        opened = Line(link)
        for _ in range(40):
            opened.send(b"\x00" + protocol.encode_message(protocol.HelloRequest(), 0))
            if opened.receive(0.25) is not None:
                break
        else:
            pytest.fail(f"no device answered on {url}; upload the firmware", pytrace=False)
        while opened.receive(0.25) is not None:
            pass
        yield opened
