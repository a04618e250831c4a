"""A board that labgrid's coordinator and exporter share is tested as the page of a lab shows."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from protonn_edge.boards import load_board
from protonn_edge.build.folder import Project
from protonn_edge.emulator import EmulatedBoard

pytest.importorskip("labgrid", reason="needs labgrid; to run: pip install labgrid")

PAGE = (Path(__file__).parents[2] / "docs" / "lab.md").read_text("utf-8")
DEADLINE_S = 60.0
EXPORTED = """
bench:
  NetworkSerialPort:
    host: 127.0.0.1
    port: {port}
    speed: 115200
    protocol: raw
"""


@contextlib.contextmanager
def started(part: str, *arguments: object) -> Iterator[None]:
    """Run a part of labgrid until the end of the block."""
    command = [sys.executable, "-m", f"labgrid.remote.{part}", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def client(*words: str) -> str:
    """Run labgrid's client until it succeeds; return what it prints."""
    end = time.monotonic() + DEADLINE_S
    while True:
        command = [sys.executable, "-m", "labgrid.remote.client", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 and (done.stdout or words[0] != "resources"):
            return done.stdout
        assert time.monotonic() < end, done.stderr
        time.sleep(0.5)


def test_an_acquired_board_is_tested_and_another_is_not(
    user: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    conftest = re.search(r"<!-- file: conftest.py -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    place = re.search(r"```yaml\n(targets:.*?)```", PAGE, re.DOTALL)
    assert conftest is not None
    assert place is not None
    user.makeconftest(conftest[1])
    (user.path / "lab.yaml").write_text(place[1])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("LG_COORDINATOR", coordinator)
    uno, words = load_board("uno"), ["test_board.py", "--lg-env", "lab.yaml"]
    with EmulatedBoard(Project(user.path).compile(uno), board=uno) as board:
        port = board.url.rpartition(":")[2]
        (user.path / "exporter.yaml").write_text(EXPORTED.format(port=port))
        with contextlib.ExitStack() as stack:
            stack.enter_context(started("coordinator", "-l", coordinator))
            client("places")  # once the coordinator listens
            stack.enter_context(started("exporter", "-n", "emulated", "exporter.yaml"))
            client("resources")
            client("-p", "uno", "create")
            client("-p", "uno", "add-match", "*/bench/*")
            assert "place uno is not acquired" in str(user.runpytest_subprocess(*words).stdout)
            client("-p", "uno", "acquire")
            user.runpytest_subprocess(*words).assert_outcomes(passed=1)
            client("-p", "uno", "release")
