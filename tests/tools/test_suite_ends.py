"""A suite whose tests fail in their middle, hang or die comes to its end and leaves nothing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import psutil
import pytest
from checkout import CHECKOUT

CONFTEST = """
import atexit
import os
from programs import kill_heirs
from schedule import pytest_timeout_set_timer, pytest_xdist_make_scheduler

if "OF_THIS_SUITE" not in os.environ:
    os.environ["OF_THIS_SUITE"] = "{folder}"
    atexit.register(kill_heirs, "OF_THIS_SUITE")
"""
# Each starts a program that outlasts it unless it is ended; the last one is nobody's child.
STARTS = """
import os, signal, subprocess, sys, time
import pytest
from hypothesis import given, strategies as st
from programs import started

WAITS = (sys.executable, "-c", "import time; time.sleep(600)")
STARTS = "import subprocess as s, sys; s.Popen([sys.executable, *sys.argv[1:]]); print(flush=True)"
PARENT = (sys.executable, "-c", STARTS + "; import time; time.sleep(600)", *WAITS[1:])
"""
FILES = {
    "fails": """
def test_fails():
    with started(*WAITS):
        assert False, "in the middle"

def test_fails_beside_a_child():
    with started(*PARENT, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert False, "in the middle"

def test_goes_on(): pass
""",
    "hangs": """
@pytest.mark.timeout(2)
def test_hangs():
    with started(*WAITS, stdout=subprocess.PIPE) as process:
        process.stdout.readline()

@pytest.mark.timeout(2)
@given(st.integers())
def test_every_example_hangs(number):
    with started(*WAITS, stdout=subprocess.PIPE) as process:
        process.stdout.readline()

def test_goes_on(): pass
""",
    "dies": """
def test_fine(): pass

def test_dies():
    subprocess.run([sys.executable, "-c", STARTS, *WAITS[1:]], check=True)
    os.kill(os.getpid(), signal.SIGKILL)

def test_goes_on(): pass
""",
}


def test_programs_that_wait_for_ever_do_not_stop_a_suite(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(CHECKOUT / "tests"))
    pytester.makeconftest(CONFTEST.format(folder=pytester.path))
    pytester.makepyfile(test_before="def test_fine(): pass")
    pytester.makepyfile(**{f"test_{name}": STARTS + text for name, text in FILES.items()})
    options = ("-n", "1", "--dist", "loadfile", "-p", "no:cacheprovider", "-p", "no:protonn_edge")
    done = pytester.runpytest_subprocess(*options)
    done.assert_outcomes(passed=5, failed=5)
    failed = set(re.findall(r"^FAILED \S+::test_(\w+)", done.stdout.str(), re.MULTILINE))
    assert failed == {"fails", "fails_beside_a_child", "hangs", "every_example_hangs", "dies"}
    assert not [process for process in psutil.process_iter() if is_of(process, pytester.path)]


def is_of(process: psutil.Process, suite: Path) -> bool:
    try:
        return process.environ().get("OF_THIS_SUITE") == str(suite)
    except psutil.Error:  # somebody else's, or a zombie
        return False


@pytest.mark.parametrize("folder", ["tests", "hil_tests"])
def test_what_runs_beside_a_test_ends_with_it(folder: str) -> None:
    places = [
        f"{path.relative_to(CHECKOUT)}:{node.lineno}"
        for path in (CHECKOUT / folder).rglob("*.py")
        if path != CHECKOUT / "tests" / "programs.py"
        if re.search("Popen|Thread", text := path.read_text("utf-8"))  # to parse all takes seconds
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and outlasts(node)
    ]
    assert not places, "use programs.started, which ends them, and Thread(daemon=True)"


def outlasts(call: ast.Call) -> bool:
    """Return whether a call starts a program or a thread that pytest would wait for."""
    started = ast.unparse(call.func).rpartition(".")[2]
    is_daemon = any(each.arg == "daemon" for each in call.keywords)
    return started == "Popen" or (started == "Thread" and not is_daemon)
