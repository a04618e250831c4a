"""From an empty folder to a report, by the primary action alone, on the emulated board.

One walk and one page are shared; the tests after it look at the folder that it leaves, and put back
what they change.
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
from command_line import succeed
from extensions.studio.shown import DESK, STAGES, Shown, opened, studio
from one_process import answers_of
from playwright.sync_api import Browser, expect

from protonn_edge.codegen.projects.built import built_in

MOST_PRESSES = 8
MOST_TAB_STOPS = 8  # from the top of the page to the primary action
UNO_KHZ = 16_000
OF_A_LINE = ("record", "monitor", "upload")  # which write no file, or one by time
LEAVE = "studio.wire.order('disconnect')"  # an emulated board that runs takes half a core
RENEWED = "studio.renew().then(() => studio.stages.data.show())"  # with the takes as they are now
TWO_SECONDS = "() => studio.stages.try.scope.at > 2 * studio.stages.try.scope.rate"
LOGGED = "(lines) => studio.state.log.length > lines && !studio.job.running"
EDITS = (
    ".editing [data-key=keep]", ".editing [data-key=cut]", ".editing [name=label]",
    ".editing [data-key=delete]",
)  # fmt: skip
"""What edits the take in the editor."""


@dataclass
class Walk:
    """A folder in which the journey was made, its studio, and what the journey found.

    `made` is a copy of the folder at its end.
    """

    folder: Path
    url: str
    made: Path
    presses: int = 0
    found: dict[str, Any] = field(default_factory=dict)


@pytest.fixture(scope="module")
def walk(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """Walk from an empty folder to the report by pressing only the primary action."""
    skip_without(*EMULATED_AVR)
    folder = tmp_path_factory.mktemp("studio") / "gestures"
    folder.mkdir()
    with studio(folder) as url:
        walk = Walk(folder, url, folder.parent / "made")
        with opened(browser, url, folder) as shown:
            _go(walk, shown)
            assert shown.complaints == []
            assert shown.elsewhere == []
        shutil.copytree(folder, walk.made)
        yield walk


@pytest.fixture(scope="module")
def again(browser: Browser, walk: Walk) -> Iterator[Shown]:
    """Open the page of the walk's folder again."""
    with opened(browser, walk.url, walk.folder) as shown:
        yield shown


@pytest.fixture
def shown(again: Shown) -> Iterator[Shown]:
    """Give the page, which complains about nothing that a test does with it."""
    again.page.set_viewport_size(DESK)
    again.page.evaluate(RENEWED)
    again.complaints.clear()
    yield again
    assert again.complaints == []
    assert again.elsewhere == []


def _go(walk: Walk, shown: Shown) -> None:
    page, found = shown.page, walk.found

    def press(words: str) -> None:
        walk.presses += 1
        shown.press_primary(words)

    found["start"] = shown.barred()
    press("Start with the sample")
    page.wait_for_function("() => studio.stages.data.scope.drawn > 2")
    expect(page.locator("#rows .thumb")).not_to_have_count(0)
    found["takes"] = page.locator("#rows .thumb").count()
    press("Train a model")
    expect(page.locator("#stage-train .job button")).to_be_visible()
    found["job"] = _job(shown)
    expect(page.locator("#answers")).to_contain_text("% right")
    expect(shown.primary).to_have_text("Try it live")
    found["after the job"] = page.evaluate("document.activeElement.textContent")
    press("Try it live")
    expect(page.locator("#says")).to_have_text(re.compile("[a-z]"))
    found["said"] = _said(shown)
    press("Put it on the board")
    page.evaluate(LEAVE)
    found["bars"] = [_bars(shown)]
    press("Measure and write the report")
    expect(shown.primary).to_have_text("Open the report")
    shown.go("board")
    found["bars"].append(_bars(shown))
    shown.go("report")
    with page.context.expect_page() as report:
        press("Open the report")
    report.value.wait_for_load_state()
    found["report"] = report.value.title()
    report.value.close()
    found["lines"] = shown.lines()


def _bars(shown: Shown) -> str:
    """Return the words of the bars of the board."""
    limits = shown.page.locator("#limits")
    expect(limits).to_contain_text("Flash")
    return limits.inner_text()


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
    return {"unseen": [*unseen, *back], "focus": focus}


