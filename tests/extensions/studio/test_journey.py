"""The whole way in a browser without a network: from an empty folder to a class on the board."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from avr_tools import EMULATED_AVR, skip_without
from checkout import CHECKOUT
from one_process import answers_of
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from system_browser import axe_source

from protonn_edge.extensions.studio.actions import ACTIONS

RATE = 100.0
SEGMENT_S = 1.5
EDITS = ("keep", "keep", "undo", "rename", "cut", "delete")
RAN = (
    "logger", *EDITS, "windows", "train", "data", "build", "build-points", "measure", "report"
)  # fmt: skip
OF_A_LINE = {"record", "monitor", "upload", "upload-logger"}  # which write no file, or one by time
_PORT = re.compile(rb"socket://127.0.0.1:\d+")  # of the emulated board, another one in every run
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
SCHEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")


@dataclass
class Shown:
    """The page, and what came of it beside the page."""

    page: Page
    folder: Path
    complaints: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def press(self, name: str, within: str = "main") -> None:
        """Press a button by a key."""
        button = self.page.locator(within).get_by_role("button", name=name, exact=True)
        expect(button).to_be_enabled()
        button.focus()
        self.page.keyboard.press("Enter")

    def ends(self) -> None:
        """Wait until the running command has ended well."""
        expect(self.page.locator("#job-stop")).to_be_visible()
        expect(self.page.locator("#job-stop")).to_be_hidden(timeout=60_000)
        assert self.page.locator("#error").inner_text() == ""

    def lines(self) -> list[str]:
        return self.page.locator("#log").inner_text().splitlines()


@pytest.fixture
def shown(browser: Browser, address: tuple[str, Path]) -> Iterator[Shown]:
    skip_without(*EMULATED_AVR)
    url, folder = address
    context = browser.new_context(viewport=DESK, reduced_motion="reduce")
    shown = Shown(context.new_page(), folder)
    own = url.partition("#")[0]
    context.route(lambda asked: not asked.startswith(own), lambda route: route.abort())
    context.on("request", lambda asked: elsewhere(shown, own, asked.url))
    context.on("console", lambda message: shown.complaints.append(message.text))
    context.on("weberror", lambda error: shown.complaints.append(str(error.error)))
    shown.page.goto(url)
    expect(shown.page.locator("#folder")).to_have_text("work")
    yield shown
    context.close()


def elsewhere(shown: Shown, own: str, url: str) -> None:
    if not url.startswith((own, "data:")):
        shown.elsewhere.append(url)


def write_gestures(path: Path) -> None:
    """Write what the emulated sensor replays: rest and waving in turn."""
    n = round(SEGMENT_S * RATE)
    rng, t = np.random.default_rng(0), np.arange(n) / RATE
    still = np.tile([0.0, 0, 8192, 0, 0, 0], (n, 1))
    wave = still + np.sin(20 * t)[:, None] * [3000, 900, 2000, 400, 9000, 700]
    rows = np.rint(np.concatenate([still, wave]) + rng.normal(0, 60, (2 * n, 6))).astype(int)
    lines = "\n".join(",".join(map(str, row)) for row in rows.tolist())
    path.write_text(f"# rate: 100 Hz\nax,ay,az,gx,gy,gz\n{lines}\n")


def record(shown: Shown, label: str, key: str | None = None) -> None:
    """Record a take in which the sensor rests or waves, by the button or the key of its class."""
    page, place = shown.page, 0.05 if label == "rest" else SEGMENT_S + 0.05
    before = page.locator("#list > li").count()
    page.locator("#take [name=label]").fill(label)
    page.locator("#take [name=label]").blur()
    button = page.locator("#classes button", has_text=label)
    button.wait_for()
    page.evaluate(AT, place)
    if key is None:
        button.focus()
    page.keyboard.press(key or "Enter")
    expect(page.locator("#list > li")).to_have_count(before + 1, timeout=30_000)


AT = """async (place) => {
    for (;;) {
        const text = document.getElementById("losses").textContent;
        const [, second] = /second ([0-9.]+) of/.exec(text) ?? [];
        if (second >= place && second < place + 0.3) { return; }
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}"""


def barriers(page: Page) -> list[tuple[str, list[str]]]:
    """Return what axe-core finds, by all rules."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe_source())
    found = page.evaluate("axe.run()")["violations"]
    return [(each["id"], [node["html"][:160] for node in each["nodes"][:3]]) for each in found]


def test_from_an_empty_folder_to_a_class_that_the_board_answers(
    shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, folder = shown.page, shown.folder
    assert [*folder.iterdir()] == []
    assert barriers(page) == []
    write_gestures(tmp_path / "arm.csv")
    page.locator("#files").set_input_files(tmp_path / "arm.csv")
    expect(page.locator("#logger [name=file]")).to_have_value("arm.csv")
    shown.press("Build the logger")
    shown.ends()
    shown.press("Connect")
    page.locator("#samples").wait_for(timeout=30_000)
    page.locator("#take [name=seconds]").fill("1.0")
    page.locator("#take [name=pause]").fill("0.1")
    for number in range(3):
        record(shown, "rest")
        record(shown, "wave", "2" if number else None)
    expect(page.locator("#next")).to_contain_text("enough takes")
    assert "0 samples lost, 0 frames damaged, 0 resets" in page.locator("#losses").inner_text()
    recorded = (folder / "recording.csv").read_bytes()
    cut_and_undo(shown)
    train(shown)
    try_on_this_computer(shown)
    build_and_watch(shown)
    measure_and_report(shown)
    assert unreached(page) == []
    assert shown.complaints == []
    assert shown.elsewhere == []
    again = tmp_path / "again"
    again.mkdir()
    monkeypatch.chdir(again)
    (again / "recording.csv").write_bytes(recorded)
    shutil.copy(folder / "arm.csv", again)
    same_bytes(shown.lines(), folder, again)
    (line,) = [line for line in shown.lines() if " record " in line][:1]
    same_rows(line, recorded, again)


def cut_and_undo(shown: Shown) -> None:
    """Cut a take by dragging, and the next one by keys alone; undo the latter."""
    page, first = shown.page, shown.page.locator("#list > li").first
    curve = first.locator("svg")
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 20, steps=4)
    page.mouse.up()
    first.get_by_role("button", name="Keep the selection").click()
    expect(first.locator("summary")).to_contain_text("0.7", timeout=30_000)
    second = page.locator("#list > li").nth(1)
    second.locator("summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Keep the selection"
    page.keyboard.press("Enter")
    expect(second.locator("summary")).to_contain_text("0.96 s", timeout=30_000)
    # The focus stays at the take.
    expect(second.locator(":focus")).to_have_count(1)
    shown.press("Undo: kept 96 of 100 samples of take 2, wave")
    expect(second.locator("summary")).to_contain_text("1.00 s", timeout=30_000)
    third, fourth, last = (opened(shown, at) for at in (2, 3, 5))
    third.locator("[name=session]").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("anna")
    shown.press("Rename", "#list > li:nth-child(3)")
    expect(third.locator("summary")).to_contain_text("rest · anna", timeout=30_000)
    begin = fourth.locator("input").first
    begin.focus()
    for _ in range(7):
        page.keyboard.press("PageUp")
    shown.press("Zoom in", "#list > li:nth-child(4)")
    expect(begin).to_be_focused()
    expect(begin).to_have_attribute("min", "70")
    shown.press("Zoom out", "#list > li:nth-child(4)")
    expect(begin).to_have_attribute("min", "0")  # drawn anew; a key before that would be lost
    shown.press("Remove the selection", "#list > li:nth-child(4)")
    expect(fourth.locator("summary")).to_contain_text("0.70 s", timeout=30_000)
    last.get_by_role("button", name="Delete the take").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#list > li")).to_have_count(5, timeout=30_000)


def opened(shown: Shown, at: int) -> Locator:
    """Open the editor of a take by a key."""
    take = shown.page.locator("#list > li").nth(at)
    take.locator("summary").focus()
    shown.page.keyboard.press("Enter")
    expect(take.locator("details")).to_have_attribute("open", "")
    return take


def train(shown: Shown) -> None:
    form = shown.page.locator("#training")
    form.locator("[name=classifier]").focus()
    shown.page.keyboard.type("linear")
    form.locator("[name=window]").fill("40")
    expect(form.locator("pre")).to_contain_text("train windows.npz -o linear.npz")
    shown.press("Train", "#training")
    expect(shown.page.locator("#figures")).to_be_visible(timeout=60_000)
    expect(shown.page.locator("#accuracy")).to_contain_text("points (95 % confidence:")
    shown.page.locator("#matrix button").first.focus()
    shown.page.keyboard.press("Enter")
    expect(shown.page.locator("#cell svg").first).to_be_visible()
    shown.press("Look at the data")
    shown.ends()


def try_on_this_computer(shown: Shown) -> None:
    shown.press("Classify the logger's samples")
    says = shown.page.locator("#says")
    expect(says).to_contain_text("this computer, in the board's integers", timeout=30_000)
    for label in ("wave", "rest"):
        expect(shown.page.locator("#class")).to_have_text(label, timeout=10_000)


def build_and_watch(shown: Shown) -> None:
    shown.press("Build", "#building")
    shown.ends()
    expect(shown.page.locator("#budget")).to_contain_text("of 32,256 B")
    shown.press("Connect the board's classifier")
    expect(shown.page.locator("#says")).to_contain_text("says the board", timeout=30_000)
    for label in ("wave", "rest"):
        expect(shown.page.locator("#class")).to_have_text(label, timeout=10_000)
    assert barriers_at_all_sizes(shown.page) == []
    shown.press("Disconnect")
    expect(shown.page.locator("#stream")).to_contain_text("disconnected")


def measure_and_report(shown: Shown) -> None:
    shown.press("Measure and report")
    expect(shown.page.locator("#reporting [name=page]")).to_have_value(
        "report.html", timeout=90_000
    )
    assert shown.page.locator("#error").inner_text() == ""
    context: BrowserContext = shown.page.context
    with context.expect_page() as opened:
        shown.press("Open the page")
    report = opened.value
    report.wait_for_load_state()
    assert "on an Uno" in report.title()
    report.close()


def barriers_at_all_sizes(page: Page) -> list[object]:
    """Return barriers in all stages at once, which need not scroll sideways."""
    found: list[object] = []
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            page.evaluate(
                "document.querySelectorAll('main [hidden]').forEach((one) => (one.hidden = false))"
            )
            page.evaluate("document.querySelector('#error').textContent = 'a sentence'")
            found += barriers(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        found += [width] * (width > size["width"])
    page.evaluate("document.querySelector('#error').textContent = ''")
    return found


def unreached(page: Page) -> list[str]:
    """Return the controls that the Tab key does not reach; none may catch the focus."""
    page.evaluate(WATCH)
    controls = page.locator("main :is(button, select, input, summary):visible:enabled").count()
    for _ in range(2 * controls):
        page.keyboard.press("Tab")
    left: list[str] = page.evaluate(LEFT)
    return left


WATCH = """() => {
    document.activeElement.blur();
    window.reached = new Set();
    document.addEventListener("focusin", ({ target }) => window.reached.add(target));
}"""
LEFT = """() => [...document.querySelectorAll("main :is(button, select, input, summary)")]
    .filter((one) => one.checkVisibility() && !one.disabled && !window.reached.has(one))
    .map((one) => one.outerHTML.slice(0, 100))"""


def same_bytes(lines: list[str], folder: Path, again: Path) -> None:
    """Run the page's command lines in another folder, and compare all files that they wrote."""
    words = [shlex.split(line)[1:] for line in lines]
    ran = [each for each in words if each[0] not in ("record", "monitor")]
    assert {*RAN} == {*ACTIONS} - OF_A_LINE
    for action, each in zip(RAN, ran, strict=True):
        assert is_of(action, each), (action, each)
    # Training as a program, like the page: a last bit may differ in a process with more in it.
    train = next(at for at, each in enumerate(ran) if each[0] == "train")
    for together in (ran[:train], ran[train : train + 1], ran[train + 1 :]):
        answers = answers_of([shlex.join(each) for each in together], CHECKOUT, again)
        assert {name: each for name, each in answers.items() if each.returncode != 0} == {}
    for name in ("recording.csv", "windows.npz", "linear.npz", "report.html", "data.html"):
        assert (folder / name).read_bytes() == (again / name).read_bytes(), name
    results = [_PORT.sub(b"", (each / "results.csv").read_bytes()) for each in (folder, again)]
    assert results[0] == results[1]
    for project in ("logger", "live", "measured"):
        written = [path for path in (again / project).rglob("*") if path.is_file()]
        kept = [path.relative_to(again) for path in written if ".pio" not in path.parts]
        assert kept
        for path in kept:
            assert (folder / path).read_bytes() == (again / path).read_bytes(), path


def is_of(action: str, words: list[str]) -> bool:
    """Whether words are those of an action of the table."""
    wanted = [
        word for word in ACTIONS[action].split() if not word.endswith("?") and "+" not in word
    ]
    forms = [re.sub(r"\\{\w+\\}", ".+", re.escape(word)) for word in wanted]
    return all(any(re.fullmatch(form, word) for word in words) for form in forms)


def same_rows(line: str, recorded: bytes, again: Path) -> None:
    """Record a take by the page's command line: the same rows, from where the sensor then was."""
    (again / "recording.csv").unlink()
    command = [sys.executable, "-m", "protonn_edge", *shlex.split(line)[1:]]
    subprocess.run(command, cwd=again, check=True, capture_output=True, timeout=120)
    rows = (again / "recording.csv").read_text().splitlines()
    of_page = recorded.decode().splitlines()[: len(rows)]
    assert len(rows) == 102
    assert rows[:2] == of_page[:2]
    replayed = (again / "arm.csv").read_text().splitlines()[2:]
    for taken in (rows[2:], of_page[2:]):
        names, values = zip(*(row.split(",", 3)[::3] for row in taken), strict=True)
        assert {*names} == {"rest"}
        first = replayed.index(values[0])
        assert [*values] == [*replayed[first:], *replayed[:first]][: len(values)]
    assert [row.split(",")[:3] for row in rows[2:]] == [row.split(",")[:3] for row in of_page[2:]]
