"""What commands and boards say stands where it belongs, in words of the page.

The server, its log and the page are real. Commands do not run: they end with sentences of the list
of all sentences of the package.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from avr_tools import EMULATED_AVR, skip_without
from command_line import succeed
from extensions.studio.boards import Board
from extensions.studio.conftest import serving
from extensions.studio.ends import End, StandIn
from extensions.studio.shown import DESK, PHONE, STAGES, Shown, opened
from laws.sentences.test_sentences import LISTED
from playwright.sync_api import Browser, Locator, Page, expect

from protonn_edge.codegen.projects.built import built_file
from protonn_edge.device.connection import LinkError
from protonn_edge.extensions.studio import attached, sources
from protonn_edge.extensions.studio.words import PAGE

OPTION = re.compile(r"(?<![\w-])--?[a-z]|'protonn-edge ")
SENTENCES = sorted({line.strip() for line in LISTED.splitlines() if line.startswith("  ")})
PER_BUTTON = 4
ASKED_AGAIN = 100  # times, until the page shows what it shall
STEP_MS = 700  # within which a curve is drawn again where motion is reduced

MODEL, WINDOWS = "recording-linear.npz", "recording-windows.npz"  # as the page calls them

PRESSED = (
    ("keep", "data", ".editing [data-key=keep]"),
    ("cut", "data", ".editing [data-key=cut]"),
    ("rename", "data", ".editing [name=label]"),
    ("delete", "data", ".editing [data-key=delete]"),
    ("undo", "data", "#undo"),
    ("logger", "data", "[data-key=connect]"),
    ("upload-logger", "data", "[data-key=connect]"),
    ("logger", "try", "[data-key=connect]"),
    ("windows", "train", ".act [data-key=quiet]"),
    ("train", "train", ".act [data-key=quiet]"),
    ("build", "train", ".act [data-key=quiet]"),
    ("build", "board", ".act [data-key=quiet]"),
    ("upload", "board", "[data-key=upload]"),
    ("export", "board", "[data-key=zip]"),
    ("build-points", "report", ".act [data-key=quiet]"),
    ("measure", "report", ".act [data-key=quiet]"),
    ("report", "report", ".act [data-key=quiet]"),
)
"""An action, the stage of its button, and the button."""

RESULTS: Mapping[str, tuple[str, ...]] = {
    "report.html": ("report",),
    "results.csv": ("measure",),
    "measured": ("build-points",),
    "live": ("build", "upload"),
    MODEL: ("train", "export"),
    WINDOWS: ("windows",),
    "logger": ("logger", "upload-logger"),
    "recording.csv": ("keep", "cut", "rename", "delete", "undo"),
}
"""A file or project, and the actions whose notices its replacement ends."""

REPLACED_BY = {
    MODEL: f"train {WINDOWS} -o {MODEL} --classifier=linear --features=mean,min",
    WINDOWS: f"windows recording.csv -o {WINDOWS} --window=50 --stride=10",
    "recording.csv": "takes recording.csv --take=1 --keep=0:90",
}

SHOWN_IN = {action: stage for action, stage, _ in reversed(PRESSED)} | {"build": "board"}
"""The stage of what an action made."""

NOTICES = """(stage) => {
    const all = (selector) => [...stage.querySelectorAll(selector)];
    const seen = all(".warnings .notice p").filter((one) => one.checkVisibility());
    const texts = (elements) => elements.map((one) => one.textContent);
    return { warnings: texts(seen), notes: texts(all(".notes li")) };
}"""


@dataclass
class Desk:
    """The page of a folder in which everything was made, and what decides how commands end."""

    shown: Shown
    commands: tuple[StandIn, ...]
    jobs: tuple[Any, ...]  # with those behind
    board: Board

    def press(self, stage: str, place: str, ends: Mapping[str, End]) -> None:
        """Press a button, whose actions have these ends; others end well."""
        page = self.shown.page
        for each in self.commands:
            each.ends = ends
        self.shown.go(stage)
        if place.startswith(".editing") and not page.locator(".editing").count():
            page.locator("#rows .thumb").first.click()
            expect(page.locator(".handle").first).to_be_focused()  # when it has been scrolled to
            page.locator(".handle").first.press("PageUp")
        button = page.locator(f"#stage-{stage}").locator(place).locator("visible=true").first
        if "name=label" in place:
            now = button.evaluate("(one) => one.selectedIndex")
            button.select_option(index=(now + 1) % 3)
        else:
            button.click()

    def wait(self) -> None:
        """Wait until the job has ended, and the page shows the folder after it."""
        page = self.shown.page
        while any(each.is_running for each in self.jobs):
            page.wait_for_timeout(10)
        page.evaluate("studio.renew()")


def sentences_of(number: int, action: str) -> list[str]:
    """Return some sentences for the command of an action, each with the action's name in it."""
    some = SENTENCES[number :: len(SENTENCES) // PER_BUTTON][:PER_BUTTON]
    return [f"{action}: {re.sub('{[^}]*}', '7', each)}" for each in some]


@pytest.fixture
def desk(
    browser: Browser, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Desk]:
    """Open the page of a copy of the whole folder, with a board on a port."""
    skip_without(*EMULATED_AVR)
    folder, board = tmp_path / "gestures", Board()
    shutil.copytree(whole, folder)
    (folder / "gestures.zip").write_bytes(b"PK")
    for name in (MODEL, WINDOWS):
        (folder / name.removeprefix("recording-")).rename(folder / name)
    built = folder / "logger" / "built.json"
    built.write_text(built.read_text().replace("adxl345", "mpu6050"))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sources, "ports", lambda _: [{"port": "/dev/ttyX", "what": "Arduino Uno"}])
    monkeypatch.setattr(attached, "SensorSource", lambda *_: board)
    with serving(folder) as site:
        jobs, behind = site.server.workspace.jobs, site.server.workspace.behind
        jobs.processes, behind.processes = commands, after = StandIn(jobs), StandIn(behind)
        with opened(browser, site.server.url, folder) as shown:
            shown.go("train")
            shown.page.get_by_label("Kind of model").select_option("linear")
            yield Desk(shown, (commands, after), (jobs, behind), board)
            assert shown.complaints == []
            assert shown.elsewhere == []


