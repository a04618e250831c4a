"""Boards that labgrid's coordinator and exporter share are tested as the page of a lab shows."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from fake_device import ImpatientHost, quick_to_close
from programs import started

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.device.connection import Link
from protonn_edge.device.results import Result
from protonn_edge.extensions.lab import boards
from protonn_edge.learn.evaluation.measurement import Measurement, measure

pytest.importorskip("labgrid", reason="needs labgrid; to run: pip install labgrid")

__all__ = ["quick_to_close"]

PAGE = (Path(__file__).parents[4] / "docs" / "harness.md").read_text("utf-8")
CONFTEST = re.search(r"<!-- file: conftest.py -->\n```python\n(.*?)```", PAGE, re.DOTALL)
LABS = re.findall(r"```yaml\n(targets:.*?)```", PAGE, re.DOTALL)  # of one board, and of four
DEADLINE_S = 60.0
EXPORTED = """
{name}:
  NetworkSerialPort:
    host: 127.0.0.1
    port: {port}
    speed: 115200
    protocol: raw
"""
TESTS = "test_board.py", "--lg-env", "lab.yaml"
UNO = load_board("uno")


def started_part(part: str, *arguments: object) -> AbstractContextManager[object]:
    """Run a part of labgrid until the end of the block."""
    quiet = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
    return started(sys.executable, "-m", f"labgrid.remote.{part}", *arguments, **quiet)


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


@contextlib.contextmanager
def shared(emulated: dict[str, EmulatedBoard]) -> Iterator[None]:
    """Let labgrid share boards, each with a place of its name, until the end of the block."""
    with socket.socket() as free, pytest.MonkeyPatch.context() as patch:
        free.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{free.getsockname()[1]}"
        free.close()
        patch.setenv("LG_COORDINATOR", coordinator)
        parts = [
            EXPORTED.format(name=name, port=board.url.rpartition(":")[2])
            for name, board in emulated.items()
        ]
        Path("exporter.yaml").write_text("".join(parts))
        with started_part("coordinator", "-l", coordinator):
            client("places")  # once the coordinator listens
            with started_part("exporter", "-n", "emulated", "exporter.yaml"):
                client("resources")
                for name in emulated:
                    client("-p", name, "create")
                    client("-p", name, "add-match", f"*/{name}/*")
                yield


@pytest.fixture
def users_lab(user: pytest.Pytester) -> Callable[[int], pytest.Pytester]:
    """Give the folder of a user of the lab with this number on the page."""
    assert CONFTEST is not None
    user.makeconftest(CONFTEST[1])

    def made(number: int) -> pytest.Pytester:
        (user.path / "lab.yaml").write_text(LABS[number])
        return user

    return made


def test_an_acquired_board_is_tested_and_another_is_not(users_lab):
    user = users_lab(0)
    with EmulatedBoard(Project(user.path).compile(UNO), board=UNO) as board, shared({"uno": board}):
        assert "place uno is not acquired" in str(user.runpytest_subprocess(*TESTS).stdout)
        client("-p", "uno", "acquire")
        user.runpytest_subprocess(*TESTS).assert_outcomes(passed=1)
        client("-p", "uno", "release")


class LethalHost(ImpatientHost):
    """A computer that kills some boards once each of all boards has been sent some points."""

    BYTES = 1_400  # of 10 points that all boards answer, and about 10 others

    def __init__(self, boards: list[EmulatedBoard], doomed: list[EmulatedBoard]) -> None:
        super().__init__()
        self.text = ""
        self.doomed = doomed
        self.all_began = threading.Barrier(len(boards), self._kill, DEADLINE_S)

    def _kill(self) -> None:
        for board in self.doomed:
            board.__exit__(None, None, None)

    def open(self, url: str, baud: int) -> Link:
        return _LethalLink(url, baud, self)


class _LethalLink(Link):
    def __init__(self, url: str, baud: int, host: LethalHost) -> None:
        super().__init__(url, baud)
        self._host, self._sent = host, 0

    def write(self, data: bytes) -> None:
        before, self._sent = self._sent, self._sent + len(data)
        if before < LethalHost.BYTES <= self._sent:
            self._host.all_began.wait()
        super().write(data)


def test_two_of_four_boards_die_and_each_point_is_answered_once(users_lab, monkeypatch):
    user = users_lab(1)
    elf, answers, found = Project(user.path).compile(UNO), list[Result](), list[Measurement]()

    def measured(*arguments: object, **options: object) -> Measurement:
        found.append(measure(*arguments, on_result=answers.append, **options))
        return found[-1]

    monkeypatch.setattr(boards, "measure", measured)
    names = re.findall(r"name: (\w+)", LABS[1])
    with contextlib.ExitStack() as stack:
        unos = {name: stack.enter_context(EmulatedBoard(elf, board=UNO)) for name in names}
        stack.enter_context(shared(unos))
        for name in names:
            client("-p", name, "acquire")
        host = LethalHost(list(unos.values()), [unos["uno2"], unos["uno3"]])
        monkeypatch.setattr(boards, "LoggingHost", lambda: host)
        result = user.runpytest_inprocess(*TESTS)
    result.assert_outcomes(passed=1)
    lost = [board.url for board in host.doomed]
    result.stdout.fnmatch_lines_random([f"*the points of {url}, which was lost: *" for url in lost])
    assert sorted(each.index for each in answers) == list(range(60))
    assert {each.mismatch for each in answers} == {False}
    (measurement,) = found
    assert [each.device for each in measurement.shares if each.loss is not None] == lost
