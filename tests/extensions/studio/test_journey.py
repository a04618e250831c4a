"""From an empty folder to a report, by the primary action alone, on the emulated board.

One walk is shared; the tests after it look at the folder that it leaves, and put back what they
change.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from avr_tools import EMULATED_AVR, skip_without
from checkout import CHECKOUT
from extensions.studio.shown import (
    DESK,
    JOB_MS,
    PHONE,
    SCHEMES,
    STAGES,
    Shown,
    opened,
    studio,
)
from one_process import answers_of
from playwright.sync_api import Browser, expect

from protonn_edge.extensions.studio.words import in_words

MOST_PRESSES = 8
MOST_TAB_STOPS = 8  # from the top of the page to the primary action
OF_A_LINE = ("record", "monitor", "upload")  # which write no file, or one by time


@dataclass
class Walk:
    """A folder in which the journey was made, its studio, and what the journey found."""

    folder: Path
    url: str
    presses: int = 0
    found: dict[str, Any] = field(default_factory=dict)


@pytest.fixture(scope="module")
def walk(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """Walk from an empty folder to the report by pressing only the primary action."""
    skip_without(*EMULATED_AVR)
    folder = tmp_path_factory.mktemp("studio") / "gestures"
    folder.mkdir()
    with studio(folder) as url:
        walk = Walk(folder, url)
        with opened(browser, url, folder) as shown:
            _go(walk, shown)
            assert shown.complaints == []
            assert shown.elsewhere == []
        yield walk


@pytest.fixture
def shown(browser: Browser, walk: Walk) -> Iterator[Shown]:
    """Open the page of the walk's folder again."""
    with opened(browser, walk.url, walk.folder) as shown:
        yield shown
        assert shown.complaints == []
        assert shown.elsewhere == []


def _go(walk: Walk, shown: Shown) -> None:
    page, found = shown.page, walk.found

    def press(words: str) -> None:
        walk.presses += 1
        shown.press_primary(words)

    found["start"] = shown.barred()
    press("Start with the sample")
    page.locator("#record").wait_for(timeout=JOB_MS)
    expect(page.locator("#rows .thumb")).not_to_have_count(0)
    found["takes"] = page.locator("#rows .thumb").count()
    press("Train a model")
    expect(page.locator("#stage-train .job button")).to_be_visible()
    found["job"] = _job(shown)
    expect(page.locator("#answers")).to_contain_text("% right", timeout=JOB_MS)
    expect(shown.primary).to_have_text("Try it live", timeout=JOB_MS)
    found["after the job"] = page.evaluate("document.activeElement.textContent")
    press("Try it live")
    expect(page.locator("#says")).to_have_text(re.compile("[a-z]"), timeout=JOB_MS)
    found["said"] = _said(shown)
    press("Put it on the board")
    press("Measure and write the report")
    with page.context.expect_page(timeout=JOB_MS) as report:
        press("Open the report")
    report.value.wait_for_load_state()
    found["report"] = report.value.title()
    report.value.close()


def _job(shown: Shown) -> dict[str, Any]:
    """Return what can be seen of a job, here and from another stage."""
    page = shown.page
    unseen = shown.in_view("#stage-train .job progress", "#stage-train .job button")
    focus = page.evaluate("document.activeElement.textContent")
    shown.go("data")
    expect(page.locator("[data-stage=train].busy")).to_be_visible()
    expect(page.locator("[data-stage=train] .mark")).not_to_have_text(re.compile("^0?$"))
    shown.go("train")
    back = shown.in_view("#stage-train .job button")
    value = page.locator("#stage-train .job progress").evaluate("(one) => one.value")
    return {"unseen": [*unseen, *back], "focus": focus, "value": value}


def _said(shown: Shown) -> set[str]:
    """Return the classes that are answered while the sample plays."""
    said = set[str]()
    for _ in range(60):
        said.add(shown.page.locator("#says").inner_text())
        if len(said) > 2:
            break
        shown.page.wait_for_timeout(300)
    return said


