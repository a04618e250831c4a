"""What was started ends with whoever started it, and its scratch folders go with the next run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from programs import started

from protonn_edge.chips.toolchain.process import run_within
from protonn_edge.system.folders import scratch_folder

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="looks into /proc: run it on Linux"
)
DEADLINE_S = 90.0
STARTS = """
import sys
from protonn_edge.system.folders import scratch_folder
from protonn_edge.chips.toolchain.process import run_within
from pathlib import Path
with scratch_folder(Path(sys.argv[1])) as scratch:
    (scratch / "file").write_text("x")
    print(scratch, flush=True)
    # A child with a child of its own, as pio has a compiler.
    run_within(60, ["sh", "-c", f"sleep 600 & echo $! > {sys.argv[1]}/child; wait"], name="sh")
"""


def is_running(process_id: int) -> bool:
    stat = Path(f"/proc/{process_id}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition) -> None:  # type: ignore[no-untyped-def]
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_after_a_kill_nothing_runs_on_and_the_next_run_clears_up(tmp_path: Path) -> None:
    command = (sys.executable, "-c", STARTS, tmp_path)
    with started(*command, stdout=subprocess.PIPE, text=True) as process:
        left = Path(process.stdout.readline().strip())
        note = tmp_path / "child"
        wait_until(lambda: note.exists() and note.read_text().strip())
        child = int(note.read_text())
        assert is_running(child)
        with scratch_folder(tmp_path):
            assert left.exists()  # its process is alive
        process.kill()
        wait_until(lambda: not is_running(child))
    assert (left / "file").exists()
    with scratch_folder(tmp_path) as mine:
        assert not left.exists()
        assert mine.exists()
    assert not mine.exists()


WAITS = """
import sys, time
from pathlib import Path
from protonn_edge.cli.command import command
from protonn_edge.system.folders import scratch_folder
@command("wait")
def wait() -> None:
    with scratch_folder(Path(sys.argv[1])) as scratch:
        print(scratch, flush=True)
        while True:  # a signal just before a long sleep would wait for its end
            time.sleep(0.1)
wait([])
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_removes_its_scratch_folder(tmp_path: Path, number: int) -> None:
    for ignored in (False, number == signal.SIGHUP):  # as with nohup
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
        command = (sys.executable, "-c", WAITS, tmp_path)
        with started(*command, stdout=subprocess.PIPE, text=True) as process:
            signal.signal(signal.SIGHUP, before)
            scratch = Path(process.stdout.readline().strip())
            assert scratch.is_dir()
            process.send_signal(number)
            if ignored:
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(0.5)
                process.send_signal(signal.SIGTERM)
            ended_by = signal.SIGTERM if ignored else number
            assert process.wait() == 128 + ended_by
        assert not scratch.exists()


def test_temporary_files_of_programs_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done = run_within(60, ["sh", "-c", 'echo >"$TMPDIR/left"; ls "$TMPDIR"'], name="sh")
    assert done.stdout == "left\n"
    assert not list(tmp_path.iterdir())


def test_nothing_else_is_cleared(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / ".protonn-edge.1.link").symlink_to(outside)
    (tmp_path / ".protonn-edge.1.file").write_text("x")
    (tmp_path / "protonn-edge-demo").mkdir()
    dead = tmp_path / ".protonn-edge.1.dead"
    dead.mkdir()
    (dead / "link").symlink_to(outside)
    (outside / "mine").write_text("mine")
    with scratch_folder(tmp_path):
        assert not dead.exists()
    assert {path.name for path in tmp_path.iterdir()} == {
        *("outside", ".protonn-edge.1.link", ".protonn-edge.1.file", "protonn-edge-demo")
    }
    assert (outside / "mine").exists()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="run it as root")
def test_another_user_s_folder_stays(tmp_path: Path) -> None:
    theirs = tmp_path / ".protonn-edge.1.theirs"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    with scratch_folder(tmp_path):
        assert theirs.exists()