def test_no_sentence_has_an_option_in_the_page_whatever_its_values_are() -> None:
    worst = [re.sub(r"(?<!\w)\{[^}]*\}", "--value", each) for each in SENTENCES]
    assert {each for each in map(PAGE.worded, worst) if OPTION.search(each)} == set()


def test_each_error_stands_in_view_in_the_stage_of_its_button(desk: Desk) -> None:
    page = desk.shown.page
    for number, (action, stage, place) in enumerate(PRESSED):
        for size, error in zip(2 * (PHONE, DESK), sentences_of(number, action), strict=True):
            page.set_viewport_size(size)
            desk.press(stage, place, {action: End(2, {"error": error})})
            alert = page.locator(".alert .notice.error p:visible")
            expect(alert).to_have_text([PAGE.worded(error)])
            assert desk.shown.in_view(f"#stage-{stage} .alert .notice.error") == []
            page.wait_for_function("() => !studio.job.running && !studio.behind.running")
        if action not in ("logger", "upload-logger"):  # which would connect
            desk.press(stage, place, {})
            expect(page.locator(f"#stage-{stage} .alert .notice")).to_have_count(0)
            desk.wait()


def test_notices_stand_with_their_result_until_its_file_is_replaced(desk: Desk) -> None:
    said: dict[str, Sequence[Mapping[str, Any]]] = {
        action: [
            {"kind": "other", "text": text, "warning": at % 2 == 0, "columns": []}
            for at, text in enumerate(sentences_of(number, action))
        ]
        for number, action in enumerate(SHOWN_IN)
    }
    told = {action: End(0, {"notices": each}) for action, each in said.items()}
    for stage, place in dict.fromkeys((stage, place) for _, stage, place in PRESSED):
        if stage != "try":
            desk.press(stage, place, told)
            desk.wait()
    page = desk.shown.page
    _expect_notices(page, said)
    # An error takes no notice away, nor does a new page or a new tab.
    desk.press("train", ".act [data-key=quiet]", told | {"train": End(2, {"error": "x is wrong"})})
    desk.wait()
    page.reload()
    _expect_notices(page, said)
    tab = desk.shown.tab()
    _expect_notices(tab, said)
    tab.close()
    for name, actions in RESULTS.items():
        _replace(name)
        said |= dict.fromkeys(actions, ())
        page.evaluate("studio.renew()")
        _expect_notices(page, said)


def test_a_curve_moves_with_its_samples_alone_and_ends_with_a_sentence(desk: Desk) -> None:
    page, board = desk.shown.page, desk.board
    page.set_viewport_size(PHONE)
    for stage in ("data", "try"):
        board.ends, board.next = None, 0
        board.silent.clear()
        desk.press(stage, "[data-key=connect]", {})
        canvas = page.locator(f"#stage-{stage} .scope canvas")
        expect(canvas).to_be_visible()
        assert _becomes(canvas, still=False), stage
        board.silent.set()
        assert _becomes(canvas, still=True), stage
        board.ends = LinkError("the line to the board failed; plug it in, and give --port")
        alert = page.locator(".alert .notice.error p:visible")
        expect(alert).to_have_text(["the line to the board failed"])
        assert desk.shown.in_view(f"#stage-{stage} .alert .notice.error") == []


def _becomes(canvas: Locator, *, still: bool) -> bool:
    """Whether two pictures, between which it may be drawn again, become the same, or differ."""
    after = canvas.evaluate("(one) => one.toDataURL()")
    for _ in range(ASKED_AGAIN):
        before = after
        canvas.page.wait_for_timeout(STEP_MS)
        after = canvas.evaluate("(one) => one.toDataURL()")
        if (before == after) == still:
            return True
    return False


def _expect_notices(page: Page, said: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Expect each notice in its stage and nowhere else, but the warnings in the report, too."""
    for stage in STAGES:
        page.locator(f"[data-stage={stage}]").click()
        expected = {True: set[str](), False: set[str]()}
        for action, notices in said.items():
            for each in notices:
                if SHOWN_IN[action] == stage or (stage == "report" and each["warning"]):
                    expected[each["warning"]].add(PAGE.worded(each["text"]))
        shown = page.locator(f"#stage-{stage}").evaluate(NOTICES)
        for _ in range(ASKED_AGAIN):
            if all({*shown[kind]} == expected[kind == "warnings"] for kind in shown):
                break
            page.wait_for_timeout(100)  # the page asks for the folder again
            shown = page.locator(f"#stage-{stage}").evaluate(NOTICES)
        for kind, warning in (("warnings", True), ("notes", False)):
            there, wanted = {*shown[kind]}, expected[warning]
            assert (stage, kind, there - wanted, wanted - there) == (stage, kind, set(), set())
            assert len(shown[kind]) == len(there)


def _replace(name: str) -> None:
    """Make other bytes of a file or of a project's build."""
    if name in REPLACED_BY:
        succeed(*REPLACED_BY[name].split())
        return
    path = built_file(Path(name)) if Path(name).is_dir() else Path(name)
    path.write_text(path.read_text() + "\n")
