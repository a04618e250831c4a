"""Portable C is compiled strictly, and what is wrong with it is said."""

from __future__ import annotations

import subprocess

import pytest
from refusals import refused_by

from protonn_edge.chips.toolchain.process import build_host_executable
from protonn_edge.system.errors import CheckFailed

HEADER = "int answer(int index);\nint entry(int index);\nint beyond(int index);\n"
LIBRARY = """
#include "answer.h"
static int table[4] = {1, 2, 3, 4};
int answer(int index) { return index + 40; }
int entry(int index) { return table[index]++; }
int beyond(int index) { int *volatile start = table; return start[index]; }
"""
MAIN = """
#include "answer.h"
int main(int argc, char **argv) { (void)argc, (void)argv; return BODY; }
"""


@pytest.fixture
def build(tmp_path):
    """Return a function that compiles a main function with the given result."""

    def build_main(body, **options):
        (tmp_path / "include").mkdir(exist_ok=True)
        (tmp_path / "include" / "answer.h").write_text(HEADER)
        (tmp_path / "answer.c").write_text(LIBRARY)
        (tmp_path / "main.c").write_text(MAIN.replace("BODY", body))
        sources = [tmp_path / "answer.c", tmp_path / "main.c"]
        out = tmp_path / "made" / "program"
        return build_host_executable(sources, tmp_path / "include", out, **options)

    return build_main


def exit_code(program):
    return subprocess.run([program], timeout=60, capture_output=True, check=False).returncode


def test_sources_are_compiled_and_linked(build, tmp_path):
    program = build("answer(argc)")
    assert program == tmp_path / "made" / "program"
    assert exit_code(program) == 41
    assert [path.name for path in program.parent.iterdir()] == ["program"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("answer(2147483647) > 0", "signed integer overflow"),
        ("argc << (argc + 31)", "shift exponent 32 is too large"),
        ("entry(4 * argc)", "index 4 out of bounds"),
        ("beyond(4 * argc)", "global-buffer-overflow"),
    ],
)
def test_the_sanitized_program_stops_at_its_first_mistake(build, body, words):
    program = build(body, sanitize=True)
    done = subprocess.run([program], timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert words in done.stderr


@pytest.mark.parametrize(
    ("body", "words"),
    [("unknown", "main.c:3:"), ("answer(1, 2)", "too many"), ("missing()", "missing")],
)
def test_what_the_compiler_refuses_is_said_with_its_words(build, body, words):
    with pytest.raises(CheckFailed, match="refused answer.c, main.c: ") as caught:
        build(body)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_warning_is_an_error(build):
    with refused_by("chips.toolchain.process", kind=CheckFailed):
        build("0; int unused")


def test_a_failed_build_leaves_what_was_there(build):
    program = build("answer(argc)")
    with pytest.raises(CheckFailed):
        build("unknown")
    assert exit_code(program) == 41


def test_a_compiler_that_is_not_there_is_named(build, monkeypatch):
    monkeypatch.setenv("CC", "no-such-cc")
    with refused_by("chips.toolchain.process"):
        build("0")


def test_without_any_compiler_the_usual_ones_are_named(build, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    with refused_by("chips.toolchain.process"):
        build("0")
