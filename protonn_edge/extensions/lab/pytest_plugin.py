"""A pytest plugin with boards under test, and their measurements, as fixtures.

pytest finds the plugin if this package is installed. A wrong, slow or large model fails a test. A
faulty board is an error: it does not answer, was reset by its supply, has different firmware, or is
unplugged. Only a faulty board is measured again; the test summary lists the faults. Other modules
are imported when a fixture is used, because pytest loads this one for all tests.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from protonn_edge.system.errors import (
    CheckFailed,
    DeviceError,
    InputError,
    InstrumentError,
    ProtoNNEdgeError,
)
from protonn_edge.system.wording import Interface, speaking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from protonn_edge.chips.boards import Board
    from protonn_edge.codegen.projects.folder import Project
    from protonn_edge.data.points.model_points import ModelPoints
    from protonn_edge.extensions.lab.boards import BoardUnderTest, LoggingHost
    from protonn_edge.extensions.sensing.listener import Listener
    from protonn_edge.learn.evaluation.measurement import Measurement
    from protonn_edge.model.model import Model
    from protonn_edge.system.arrays import Array

_AT_FAULT = "board_at_fault"  # the property of a test with a repeated measurement
_MEASUREMENT = "pnn_measurement"
_LOG = pytest.StashKey["LoggingHost"]()
_FAULTS = pytest.StashKey[list[str]]()
_LONGEST_WAIT_S = 86_400
_OWN = ("board", "data", "meter", "port", "project", "sensor", "volts", "wait")
_NAMES = {option: f"--pnn-{name}" for name in _OWN for option in (name, f"pnn-{name}")}
_INTERFACE = Interface(_NAMES, "{} {}".format, commands=None)
_OF_BOARDS = (ProtoNNEdgeError, OSError, pytest.fail.Exception)  # errors that a board may cause
_IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ  # a process of pytest -n, which compiles a copy


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of which begin with --pnn."""
    group = parser.getgroup("protonn-edge", "boards under test (protonn-edge)")
    group.addoption(
        "--pnn-port",
        action="append",
        default=[],
        metavar="URL",
        help="a board's port or pyserial URL; repeat the option for several boards; each test "
        "process uses a free one (default: an emulated board)",
    )
    group.addoption("--pnn-board", default="uno", help="the board's name or .toml file")
    group.addoption(
        "--pnn-project",
        type=Path,
        metavar="FOLDER",
        help="the folder that `protonn-edge build` wrote (default: pytest's root folder)",
    )
    group.addoption("--pnn-data", type=Path, metavar="FILE", help="labelled test points")
    group.addoption(
        "--pnn-watts", type=_number(1e-6, 1_000), metavar="W", help="the board's power draw in W"
    )
    group.addoption(
        "--pnn-meter",
        default="none",
        metavar="METER",
        help="a power meter in the first board's supply, named as for `hil --meter`",
    )
    group.addoption(
        "--pnn-volts",
        type=_number(0.1, 60),
        metavar="V",
        help="voltage of the first board's supply",
    )
    group.addoption(
        "--pnn-sensor",
        action="append",
        default=[],
        metavar="NAME=FILE[,rate=HZ]",
        help="a sensor of pnn_monitor's emulated board, and the recording that it replays",
    )
    group.addoption(
        "--pnn-retries",
        type=int,
        choices=range(10),
        default=1,
        metavar="N",
        help="how many times to repeat a measurement if the board is at fault (default: 1)",
    )
    group.addoption(
        "--pnn-wait",
        type=_number(0, _LONGEST_WAIT_S),
        default=60.0,
        metavar="S",
        help="seconds to wait for a board that other tests use (default: 60)",
    )


def _number(low: float, high: float) -> Callable[[str], float]:
    """Return the type of an option that is a number in a range."""

    def read(text: str) -> float:
        with contextlib.suppress(ValueError):
            if low <= float(text) <= high:
                return float(text)
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from {low:g} to {high:,.0f}")

    return read


def pytest_configure(config: pytest.Config) -> None:
    """Create the list of board faults."""
    config.stash[_FAULTS] = []


# --- what is tested ------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def pnn_target(pytestconfig: pytest.Config) -> Board:
    """Provide the kind of board, with its clock and power."""
    from protonn_edge.chips.boards import load_board

    board = load_board(pytestconfig.getoption("--pnn-board"))
    watts = pytestconfig.getoption("--pnn-watts")
    return board if watts is None else replace(board, power_watts=watts)


