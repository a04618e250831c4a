"""A model at fault fails a user's test; a board at fault is an error, and is measured again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from simulated_board import EXPECTED, FAILED, PASSED, simulate

from protonn_edge import LinearRegressor
from protonn_edge.chips import boards
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.project import build

TESTS = "test_board.py"


def run(user: pytest.Pytester, *options: object) -> pytest.RunResult:
    return user.runpytest_inprocess(TESTS, *map(str, options))


def test_a_good_model_passes_and_its_figures_are_in_the_xml(user):
    run(user, "--junitxml=report.xml").assert_outcomes(passed=1)
    properties = ET.parse(user.path / "report.xml").iter("property")
    figures = {each.get("name"): float(each.get("value")) for each in properties}
    assert figures["accuracy"] >= 0.9
    assert figures["points"] == 60
    assert 0 < figures["cycles_mean"] <= figures["cycles_max"]
    assert 0 < figures["stack_bytes"] <= 200
    assert figures["energy_mj_mean"] == pytest.approx(0.2455 * figures["latency_ms_mean"], rel=1e-3)


def test_a_limit_that_is_passed_is_a_failure_with_the_figure(user):
    user.makepyfile(
        test_board="""
        def test_fast(pnn_measurement):
            assert pnn_measurement.cycles.max <= 100
        def test_small(pnn_measurement):
            assert pnn_measurement.stack_bytes <= 1
        def test_flash(pnn_measurement):
            assert pnn_measurement.usage.flash_bytes <= 32_256
        """
    )
    result = run(user)
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(["*assert * <= 100", "*where * = Spread(*).max"])
    result.stdout.fnmatch_lines(["*assert * <= 1", "*<Measurement mismatches: *.stack_bytes"])
    result.stdout.no_fnmatch_line("*line of the board*")


@pytest.mark.parametrize(
    ("mistake", "names"),
    [
        ("pnn_measurement.usage.flash", "Usage has *flash_bytes, *sram_bytes, *stack_bytes*"),
        ("pnn_measurement.cycles.average", "Spread has max, mean, min, *p99*"),
        ("pnn_board.predict", "BoardUnderTest has classify, session, url"),
        ("(1).flash", None),
    ],
)
def test_a_figure_that_does_not_exist_is_an_error_with_those_that_do(
    user, mistake: str, names: str | None
):
    code = f"def test_mistaken(pnn_measurement, pnn_board):\n    assert {mistake} <= 1"
    user.makepyfile(test_board=code)
    result = run(user)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*AttributeError*", f"*{names}"] if names else ["*AttributeError*"]
    )
    result.stdout.no_fnmatch_line("*line of the board*")
    if names is None:
        result.stdout.no_fnmatch_line("* has *, *")


def test_a_model_of_numbers_has_an_error_in_place_of_an_accuracy(pytester: pytest.Pytester):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 2))
    y = 2 * X[:, 0] - X[:, 1] + rng.normal(0, 0.02, 120)
    text = "a,b,y\n" + "".join(f"{a:.4f},{b:.4f},{c:.4f}\n" for (a, b), c in zip(X, y, strict=True))
    (pytester.path / "numbers.csv").write_text(text)
    build(LinearRegressor().fit(X, y).to_model(), load_board("uno"), pytester.path)
    pytester.makepyfile(
        test_board="""
        def test_error(pnn_measurement):
            assert pnn_measurement.mean_absolute_error <= 0.1
            assert pnn_measurement.errors["r2"] > 0.9
        def test_accuracy(pnn_measurement):
            assert pnn_measurement.accuracy > 0.9
        """
    )
    result = run(pytester, "--pnn-data", "numbers.csv", "--junitxml=report.xml")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*predicts a number*use mean_absolute_error*"])
    properties = ET.parse(pytester.path / "report.xml").iter("property")
    figures = {each.get("name"): float(each.get("value")) for each in properties}
    assert 0 < figures["mean_absolute_error"] <= 0.1
    assert "accuracy" not in figures


def test_a_failed_check_fails_a_test_that_does_not_ask_for_it(user):
    simulate(user, "changed weight")
    user.makepyfile(test_board="def test_nothing(pnn_measurement):\n    pass")
    result = run(user, "--pnn-port", "board")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*board differs from the NumPy model at * of 60 points*"])


def test_generated_code_that_was_changed_is_an_error_of_one_sentence(user):
    with (user.path / "firmware" / "generated" / "pnn_model.c").open("a") as source:
        source.write("/* changed */\n")
    result = run(user)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*pnn_model.c*build*"])


@pytest.mark.parametrize(
    "fault",
    [fault for fault, ended in EXPECTED.items() if ended not in (PASSED, FAILED)],
)
def test_a_board_at_fault_is_an_error_that_names_the_fault(user, fault):
    simulate(user, fault)
    result = run(user, "--pnn-port", "board")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{EXPECTED[fault]}*"])
    result.stdout.fnmatch_lines(["*boards at fault*"])


def test_a_port_that_cannot_be_opened_is_a_fault_of_the_board(user):
    port = user.path / "port"
    result = run(user, "--pnn-port", port)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*boards at fault*", f"cannot open {port} *--pnn-port*"])


def test_a_board_that_is_well_again_passes_and_the_summary_names_its_fault(user):
    simulate(user, "brown-out", "none")
    result = run(user, "--pnn-port", "board", "--junitxml=report.xml")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*boards at fault*", "board was reset by a brown-out*"])
    names = [each.get("name") for each in ET.parse(user.path / "report.xml").iter("property")]
    assert "board_at_fault" in names


@pytest.mark.parametrize("fault", ["changed weight", "too many cycles", "too much stack"])
def test_a_model_at_fault_is_measured_once_and_fails(user, fault):
    simulate(user, fault, "none")
    run(user, "--pnn-port", "board").assert_outcomes(failed=1)


def test_a_test_body_that_loses_its_board_is_an_error(user):
    user.makepyfile(
        test_board="""
        from protonn_edge.system.errors import DeviceError
        def test_body(pnn_line_log):
            raise DeviceError("the board was unplugged; plug it in")
        """
    )
    result = run(user)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the board was unplugged; plug it in"])


def test_the_board_answers_in_classes_and_a_failure_shows_its_line(user):
    user.makepyfile(
        test_board="""
        def test_classes(pnn_board, pnn_project, pnn_points):
            X, reference = pnn_points[0][:9], pnn_project.generated()[0]
            classes = reference.answers(reference.quantize(X))[0]
            assert pnn_board.classify(X) == [reference.classes[label] for label in classes]
            assert pnn_board.session.stats().stack_bytes > 0
        def test_wrong(pnn_board):
            assert pnn_board.session.stats().stack_bytes < 0
        """
    )
    result = run(user)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*line of the board*", "*to the board*", "*from the board*"])


def test_each_process_takes_a_board_of_its_own(user):
    body = """
        import pathlib, time
        def test_port(pnn_port, record_property):
            record_property("port", pnn_port)
            pathlib.Path(__file__).with_suffix(".began").touch()
            end = time.monotonic() + 30
            while len(list(pathlib.Path(__file__).parent.glob("*.began"))) < 2:
                assert time.monotonic() < end
                time.sleep(0.05)
        """
    user.makepyfile(test_one=body, test_two=body)
    options = ["--pnn-port", "socket://one:1", "--pnn-port", "socket://two:2"]
    result = user.runpytest_subprocess(
        "test_one.py", "test_two.py", "-n2", "--junitxml=report.xml", *options
    )
    result.assert_outcomes(passed=2)
    properties = ET.parse(user.path / "report.xml").iter("property")
    assert sorted(each.get("value") for each in properties) == ["socket://one:1", "socket://two:2"]


def test_a_conftest_may_replace_the_measurement(user):
    user.makeconftest("import pytest\n@pytest.fixture\ndef pnn_measurement():\n    return 0.5\n")
    user.makepyfile(test_board="def test_own(pnn_measurement):\n    assert pnn_measurement < 1")
    run(user).assert_outcomes(passed=1)


def test_a_replaced_measurement_of_a_board_at_fault_is_an_error(user):
    user.makeconftest(
        """
        import pytest
        from protonn_edge.learn.evaluation.measurement import measure
        from simulated_board import SimulatedBoard

        @pytest.fixture
        def pnn_measurement(pnn_project, pnn_points, pnn_target):
            host = SimulatedBoard(pnn_project).with_fault("brown-out")
            return measure(pnn_project, pnn_points, pnn_target, ports=["board"], host=host)
        """
    )
    result = run(user)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*board was reset by a brown-out*"])


@pytest.mark.parametrize(
    "option",
    ["--pnn-wait=nan", "--pnn-wait=-1", "--pnn-wait=1e9", "--pnn-wait=soon", "--pnn-watts=0"],
)
def test_a_number_out_of_range_is_refused(user, option):
    result = run(user, option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*argument {option.partition('=')[0]}: * is not a number from *"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--pnn-project", "nowhere"], "*no model was built in nowhere*"),
        (["--pnn-board", "mega2560"], "*built for an ATmega328P*does not run on mega2560*"),
        (["--pnn-board", "mine.toml"], "*: no [[]env:mine[]]; build the model for this board*"),
        (
            ["--pnn-port", "/dev/no-such-port", "--pnn-retries", "0"],
            "*cannot open /dev/no-such-port *choose another port with --pnn-port",
        ),
        (["-o", "addopts="], "*there are no test points*--pnn-data*"),
        (["--pnn-board", "unknown"], "*unknown*"),
        (
            ["--pnn-meter", "ina219:COM7"],
            "*--pnn-meter needs a real board; name the board's port with --pnn-port*",
        ),
        (["--pnn-meter", "ppk2:COM7", "--pnn-port", "x"], "*state it, *in pytest by --pnn-volts*"),
        (["--pnn-meter", "scale"], "*meter: 'scale', expected one of*"),
    ],
)
def test_what_is_missing_is_an_error_of_one_sentence(user, options, words):
    shutil.copy(Path(boards.__file__).parent / "uno.toml", user.path / "mine.toml")
    result = run(user, *options)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([words])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_pytest_starts_without_the_packages_that_a_board_needs():
    code = "import sys, protonn_edge.extensions.lab.pytest_plugin; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
