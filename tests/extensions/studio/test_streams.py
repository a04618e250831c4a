"""What a page is told as it happens, in several tabs that share one connection."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extensions.studio.boards import FRAME, Board
from extensions.studio.shown import opened
from playwright.sync_api import Browser, expect

from protonn_edge.chips.boards import load_board
from protonn_edge.device.connection import LinkError
from protonn_edge.extensions.sensing.editing.edits import TakeEditor
from protonn_edge.extensions.sensing.editing.takes import read_takes
from protonn_edge.extensions.sensing.recorder import RecordingFile
from protonn_edge.extensions.studio import attached
from protonn_edge.extensions.studio.request import PageRequest
from protonn_edge.extensions.studio.streams import BoardStream
from protonn_edge.system.errors import InputError


class Heard:
    """What a stream tells, and how to wait for it."""

    def __init__(self, board: Board) -> None:
        self.told: list[dict[str, Any]] = []
        self.board = board
        self.stream = BoardStream("logger", board, load_board("uno"), self.hear)  # type: ignore[arg-type]

    def hear(self, **message: Any) -> None:
        self.told.append(message)

    def wait(self, found: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """Wait for a message."""
        deadline = time.monotonic() + 20
        at = 0
        while time.monotonic() < deadline:
            while at < len(self.told):
                if found(self.told[at]):
                    return self.told[at]
                at += 1
            time.sleep(0.005)
        raise AssertionError(self.told[-3:])

    def state(self) -> str:
        """The last words about the line."""
        return str(self.stream.state["text"])


@pytest.fixture
def heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    monkeypatch.chdir(tmp_path)
    heard = Heard(Board())
    heard.wait(lambda told: "samples" in told)
    yield heard
    heard.stream.stop()
    assert not heard.stream.is_running


def test_takes_are_recorded_ended_and_discarded(heard: Heard) -> None:
    path = Path("recording.csv")
    heard.stream.takes.begin(path, "rest", "anna", 0.5, 0.2)
    assert heard.wait(lambda told: told.get("taken"))["taken"]["kept"] == 50
    heard.wait(lambda told: "changed" in told)
    editor = TakeEditor(path)
    editor.keep(1, 10, 30)  # the file is free between takes
    heard.stream.takes.begin(path, "wave", "anna", None, 0.0)
    heard.wait(lambda told: (told.get("take") or {}).get("label") == "wave")
    with pytest.raises(InputError, match="another run is writing"):
        editor.delete(1)
    heard.stream.takes.end()
    heard.wait(lambda told: (told.get("taken") or {}).get("label") == "wave")
    heard.stream.takes.begin(path, "bad", "anna", None, 0.0)
    heard.wait(lambda told: (told.get("take") or {}).get("label") == "bad")
    heard.stream.takes.end(discard=True)
    heard.wait(lambda told: "taken" in told and told["taken"] is None)
    heard.stream.takes.end()
    heard.wait(lambda told: "no take is being recorded" in told.get("warning", ""))
    found = read_takes(path).takes
    assert [(take.label, take.session) for take in found] == [("rest", "anna"), ("wave", "anna")]
    assert found[0].n == 20
    assert all((np.diff(take.values[:, 0]) == 1).all() for take in found)


def test_the_latest_samples_become_a_take(heard: Heard) -> None:
    path, takes = Path("recording.csv"), heard.stream.takes
    heard.wait(lambda told: told.get("first", 0) > 1300)
    for seconds in (0.5, 60.0):
        takes.keep(path, "wave", "anna", seconds)
        heard.wait(lambda told: told.get("taken"))
        heard.told.clear()
    takes.begin(path, "rest", "anna", None, 0.0)
    heard.wait(lambda told: (told.get("take") or {}).get("kept"))
    takes.keep(path, "wave", "anna", 0.5)
    heard.wait(lambda told: "a take is being recorded" in told.get("warning", ""))
    takes.end(discard=True)
    heard.wait(lambda told: "taken" in told)
    half, whole = read_takes(path).takes
    assert half.n == 50
    assert 1000 <= whole.n < 1000 + 2 * FRAME  # ten seconds
    assert all((np.diff(take.values[:, 0]) == 1).all() for take in (half, whole))


def test_every_sample_is_told_in_turn(heard: Heard) -> None:
    heard.wait(lambda told: told.get("first", 0) > 300)
    shown = [told for told in heard.told if "samples" in told]
    rows = np.concatenate([told["samples"] for told in shown])
    assert (np.diff(rows[:, 0]) == 1).all()
    assert {told["lost"] for told in shown} == {0}


def test_a_file_that_an_editor_replaces_loses_nothing(heard: Heard) -> None:
    path = Path("recording.csv")
    heard.stream.takes.begin(path, "rest", "anna", None, 0.0)
    heard.wait(lambda told: (told.get("take") or {}).get("kept", 0) > 20)
    Path("new").write_bytes(path.read_bytes())
    Path("new").replace(path)
    heard.wait(lambda told: (told.get("take") or {}).get("kept", 0) > 60)
    heard.stream.takes.end()
    heard.wait(lambda told: told.get("taken"))
    (take,) = read_takes(path).takes
    assert take.n > 60
    assert (np.diff(take.values[:, 0]) == 1).all()


def test_what_an_editor_replaces_while_samples_are_kept_is_told(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = RecordingFile.append

    def replaced(file: RecordingFile, *arguments: Any) -> None:
        append(file, *arguments)
        head = Path("recording.csv").read_bytes().splitlines(keepends=True)[:2]
        Path("new").write_bytes(b"".join(head))
        Path("new").replace("recording.csv")
        file.saved = Path("saved.csv")

    monkeypatch.setattr(RecordingFile, "append", replaced)
    heard.wait(lambda told: told.get("first", 0) > 100)
    heard.stream.takes.keep(Path("recording.csv"), "wave", "anna", 0.5)
    heard.wait(lambda told: "it lacks is in" in told.get("warning", ""))
    heard.wait(lambda told: told.get("taken"))


def test_a_begin_that_is_refused_leaves_the_take_its_line_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    board, noted, told = Board(), list[Any](), list[dict[str, Any]]()
    monkeypatch.setattr(attached, "SensorSource", lambda *_: board)
    tabs = attached.AttachedBoard(
        lambda **news: told.append(news), lambda *done: noted.append(done), str
    )
    tabs.listen("logger", {}, "data")

    def order(**asked: Any) -> None:
        tabs.order(PageRequest({"session": "anna", "pause": 0, **asked}, []))

    def wait(found: Callable[[dict[str, Any]], Any]) -> None:
        deadline = time.monotonic() + 20
        while not any(map(found, [*told])):
            assert time.monotonic() < deadline
            time.sleep(0.005)

    order(what="begin", label="rest")
    wait(lambda news: (news.get("take") or {}).get("kept"))
    order(what="begin", label="wave")
    wait(lambda news: "a take is being recorded" in news.get("warning", ""))
    order(what="end")
    wait(lambda news: news.get("taken"))
    tabs.leave()
    assert [(action, fields["label"]) for action, _, fields in noted] == [("record", "rest")]


def test_an_unplugged_board_ends_the_take_and_keeps_it(heard: Heard) -> None:
    path = Path("recording.csv")
    heard.stream.takes.begin(path, "rest", "anna", None, 0.0)
    heard.wait(lambda told: (told.get("take") or {}).get("kept", 0) > 20)
    heard.board.ends = LinkError("the line to the board failed; plug it in again")
    heard.wait(lambda told: told.get("stream", {}).get("running") is False)
    assert heard.state() == "the line to the board failed; plug it in again"
    assert read_takes(path).takes[0].n > 20
    with pytest.raises(InputError, match="no board is connected"):
        heard.stream.takes.end()


def test_a_silent_board_can_be_left_at_once(heard: Heard) -> None:
    heard.board.silent.set()
    begun = time.monotonic()
    heard.stream.stop()
    assert time.monotonic() - begun < 5
    assert heard.state() == "disconnected"


def test_a_full_disk_is_a_sentence_and_whole_rows_are_kept(heard: Heard) -> None:
    resource = pytest.importorskip("resource", reason="needs limits: run it on Linux")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3001, before[1]))
    try:
        heard.stream.takes.begin(Path("recording.csv"), "rest", "anna", None, 0.0)
        heard.wait(lambda told: told.get("stream", {}).get("running") is False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert heard.state().startswith("cannot write recording.csv: File too large; check the disk")
    content = Path("recording.csv").read_bytes()
    assert content.endswith(b"\n")
    (take,) = read_takes(Path("recording.csv")).takes
    assert take.n > 40


def test_orders_of_another_board_and_of_no_class_leave_the_stream_alone(heard: Heard) -> None:
    for what, label in (("teach", 0), ("forget", 1.0), ("x", True), ("teach", [])):
        heard.stream.answers.act(what, label)
    heard.stream.takes.begin(Path("missing") / "recording.csv", "rest", "anna", None, 0.0)
    heard.wait(lambda told: "cannot write" in told.get("warning", ""))
    told = [each["warning"] for each in heard.told if "warning" in each]
    assert len(told) == 5
    assert heard.stream.is_running


def write_beside(site: Any, name: str) -> None:
    """Write a table into the folder, and tell the tabs."""
    (site.server.workspace.folder / name).write_text("label,a\nx,1\ny,2\n")
    site.server.workspace.tabs.tell(changed=True)


TABS = 7  # a browser has six connections to a server


def test_tabs_share_a_connection_and_outlive_the_one_that_has_it(
    browser: Browser, site: Any
) -> None:
    with opened(browser, site.server.url, Path.cwd()) as shown:
        tabs = [shown.page, *(shown.tab() for _ in range(1, TABS))]
        for number in range(2):
            name = f"new{number}.csv"
            write_beside(site, name)
            for tab in tabs:
                expect(tab.locator(f"#data-file option[value='{name}']")).to_be_attached()
            tabs.pop(0).close()


def test_the_tabs_of_an_ended_studio_do_not_keep_a_new_ones_from_it(
    browser: Browser, serve: Any, tmp_path: Path
) -> None:
    with ExitStack() as first:
        site = first.enter_context(serve(tmp_path))
        with opened(browser, site.server.url, tmp_path) as shown:
            old = shown.page.locator("#connection")
            expect(old).to_have_text("")
            first.close()
            with serve(tmp_path, site.server.server_port) as site:
                tab = shown.tab(site.server.url)
                expect(tab.locator("#connection")).to_have_text("")
                expect(old).to_contain_text("open the address that")
                write_beside(site, "new.csv")
                expect(tab.locator("#data-file")).to_have_value("new.csv")