@pytest.fixture(scope="session")
def pnn_project(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Provide the built project; a conftest.py may build one instead."""
    from protonn_edge.extensions.lab.boards import built_project, copied_project

    project = built_project(pytestconfig.getoption("--pnn-project") or pytestconfig.rootpath)
    if _IS_WORKER:
        return replace(
            project, folder=copied_project(project.folder, tmp_path_factory.mktemp("project"))
        )
    return project


@pytest.fixture(scope="session")
def pnn_model(pnn_project: Project) -> Model:
    """Provide the model of the project."""
    return pnn_project.model()


@pytest.fixture(scope="session")
def pnn_points(
    pytestconfig: pytest.Config, pnn_model: Model
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Provide test points (n, D) and the indices of their classes (n,)."""
    data = pytestconfig.getoption("--pnn-data")
    if data is None:
        raise InputError("there are no test points; name a file with --pnn-data")
    return _read(data, pnn_model).labelled


@pytest.fixture(scope="session")
def pnn_values(pytestconfig: pytest.Config, pnn_model: Model) -> Array | None:
    """Provide the numbers (n,) or sets of labels (n, L) of the points; None if they have classes.

    A conftest.py that provides other points than those of --pnn-data provides them, too.
    """
    data = pytestconfig.getoption("--pnn-data")
    if data is None or pnn_model.policy.predicts == "class":
        return None
    return _read(data, pnn_model).values


def _read(data: Path, model: Model) -> ModelPoints:
    from protonn_edge.data.reading import read_points
    from protonn_edge.model.expected import expected_by

    return read_points(data, expected_by(model))


# --- the board and its measurements --------------------------------------------------------------


@pytest.fixture(scope="session")
def pnn_port(pytestconfig: pytest.Config) -> Iterator[str | None]:
    """Provide the port of a board that no other process uses, or None for the emulated board."""
    from protonn_edge.extensions.lab.boards import held_port

    ports = pytestconfig.getoption("--pnn-port")
    if not ports:
        yield None
        return
    with held_port(ports, pytestconfig.getoption("--pnn-wait")) as url:
        yield url


@pytest.fixture(scope="session")
def pnn_ports(pnn_port: str | None) -> Sequence[str]:
    """Provide the ports of the boards that share the points; a conftest.py may name several."""
    return () if pnn_port is None else (pnn_port,)


@pytest.fixture(scope="session")
def pnn_line_log(pytestconfig: pytest.Config) -> LoggingHost:
    """Provide the record of the line, which the report of a failed test includes."""
    from protonn_edge.extensions.lab.boards import LoggingHost

    log = pytestconfig.stash[_LOG] = LoggingHost()
    return log


@pytest.fixture
def pnn_board(
    pnn_port: str | None, pnn_project: Project, pnn_target: Board, pnn_line_log: LoggingHost
) -> Iterator[BoardUnderTest]:
    """Provide the board, reset for this test, with an open session."""
    from protonn_edge.extensions.lab.boards import board_under_test

    with board_under_test(pnn_project, pnn_target, pnn_port, pnn_line_log) as opened:
        yield opened


@pytest.fixture(scope="session")
def pnn_measurement(
    pytestconfig: pytest.Config,
    pnn_ports: Sequence[str],
    pnn_project: Project,
    pnn_points: tuple[NDArray[np.float32], NDArray[np.int64]],
    pnn_values: Array | None,
    pnn_target: Board,
    pnn_line_log: LoggingHost,
) -> Measurement | CheckFailed:
    """Provide the board's measurement of the test points.

    A test that uses it fails before it begins if a check of the run failed, because a score differs
    from the model's, cycles are impossible, or the firmware exceeds its stack or budget.
    """
    from protonn_edge.device.instruments import instrument_of
    from protonn_edge.extensions.lab.boards import measure_under_test

    meter = pytestconfig.getoption("--pnn-meter"), pytestconfig.getoption("--pnn-volts")
    instrument = instrument_of(*meter)
    if instrument is not None and not pnn_ports:
        raise InputError("--pnn-meter needs a real board; name the board's port with --pnn-port")
    with speaking(_INTERFACE):
        return measure_under_test(
            pnn_project,
            pnn_points,
            pnn_target,
            pnn_ports,
            pnn_line_log,
            retries=pytestconfig.getoption("--pnn-retries"),
            fault=pytestconfig.stash[_FAULTS].append,
            instrument=instrument,
            values=pnn_values,
        )


@pytest.fixture
def pnn_monitor(
    pytestconfig: pytest.Config,
    pnn_port: str | None,
    pnn_target: Board,
    pnn_line_log: LoggingHost,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Listener]:
    """Provide the answers of firmware with a sensor, as in `protonn-edge monitor`."""
    from protonn_edge.extensions.lab.boards import live_board

    folder = pytestconfig.getoption("--pnn-project") or pytestconfig.rootpath
    played = pytestconfig.getoption("--pnn-sensor")
    copy = tmp_path_factory.mktemp("live") if _IS_WORKER else None
    with live_board(folder, pnn_target, pnn_port, played, pnn_line_log, copy) as listener:
        yield listener


# --- failures and errors -------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a test if its measurement failed; otherwise, record the figures for JUnit.

    A figure that does not exist is an error with the names of those that do.
    """
    measurement: Any = getattr(item, "funcargs", {}).get(_MEASUREMENT)
    if measurement is not None:
        from protonn_edge.learn.evaluation.measurement import Measurement

        failure = measurement
        if isinstance(measurement, Measurement):  # a conftest.py may provide something else
            failure = measurement.device_fault or measurement.failure
            item.user_properties += [] if failure else _figures(measurement)
        if isinstance(failure, DeviceError | InstrumentError):
            raise failure
        if isinstance(failure, CheckFailed):
            with speaking(_INTERFACE):
                pytest.fail(str(failure), pytrace=False)
    try:
        yield
    except AttributeError as error:
        if type(error.obj).__module__.partition(".")[0] == __name__.partition(".")[0]:
            names = (name for name in dir(error.obj) if not name.startswith("_"))
            error.add_note(f"{type(error.obj).__name__} has {', '.join(names)}")
        raise


def _figures(measurement: Measurement) -> list[tuple[str, object]]:
    """Return the figures of a measurement, with the names of its properties."""
    repeated = measurement.repetition
    power = {}
    if repeated is not None and repeated.power is not None:
        power = repeated.power.to_json(measurement.latency_ms.mean)
    figures = {f"metered_{name}": power[name] for name in power if name.endswith("_mj")}
    figures["points"] = measurement.summary.n
    for each in measurement.figures:
        if each.spread:
            spread = {"mean": each.value, **each.spread}
            figures |= {f"{each.key}_{name}": value for name, value in spread.items()}
        else:
            figures[each.key] = each.value
    figures["stack_bytes"] = measurement.stack_bytes  # as measured, in place of the bound
    figures.pop("stack_peak_bytes", None)  # the same
    return [
        (name, value if isinstance(value, int) else float(f"{value:.9g}"))
        for name, value in figures.items()
    ]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a board at fault as an error, and add the record of its line to the report."""
    used = [name for name in getattr(item, "fixturenames", ()) if name.startswith("pnn_")]
    if call.when == "setup" and _MEASUREMENT in used:
        item.user_properties += [(_AT_FAULT, fault) for fault in item.config.stash[_FAULTS]]
    report = yield
    if call.excinfo is None or not report.failed or not used:
        return report
    if call.when == "call" and call.excinfo.errisinstance((DeviceError, InstrumentError)):
        report.when = "setup"  # a problem before a test is an error, not a failure
    if report.when == "setup" and call.excinfo.errisinstance(ProtoNNEdgeError):
        with speaking(_INTERFACE):
            report.longrepr = str(call.excinfo.value)
    # The bytes of the line explain neither a figure above its limit nor a mistake in a test.
    explained = (AssertionError, *_OF_BOARDS) if "pnn_board" in used else _OF_BOARDS
    if call.excinfo.errisinstance(explained):
        log = item.config.stash.get(_LOG, None)
        report.sections += [("serial line of the board", log.text)] if log and log.text else []
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the boards that were measured again or lost, and why."""
    reports = [each for kind in terminalreporter.stats.values() for each in kind]
    properties = [pair for each in reports for pair in getattr(each, "user_properties", ())]
    faults = dict.fromkeys(text for name, text in properties if name == _AT_FAULT)
    if faults:
        terminalreporter.section("boards at fault")
        for fault in faults:
            terminalreporter.write_line(fault)
