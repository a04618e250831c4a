"""Commands in processes: the same with and without the helper that has imported them."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from extensions.studio.ends import End, StandIn

from protonn_edge.extensions.studio.jobs import Jobs
from protonn_edge.extensions.studio.log import LOG_FILE, Log
from protonn_edge.extensions.studio.processes import Launcher, Running
from protonn_edge.extensions.studio.sample import sample_files
from protonn_edge.extensions.studio.words import PAGE, names_in
from protonn_edge.system.shell import LINUX

CUT = ["windows", "recording.csv", "-o", "windows.npz", "--window=50", "--stride=25"]
TRAIN = ["train", "windows.npz", "-o", "m.npz", "--classifier=protonn", "--epochs=900000"]
needs_fork = pytest.mark.skipif(not LINUX, reason="the helper forks: run it on Linux")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ended(processes: Launcher, words: list[str]) -> tuple[int, bytes, list[str]]:
    """Run a command; return its exit code and what it printed."""
    with tempfile.TemporaryFile() as printed:
        child = processes.run([*words, "--json"], printed.fileno())
        said = [*child.lines()]
        code = child.wait()
        printed.seek(0)
        return code, printed.read(), said


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Launcher]]:
    """Give a folder, with modules that no command may import, and what forks for commands there."""
    folder = tmp_path_factory.mktemp("warm")
    (folder / "recording.csv").write_text(sample_files("recording.csv")["recording.csv"])
    for name in ("numpy", "click"):
        (folder / f"{name}.py").write_text("open('imported', 'w')")
    processes = Launcher(folder)
    yield folder, processes
    processes.close()
    assert not (folder / "imported").exists()


@pytest.fixture
def warm(launched: tuple[Path, Launcher], monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Launcher]:
    """Have the helper run, which a test may have killed."""
    folder, processes = launched
    monkeypatch.chdir(folder)
    processes.warm_up()
    return launched


@needs_fork
@pytest.mark.usefixtures("can_be_interrupted")
def test_a_forked_training_stops_and_is_killed(warm: tuple[Path, Launcher]) -> None:
    _, processes = warm
    assert ended(processes, CUT)[0] == 0

    def stopped(how: Any) -> tuple[int, list[str]]:
        with tempfile.TemporaryFile() as printed:
            child: Running = processes.run(TRAIN, printed.fileno())
            said = []
            for line in child.lines():
                said.append(line)
                if '"done": 1' in line:
                    how(child)
            return child.wait(), said

    for _ in range(5):
        with tempfile.TemporaryFile() as printed:
            child = processes.run(TRAIN, printed.fileno())
            child.stop()  # before Python itself could hear of it
            assert not any("Traceback" in line for line in child.lines())
            assert child.wait() == 130
    code, said = stopped(lambda child: child.stop())
    assert (code, "the best model so far is kept in m.npz" in said[-1]) == (130, True)
    assert stopped(lambda child: child.kill())[0] == -signal.SIGKILL


@needs_fork
def test_a_long_command_is_started_without_the_helper(warm: tuple[Path, Launcher]) -> None:
    _, processes = warm
    assert ended(processes, [*CUT, "--help", *2 * ["\u00e4" * 60_000]])[0] == 0
    assert processes._helper is not None


def test_a_job_reports_each_step_and_keeps_what_each_printed(warm: tuple[Path, Launcher]) -> None:
    (folder, processes), told, called = warm, list[dict[str, Any]](), list[int]()
    jobs = Jobs(folder, lambda **news: told.append(news), Log(folder))
    jobs.processes = processes
    features = "--features=mean,deviation"
    train = ["train", "windows.npz", "-o", "m.npz", "--classifier=linear", features]
    jobs.start([("windows", CUT), ("train", train)], "train", lambda: called.append(1))
    while jobs.is_running:
        time.sleep(0.02)
    jobs.start([("undo", ["takes", "x.csv", "--undo"]), ("train", train)], "data")
    while sum(news["job"]["state"] != "running" for news in told) < 3:
        time.sleep(0.02)
    reports = [news["job"] for news in told]
    first = [each for each in reports if each["stage"] == "train"]
    assert called == [1]
    assert [each["part"] for each in first] == sorted(each["part"] for each in first)
    assert first[-1]["part"] == 1
    assert [(each["action"], each["state"]) for each in first[-1]["records"]] == [
        ("windows", "done"), ("train", "done")
    ]  # fmt: skip
    assert all("notices" in each["record"] for each in first[-1]["records"])
    assert [each["last"] for each in first if each["state"] == "done"] == [False, True]
    last = reports[-1]
    assert (last["state"], last["last"], last["step"], last["of"]) == ("failed", True, 1, 2)
    assert "--" not in last["record"]["sentence"]
    logged = Log(folder).entries()
    assert [each["action"] for each in logged] == ["windows", "train", "undo"]
    Path(LOG_FILE).unlink()
    assert Log(folder).entries() == []


@needs_fork
def test_without_its_helper_it_starts_commands_that_print_and_write_the_same(
    warm: tuple[Path, Launcher],
) -> None:
    (_, processes), found = warm, list[Any]()
    unlike = ["takes", "recording.csv", "--take=99", "--delete"]
    for _ in range(2):
        found += [ended(processes, words) for words in (CUT, unlike)]
        found.append(Path("windows.npz").read_bytes())
        if processes._helper is not None:
            os.kill(processes._helper._process.pid, signal.SIGKILL)
            processes._helper._process.wait()
    assert processes._helper is None
    assert found[:3] == found[3:]
    assert [code for code, *_ in found[:2]] == [0, 2]


def test_a_job_that_follows_at_once_has_a_line_of_its_own_in_the_log(folder: Path) -> None:
    followed, heard = threading.Event(), list[Any]()

    def tell(**news: Any) -> None:
        if news.get("job", {}).get("last") and not followed.is_set():
            followed.set()
            jobs.start([("undo", ["takes", "x.csv", "--undo"])], "data", lambda: None)
        heard.append(news)

    jobs = Jobs(folder, tell, Log(folder))
    jobs.processes = StandIn(jobs)  # type: ignore[assignment]
    jobs.start([("windows", CUT)], "train")
    followed.wait()
    while jobs.is_running:
        time.sleep(0.02)
    jobs.close()
    assert sorted(each["action"] for each in Log(folder).entries()) == ["undo", "windows"]


def test_what_follows_a_job_happens_before_another_one_can_begin(folder: Path) -> None:
    running = list[bool]()
    jobs = Jobs(folder, lambda **_: None, Log(folder))
    jobs.processes = StandIn(jobs)  # type: ignore[assignment]
    jobs.start([("windows", CUT)], "train", lambda: running.append(jobs.is_running))
    while jobs.is_running:
        time.sleep(0.02)
    jobs.close()
    assert running == [True]


@pytest.mark.parametrize("code", [0, 1])
def test_a_job_begins_after_the_one_behind_and_fails_with_it(folder: Path, code: int) -> None:
    may_end, waits = threading.Event(), list[str]()

    class Held(End):
        def wait(self) -> int:
            assert may_end.wait(60)
            return self.code

    def tell(**news: Any) -> None:
        if news["job"].get("waits"):
            waits.append(news["job"]["action"])
            may_end.set()

    behind = Jobs(folder, lambda **_: None, Log(folder), "behind")
    behind.processes = StandIn(behind)  # type: ignore[assignment]
    behind.processes.ends = {"build": Held(code, {"error": "it does not fit"} if code else {})}
    jobs = Jobs(folder, tell, Log(folder))
    jobs.processes = StandIn(jobs)  # type: ignore[assignment]
    behind.start([("build", ["build", "m.npz", "-o", "live"])], "board")
    jobs.start([("upload", ["upload", "live"])], "board", after=behind)
    while jobs.is_running or behind.is_running:
        time.sleep(0.02)
    assert waits == ["upload"]
    assert (behind.latest["behind"], jobs.latest["behind"]) == (True, False)
    assert jobs.latest["state"] == ("failed" if code else "done")
    assert jobs.latest["record"].get("error") == ("it does not fit" if code else None)
    jobs.close()
    behind.close()


@pytest.mark.parametrize("odd", [{"done": "1", "total": 2}, {"done": 1, "total": []}])
def test_progress_without_numbers_does_not_end_a_job(folder: Path, odd: dict[str, Any]) -> None:
    jobs = Jobs(folder, lambda **_: None, Log(folder))
    jobs.latest = {"step": 1, "of": 1}
    assert jobs._heard(json.dumps({"task": "x", **odd})) == ""
    assert jobs.latest["part"] == 0


def test_a_log_that_cannot_be_written_is_only_forgotten(folder: Path) -> None:
    Path(LOG_FILE).mkdir()
    log = Log(folder)
    log.add(DONE, ["recording.csv", "gone"])
    assert [each["action"] for each in log.entries()] == ["train"]
    assert Log(folder).entries() == []


DONE = {"action": "train", "stage": "train", "line": "x", "state": "done", "number": 1}


def test_lines_of_a_log_that_the_page_cannot_use_are_left_out(folder: Path) -> None:
    good = {**DONE, "at": "x", "record": {}, "files": {"recording.csv": "1"}}
    records = ({"notices": None}, {"notices": 5}, {"n": float("nan")}, {"n": float("inf")}, {})
    lines = [json.dumps(good | {"record": record, "number": n}) for n, record in enumerate(records)]
    Path(LOG_FILE).write_text("\n".join([*lines, ""]))
    log = Log(folder)
    assert [entry["number"] for entry in log.entries()] == [4]
    assert log.notices_of("recording.csv", "1") == []
    log.add({**DONE, "record": {"n": float("nan")}}, [])
    log.add(DONE, [])
    assert len(Log(folder).entries()) == 3


def test_a_long_log_is_halved_once_and_then_appended_to(folder: Path) -> None:
    log = Log(folder)
    for number in range(502):
        log.add({**DONE, "number": number}, [])
    lines = Path(LOG_FILE).read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines] == [*range(250, 502)]


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("m.npz is missing; give --model NAME", "m.npz is missing"),
        ("--budget is 2kB, but it needs 3kB; try --epochs 5", "budget is 2kB, but it needs 3kB"),
        ("x is old; run 'protonn-edge build' again", "x is old"),
        ("x is old; wait a moment", "x is old; wait a moment"),
        ("column 'a' rises (see --keep a); omit it with --drop a", "column 'a' rises"),
        ("give a name-with-hyphens -5 to +5", "give a name-with-hyphens -5 to +5"),
    ],
)
def test_sentences_of_commands_lose_what_is_typed(sentence: str, shown: str) -> None:
    assert PAGE.worded(sentence) == shown


def test_a_suggested_pattern_of_names_is_found() -> None:
    assert names_in("42 leak; give --name '{person}_{take}'") == "{person}_{take}"
    assert names_in("42 leak; use --drop x") is None