def test_the_primary_action_alone_leads_to_a_report(walk: Walk) -> None:
    assert walk.presses <= MOST_PRESSES
    assert walk.found["takes"] >= 9
    assert "on an Uno" in walk.found["report"]
    assert len(walk.found["said"]) >= 2


def test_a_job_stands_at_its_button_with_the_focus_on_stop(walk: Walk) -> None:
    job = walk.found["job"]
    assert job["unseen"] == []
    assert job["focus"].startswith("Stop")
    assert job["value"] > 0
    # The end of the job moves the focus to the next step.
    assert walk.found["after the job"] == "Try it live"


def test_the_start_has_no_barriers(walk: Walk) -> None:
    assert walk.found["start"] == []


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_each_stage_is_readable_named_and_within_the_window(
    browser: Browser, walk: Walk, size: dict[str, int]
) -> None:
    with opened(browser, walk.url, walk.folder, viewport=size) as shown:
        for stage in STAGES:
            shown.go(stage)
            expect(shown.primary).to_be_visible()
            if stage == "data":
                shown.page.locator("#rows .thumb").first.click()
                expect(shown.page.locator(".editing")).to_be_visible()
            for scheme in SCHEMES:
                shown.page.emulate_media(color_scheme=scheme)
                assert (stage, scheme, shown.barred()) == (stage, scheme, [])
        assert shown.complaints == []


def test_the_primary_action_is_eight_tab_stops_away(shown: Shown) -> None:
    for stage in STAGES:
        shown.go(stage)
        expect(shown.primary).to_be_visible()
        shown.page.evaluate("document.activeElement.blur()")
        reached = 0
        for stop in range(1, MOST_TAB_STOPS + 1):
            shown.page.keyboard.press("Tab")
            if shown.primary.evaluate("(one) => one === document.activeElement"):
                reached = stop
                break
        assert (stage, 0 < reached <= MOST_TAB_STOPS) == (stage, True)


def test_notices_stay_after_a_reload_and_in_another_tab(shown: Shown, walk: Walk) -> None:
    last = {entry["action"]: entry["record"] for entry in _log(walk) if entry.get("record")}
    notices = [each for record in last.values() for each in record.get("notices", [])]
    assert notices
    texts = {in_words(each["text"]) for each in notices}
    warnings = {in_words(each["text"]) for each in notices if each["warning"]}
    for page in (shown.page, shown.page.context.new_page()):
        page.goto(walk.url)
        told = ""
        for stage in STAGES:
            page.locator(f"[data-stage={stage}]").click()
            expect(page.locator(f"#stage-{stage} .act button").first).to_be_visible()
            told += page.locator(f"#stage-{stage}").evaluate("(one) => one.textContent")
        assert [text for text in texts if text not in told] == []
        assert all(page.get_by_text(text).count() for text in warnings)


