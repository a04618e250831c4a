"""What gets past all checks ends a command in one sentence: no traceback, no warning of NumPy."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from extension_parts import needs

from protonn_edge.cli.command import BUG_EXIT_CODE, OUTPUT, TRACEBACK_VARIABLE, command


def command_of(body):
    @command("odd")
    def odd(out=OUTPUT):
        body()

    return odd


def overflow():
    np.array([1e300]) * np.array([1e300])


def not_a_number():
    np.array([np.inf]) - np.array([np.inf])


def division():
    np.array([1.0]) / np.array([0.0])


@pytest.mark.parametrize("body", [overflow, not_a_number, division])
def test_numbers_that_leave_the_floats_become_one_sentence(body):
    done = CliRunner().invoke(command_of(body), [])
    assert done.exit_code == 2
    assert done.stderr.startswith("error: a number in the input or an option is too large")
    assert len(done.stderr.splitlines()) == 1


def test_what_vanishes_is_no_error():
    done = CliRunner().invoke(command_of(lambda: np.exp(np.array([-1e6]))), [])
    assert (done.exit_code, done.stderr) == (0, "")


def unmapped():
    raise ImportError("scipy/x.so: failed to map segment from shared object")


def test_a_library_that_does_not_fit_into_memory_is_no_bug(monkeypatch):
    monkeypatch.delenv(TRACEBACK_VARIABLE)
    done = CliRunner().invoke(command_of(unmapped), [])
    assert done.exit_code == 2
    assert done.stderr.startswith("error: the command needs more memory than is available; ")


def test_a_current_folder_that_was_deleted_is_named(monkeypatch):
    def gone():
        raise FileNotFoundError(2, "No such file or directory")  # os.getcwd names no file

    done = CliRunner().invoke(command_of(gone), [])
    assert done.exit_code == 2
    assert done.stderr.startswith("error: cannot use the current folder: No such file")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full: run it on Linux")
@pytest.mark.parametrize("words", [["--help"], ["inspect", "--help"], ["--version"]])
def test_a_help_text_that_cannot_be_written_is_one_sentence(words):
    program = "from protonn_edge.cli import main; main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert (
        done.stderr
        == "error: cannot print the help text: No space left on device; redirect the output\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell: run it elsewhere")
@pytest.mark.parametrize(
    ("words", "exit_code", "says"),
    [
        (["inspect", "--boards"], 0, ""),
        pytest.param(
            ["record", "-o", "x.csv", "--label", "a"],
            2,
            "there is no terminal to read keys from",
            marks=needs("sensing"),
        ),
        pytest.param(
            ["monitor", "--project", "nowhere", "--emulate"], 2, "error: ", marks=needs("sensing")
        ),
    ],
)
def test_closed_streams_are_no_bug(words, exit_code, says):
    program = "from protonn_edge.cli import main; main()"
    command = ["sh", "-c", '"$@" <&- >&-', "sh", sys.executable, "-c", program, *words]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, says in done.stderr) == (exit_code, True), done.stderr
    assert "Traceback" not in done.stderr
    assert "this is a bug" not in done.stderr


def bug():
    {}["of\nours"]


def test_a_bug_is_called_one_and_has_its_own_exit_code(monkeypatch):
    monkeypatch.delenv(TRACEBACK_VARIABLE)
    done = CliRunner().invoke(command_of(bug), ["--json"])
    assert done.exit_code == BUG_EXIT_CODE
    assert "this is a bug in protonn-edge (KeyError: 'of\\nours')" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout.startswith('{"error": "this is a bug')


def test_a_bug_has_its_traceback_where_it_is_asked_for():
    done = CliRunner().invoke(command_of(bug), [])  # as in all tests: see conftest.py
    assert isinstance(done.exception, KeyError)


def test_a_warning_is_shown_without_its_place_in_the_source():
    def warn():
        warnings.simplefilter("always")
        warnings.warn("something is odd", UserWarning, stacklevel=1)

    done = CliRunner().invoke(command_of(warn), [])
    assert (done.exit_code, done.stderr) == (0, "warning: something is odd\n")
