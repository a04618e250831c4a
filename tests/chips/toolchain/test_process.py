"""Nothing runs longer than it may, and nothing is left of it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from protonn_edge.chips.toolchain.process import relevant_lines, run_within
from protonn_edge.system.errors import CheckFailed


def test_output_and_exit_code_are_returned():
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = run_within(60, [sys.executable, "-c", script], name="python")
    assert (done.returncode, done.stdout.strip(), done.stderr.strip()) == (3, "out", "err")


def test_output_that_is_no_utf8_is_still_text():
    script = r"import sys; sys.stdout.buffer.write(b'a\xffb')"
    assert run_within(60, [sys.executable, "-c", script], name="python").stdout == "a\ufffdb"


def test_standard_input_is_empty():
    done = run_within(60, [sys.executable, "-c", "print(repr(input()))"], name="python")
    assert "EOFError" in done.stderr


def is_running(process_id):
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{process_id}/stat").read_text().split()[2]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc: run it on Linux")
def test_past_the_deadline_a_program_and_its_children_are_ended(tmp_path):
    note = tmp_path / "child"
    script = f"sleep 600 & echo $! > {note}; wait"
    with pytest.raises(
        CheckFailed, match=r"the sleeper was stopped because it took more than 1 s; x"
    ):
        run_within(1, ["sh", "-c", script], name="the sleeper", remedy="x")
    child = int(note.read_text())
    for _ in range(100):
        if not is_running(child):
            break
        time.sleep(0.1)
    assert not is_running(child)


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        ("", ""),
        ("compiling\na.c:1:2: error: one\n  int x\n", "a.c:1:2: error: one"),
        ("a.c:1: error: 1\nb\na.c:2: error: 2\na.c:3: error: 3\na.c:4: error: 4\n", "1; 2; 3"),
        ("error: a\nerror: a\nerror: b\n", "error: a; error: b"),
        ("*** [main.o] Error 1\n=== [FAILED] Took 1 s ===\nlast\nwords", "last; words"),
        ("Broken` cause=========== [FAILED] Took 0.40 seconds =======", "Broken` cause"),
    ],
)
def test_the_lines_that_say_why_are_found(output, lines):
    assert (
        relevant_lines(output)
        .replace("a.c:1: error: ", "")
        .replace("a.c:2: error: ", "")
        .replace("a.c:3: error: ", "")
        == lines
    )