def _log(walk: Walk) -> list[dict[str, Any]]:
    lines = (walk.folder / ".studio.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_bars_of_the_board_are_those_of_its_build(shown: Shown, walk: Walk) -> None:
    shown.go("board")
    limits = shown.page.locator("#limits")
    expect(limits).to_be_visible()
    built = json.loads((walk.folder / "live" / "built.json").read_text())
    told = limits.inner_text()
    assert f"{built['flash_bytes']:,}" in told
    assert f"{built['sram_bytes'] + built['stack_bytes']:,}" in told


def test_while_a_take_is_recorded_all_of_it_is_in_view(shown: Shown) -> None:
    page = shown.page
    shown.go("data")
    _connect(shown)
    before = page.locator("#rows .thumb").count()
    label = page.locator("#rows h2").first.inner_text().splitlines()[0]
    page.locator("#how").get_by_label("Takes of").select_option("2")
    page.locator("#how").get_by_label("after a pause of").select_option("0")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("1")
    expect(page.locator("#take-what")).to_have_text(f"Recording {label}", timeout=30_000)
    seen = ("#record canvas", "#take-what", "#take-how", "#take-end", "#rows .now")
    assert shown.in_view(*seen) == []
    assert page.locator("#record canvas").bounding_box()["y"] < 200
    assert shown.barred() == []
    expect(page.locator("#rows .thumb")).to_have_count(before + 1, timeout=30_000)
    expect(page.locator("#take-what")).to_contain_text("is kept")
    # The model is older than its data now, and after the take is deleted, it is not.
    shown.expect_mark("train", "old")
    shown.expect_mark("board", "old")
    page.locator("#rows li").first.locator(".thumb").last.click()
    page.get_by_role("button", name="Delete the take").click()
    expect(page.locator("#rows .thumb")).to_have_count(before, timeout=30_000)
    shown.expect_mark("train", "done", "warn")
    shown.expect_mark("board", "done", "warn")


def test_a_wrong_answer_becomes_a_take(shown: Shown) -> None:
    page = shown.page
    shown.go("data")
    before = page.locator("#rows .thumb").count()
    shown.go("try")
    connect = page.locator("#stage-try [data-key=connect]")
    connect.or_(page.locator("#wrong:visible")).first.wait_for()
    if connect.is_visible():
        connect.click()
    expect(page.locator("#says")).to_have_text(re.compile("[a-z]"), timeout=JOB_MS)
    page.wait_for_timeout(2500)  # which the take shall have
    assert shown.barred() == []
    page.keyboard.press("1")
    expect(page.locator("#kept")).to_contain_text("Kept as a take of", timeout=30_000)
    shown.go("data")
    expect(page.locator("#rows .thumb")).to_have_count(before + 1)
    page.locator("#rows .strip-of").first.locator(".thumb").last.click()
    page.get_by_role("button", name="Delete the take").click()
    expect(page.locator("#rows .thumb")).to_have_count(before, timeout=30_000)
    shown.expect_mark("train", "done", "warn")


def test_the_library_is_downloaded_as_a_file(shown: Shown) -> None:
    shown.go("board")
    with shown.page.expect_download(timeout=JOB_MS) as download:
        shown.page.get_by_role("button", name="Download gestures.zip").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert any(name.endswith("library.properties") for name in archive.namelist())


def test_a_discarded_take_leaves_nothing(shown: Shown) -> None:
    page = shown.page
    shown.go("data")
    _connect(shown)
    before, lines = page.locator("#rows .thumb").count(), shown.lines()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("1")
    expect(page.locator("#take-discard")).to_be_visible(timeout=30_000)
    page.keyboard.press("x")
    expect(page.locator("#take-discard")).to_be_hidden(timeout=30_000)
    expect(page.locator("#rows .thumb")).to_have_count(before)
    assert [line for line in shown.lines() if line not in lines] == []


def _connect(shown: Shown) -> None:
    connect = shown.page.locator("[data-key=connect]:visible")
    record = shown.page.locator("#record")
    connect.or_(record).first.wait_for()
    if connect.count():
        connect.first.click()
    record.wait_for(timeout=JOB_MS)


def test_handles_move_by_keys_as_by_dragging_and_an_edit_is_undone(shown: Shown) -> None:
    page = shown.page
    shown.go("data")
    thumb = page.locator("#rows .thumb").nth(1)
    thumb.click()
    begin, end = (page.locator(f".handle[aria-label={name}]") for name in ("Begin", "End"))
    expect(begin).to_be_focused()
    n = int(str(end.get_attribute("aria-valuenow")))
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowRight")
    assert begin.get_attribute("aria-valuenow") == "11"
    box = page.locator(".cut").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 40, steps=3)
    page.mouse.up()
    assert abs(int(str(end.get_attribute("aria-valuenow"))) - n / 2) <= 1
    kept = int(str(end.get_attribute("aria-valuenow"))) - 11
    expect(page.locator(".editing .ribbon")).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Keep the selection").click()
    undo = page.locator("#undo")
    expect(undo).to_contain_text(f"kept {kept} of {n} samples", timeout=30_000)
    expect(page.locator(".editing output")).to_contain_text(f"{kept} of {kept} samples")
    shown.expect_mark("train", "old")
    page.keyboard.press("Escape")
    expect(page.locator(".editing")).to_be_hidden()
    expect(thumb).to_be_focused()
    page.keyboard.press("u")
    expect(undo).not_to_contain_text(f"kept {kept} of {n} samples", timeout=30_000)
    shown.expect_mark("train", "done", "warn")