def _said(shown: Shown) -> set[str]:
    """Return two classes that are answered while the sample plays."""
    says = shown.page.locator("#says")
    first = says.inner_text()
    expect(says).not_to_have_text(first)
    return {first, says.inner_text()}


def test_the_primary_action_alone_leads_to_a_report(walk: Walk) -> None:
    assert walk.presses <= MOST_PRESSES
    assert walk.found["start"] == []
    assert walk.found["takes"] >= 9
    assert "on an Uno" in walk.found["report"]
    assert len(walk.found["said"]) >= 2
    # A job stands at its button with the focus on Stop; its end moves this to the next step.
    assert walk.found["job"]["unseen"] == []
    assert walk.found["job"]["focus"].startswith("Stop")
    assert walk.found["after the job"] == "Try it live"


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


def _log(walk: Walk) -> list[dict[str, Any]]:
    lines = (walk.folder / ".studio.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_bars_of_the_board_are_those_of_its_build_before_and_after_measuring(walk: Walk) -> None:
    built = next(each["record"] for each in _log(walk) if each["action"] == "build")
    before, after = walk.found["bars"]
    assert before == after
    for figure in (built["flash_bytes"], built["sram_bytes"] + built["stack_bytes"]):
        assert f"{figure:,} of " in before
    assert f"{built['response']['cycles'] / UNO_KHZ:.2g} of " in before


def test_a_take_is_in_view_while_it_is_recorded_and_makes_the_model_old(shown: Shown) -> None:
    page, discard = shown.page, shown.page.locator("#take-discard")
    _connect(shown)
    before, lines = page.locator("#rows .thumb").count(), shown.lines()
    page.keyboard.press("1")
    expect(discard).to_be_visible()
    page.keyboard.press("x")
    expect(discard).to_be_hidden()
    expect(page.locator("#rows .thumb")).to_have_count(before)
    assert shown.lines() == lines
    label = page.locator("#rows h2").first.inner_text().splitlines()[0]
    page.keyboard.press("1")
    expect(page.locator("#take-what")).to_have_text(f"Recording {label}")
    page.wait_for_function("() => studio.stages.data.take?.kept > 5")
    page.evaluate(RENEWED)
    expect(page.locator("#rows .thumb")).to_have_count(before)
    seen = ("#record canvas", "#take-what", "#take-how", "#take-end", "#rows .now")
    assert shown.in_view(*seen) == []
    assert page.locator("#record canvas").bounding_box()["y"] < 200
    assert shown.barred() == []
    page.keyboard.press("e")
    expect(page.locator("#rows .thumb")).to_have_count(before + 1)
    expect(page.locator("#take-what")).to_contain_text("is kept")
    shown.expect_mark("board", "old")
    _delete_last(shown, before)


def test_a_wrong_answer_becomes_a_take(shown: Shown) -> None:
    page = shown.page
    _connect(shown)
    before = page.locator("#rows .thumb").count()
    shown.go("try")
    expect(page.locator("#says")).to_have_text(re.compile("[a-z]"))
    page.wait_for_function(TWO_SECONDS)
    assert shown.barred() == []
    page.keyboard.press("1")
    expect(page.locator("#kept")).to_contain_text("Kept as a take of")
    shown.go("data")
    _delete_last(shown, before)
    page.evaluate(LEAVE)


def _connect(shown: Shown) -> None:
    """Connect the board, and have takes last until they are ended."""
    shown.go("data")
    connect = shown.page.locator("[data-key=connect]:visible")
    record = shown.page.locator("#record")
    connect.or_(record).first.wait_for()
    if connect.count():
        connect.first.click()
    record.wait_for()
    shown.page.locator("#how").get_by_label("Takes of").select_option("")
    shown.page.locator("#how").get_by_label("after a pause of").select_option("0")
    shown.page.evaluate("document.activeElement.blur()")


def _delete_last(shown: Shown, before: int) -> None:
    """Delete the new take of the first class; the model is older until then, and not after it."""
    expect(shown.page.locator("#rows .thumb")).to_have_count(before + 1)
    shown.expect_mark("train", "old")
    shown.page.evaluate(RENEWED)
    with shown.page.expect_response("**/ask/answers"):  # which are of these takes
        shown.page.locator("#rows .strip-of").first.locator(".thumb").last.click()
    shown.page.get_by_role("button", name="Delete the take").click()
    expect(shown.page.locator("#rows .thumb")).to_have_count(before)
    shown.expect_mark("train", "done", "warn")
    shown.expect_mark("board", "done", "warn")


def test_the_library_is_downloaded_as_a_file(shown: Shown) -> None:
    shown.go("board")
    with shown.page.expect_download() as download:
        shown.page.get_by_role("button", name="Download gestures.zip").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert any(name.endswith("library.properties") for name in archive.namelist())


def test_handles_move_by_keys_as_by_dragging(shown: Shown) -> None:
    page = shown.page
    shown.go("data")
    thumb = page.locator("#rows .thumb").nth(1)
    thumb.click()
    handles = [page.locator(f".handle[aria-label={name}]") for name in ("Begin", "End")]
    expect(handles[0]).to_be_focused()
    box, n = page.locator(".cut").bounding_box(), _places(shown)[1]

    def selected() -> tuple[list[int], str]:
        return _places(shown), page.locator(".editing output").inner_text()

    for side, to in ((0, 11), (1, n - 7), (1, n - 40), (0, 25), (0, 0), (1, n)):
        before = _places(shown)[side]
        page.mouse.move(box["x"] + box["width"] * before / n, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * to / n, box["y"] + 40, steps=3)
        page.mouse.up()
        dragged = selected()
        assert dragged[0][side] == to
        page.keyboard.press("Home" if side == 0 else "End")  # the handle has the focus
        steps = to if side == 0 else n - to
        by_ten, by_one = (("PageUp", "ArrowRight"), ("PageDown", "ArrowLeft"))[side]
        for key in [by_ten] * (steps // 10) + [by_one] * (steps % 10):
            page.keyboard.press(key)
        assert selected() == dragged
    page.keyboard.press("Escape")
    expect(page.locator(".editing")).to_be_hidden()
    expect(thumb).to_be_focused()


def _places(shown: Shown) -> list[int]:
    """Return the samples at which the selection begins and ends."""
    return shown.page.locator(".handle").evaluate_all(
        "(all) => all.map((one) => +one.ariaValueNow)"
    )


def test_each_edit_is_its_line_and_is_undone(
    shown: Shown, walk: Walk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, undo = shown.page, shown.page.locator("#undo")
    recording = walk.folder / "recording.csv"
    shutil.copy(recording, tmp_path)
    monkeypatch.chdir(tmp_path)
    first = recording.read_bytes()

    def same_line(lines: int) -> bytes:
        """Run the line of the edit in the other folder, where it makes the same recording."""
        page.wait_for_function(LOGGED, arg=lines)
        page.evaluate(RENEWED)
        succeed(*shlex.split(shown.lines()[-1])[1:])
        assert Path("recording.csv").read_bytes() == recording.read_bytes()
        return recording.read_bytes()

    shown.go("data")
    for edit in EDITS:
        page.locator("#rows .thumb").nth(1).click()
        page.locator(".handle").first.press("PageUp")
        place, lines = page.locator(edit), len(shown.lines())
        if "name=" in edit:
            place.select_option(index=1)
        else:
            place.click()
        assert same_line(lines) != first
        expect(undo).to_be_visible()
        shown.expect_mark("train", "old")
        if page.locator(".editing").is_visible():
            page.keyboard.press("Escape")
        page.keyboard.press("u")
        assert same_line(lines + 1) == first
        shown.expect_mark("train", "done", "warn")


def test_each_window_opens_its_take_with_itself_selected(shown: Shown) -> None:
    page = shown.page
    shown.go("train")
    wrong = page.locator("#matrix .wrong button").or_(page.locator("#matrix .right button"))
    wrong.first.click()
    windows = page.locator("#cell button.thumb")
    expect(windows.first).to_be_enabled()
    places = page.evaluate(
        "(({ cells, classes }) => Object.fromEntries(Object.entries(cells).map("
        "([cell, all]) => [cell, all.map(({ at }) => at)])))(studio.stages.train.answered)"
    )
    pressed = page.locator("#matrix [aria-pressed=true]").get_attribute("data-key")
    for number, at in enumerate(places[pressed][:2]):
        shown.go("train")
        windows.nth(number).click()
        expect(page.locator("#stage-data")).to_be_visible()
        expect(page.locator(".cut svg")).to_have_attribute(
            "aria-label", re.compile(f"^Take {at['take']} of ")
        )
        assert _places(shown) == [at["first"], at["first"] + at["n"]]
    page.keyboard.press("Escape")


def test_another_sensors_logger_is_rebuilt_for_the_sensor_of_the_data(
    shown: Shown, walk: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, source = shown.page, shown.page.locator("#source")
    shown.go("data")
    monkeypatch.chdir(walk.folder)
    succeed("build", "--sensor=mpu6050", "--rate=100", "-o", "logger")
    page.reload()
    expect(source).to_contain_text("ADXL345, 50 samples a second")
    shown.go("data")
    page.locator("#live [data-key=connect]").click()
    page.locator("#record").wait_for()
    source.click()
    page.get_by_role("button", name="Disconnect").click()
    expect(page.locator("#record")).to_be_hidden()
    assert built_in(walk.folder / "logger")["sensors"] == ["adxl345"]
    shown.go("board")
    lines = len(shown.lines())
    page.get_by_role("button", name="Build it again").click()
    page.wait_for_function(LOGGED, arg=lines)
    assert "--sensor=adxl345" in shown.lines()[-1]
    assert built_in(walk.folder / "live")["sensors"] == ["adxl345"]
    source.click()
    values = page.locator("input, select").evaluate_all("(all) => all.map((one) => one.value)")
    page.get_by_role("button", name="Cancel").click()
    assert "adxl345" in values
    assert not [each for each in values if "mpu6050" in each]
    for stage in STAGES:
        shown.go(stage)
        assert "mpu6050" not in page.locator("main").inner_text().lower()


def test_stop_keeps_what_is_finished_and_says_so(shown: Shown, walk: Walk) -> None:
    page = shown.page
    model = (walk.folder / "recording-model.npz").read_bytes()
    shown.go("train")
    page.locator("[name=classifier]").select_option("best")
    page.get_by_role("button", name="Train again").click()
    expect(page.locator(".job button")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#stage-train .alert .notice p")).to_contain_text("stopped")
    expect(page.locator(".job")).to_be_hidden()
    assert (walk.folder / "recording-model.npz").read_bytes() == model
    (walk.folder / "recording-best.npz").unlink(missing_ok=True)


def test_lines_of_the_drawer_write_the_same_bytes_in_another_folder(
    walk: Walk, tmp_path: Path
) -> None:
    lines = [shlex.split(line)[1:] for line in walk.found["lines"]]
    commands = [shlex.join(words) for words in lines if words[0] not in OF_A_LINE]
    assert {"build", "windows", "train", "hil", "report"} == {each.split()[0] for each in commands}
    for name in ("recording.csv", "play.csv"):
        shutil.copy(walk.made / name, tmp_path)
    answers = answers_of(commands, CHECKOUT, tmp_path)
    assert {name: each for name, each in answers.items() if each.returncode != 0} == {}
    made = _files_of(walk.made)
    assert {"logger", "live", "measured", "recording-windows.npz", "report.html"} <= {
        name.partition("/")[0] for name in made
    }
    again = _files_of(tmp_path)
    assert [*made] == [*again]
    assert [name for name in made if made[name] != again[name]] == []


def _files_of(folder: Path) -> dict[str, bytes]:
    """Return the contents of a folder, without the log and what compilers keep."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {".pio", ".studio.jsonl"} & {*path.relative_to(folder).parts}
    }


def test_marks_and_bars_stay_after_a_restart_and_without_the_log(
    browser: Browser, walk: Walk, tmp_path: Path
) -> None:
    folder = tmp_path / "gestures"
    shutil.copytree(walk.folder, folder)
    with studio(folder) as url, opened(browser, url, folder) as shown:
        before = [shown.mark(stage).split()[0] for stage in STAGES]
        shown.go("board")
        limits = _bars(shown)
        assert limits == walk.found["bars"][0]
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