def test_a_window_opens_its_take_with_itself_selected(shown: Shown) -> None:
    page = shown.page
    shown.go("train")
    window = page.locator("#cell button.thumb").first
    expect(window).to_be_enabled(timeout=30_000)
    window.click()
    expect(page.locator("#stage-data")).to_be_visible()
    begin, end = (page.locator(f".handle[aria-label={name}]") for name in ("Begin", "End"))
    places = [int(str(each.get_attribute("aria-valuenow"))) for each in (begin, end)]
    assert places[1] - places[0] == 50


def test_without_new_samples_nothing_moves_where_motion_is_reduced(shown: Shown) -> None:
    page = shown.page
    page.goto(page.url.partition("#")[0] + "#start")
    for place in ("#demo",):
        page.wait_for_timeout(700)
        pictures = []
        for _ in range(2):
            pictures.append(page.locator(f"{place} canvas").evaluate("(one) => one.toDataURL()"))
            page.wait_for_timeout(700)
        assert pictures[0] == pictures[1]


def test_stop_keeps_what_is_finished_and_says_so(shown: Shown, walk: Walk) -> None:
    page = shown.page
    model = (walk.folder / "protonn.npz").read_bytes()
    shown.go("train")
    page.locator("[name=classifier]").select_option("best")
    page.get_by_role("button", name="Train again").click()
    expect(page.locator(".job button")).to_be_focused()
    page.wait_for_timeout(400)
    page.keyboard.press("Escape")
    expect(page.locator(".job")).to_be_hidden(timeout=JOB_MS)
    assert (walk.folder / "protonn.npz").read_bytes() == model
    (walk.folder / "best.npz").unlink(missing_ok=True)


def test_lines_of_the_drawer_write_the_same_bytes_in_another_folder(
    shown: Shown, walk: Walk, tmp_path: Path
) -> None:
    page = shown.page
    page.keyboard.press("c")
    expect(page.locator("#commands")).to_be_visible()
    lines = shown.lines()
    words = [shlex.split(line)[1:] for line in lines]
    assert {"build", "windows", "train", "hil", "report"} <= {each[0] for each in words}
    last = {tuple(each): None for each in words if each[0] not in (*OF_A_LINE, "takes", "build")}
    again = tmp_path / "again"
    again.mkdir()
    for name in ("recording.csv", "play.csv"):
        shutil.copy(walk.folder / name, again)
    commands = [shlex.join(each) for each in last if "best" not in " ".join(each)]
    builds = [shlex.join(each) for each in words if each[0] == "build" and "measured" in each]
    train = [each for each in commands if each.startswith(("windows", "train"))]
    rest = [each for each in commands if each not in train]
    for together in (train[:1], train[1:2], [*builds[:1], *rest]):
        answers = answers_of(together, CHECKOUT, again)
        assert {name: each for name, each in answers.items() if each.returncode != 0} == {}
    for name in ("windows.npz", "protonn.npz", "report.html"):
        assert (walk.folder / name).read_bytes() == (again / name).read_bytes(), name


def test_marks_and_bars_stay_after_a_restart_and_without_the_log(
    browser: Browser, walk: Walk, tmp_path: Path
) -> None:
    folder = tmp_path / "gestures"
    shutil.copytree(walk.folder, folder)
    with studio(folder) as url, opened(browser, url, folder) as shown:
        before = [shown.mark(stage).split()[0] for stage in STAGES]
        shown.go("board")
        limits = shown.page.locator("#limits").inner_text()
        (folder / ".studio.jsonl").unlink()
        shown.page.reload()
        expect(shown.page.locator("#limits")).to_have_text(re.compile(".+"))
        after = [shown.mark(stage).split()[0] for stage in STAGES]
        assert [mark in ("done", "warn", "ready") for mark in before] == [True] * 5
        assert [each.replace("warn", "done") for each in before] == [
            each.replace("warn", "done") for each in after
        ]
        assert shown.page.locator("#limits").inner_text() == limits
        names = shown.page.locator("#data-file option").all_inner_texts()
        assert "results.csv" not in names
