"""The sheet in a browser: own data of seven kinds, by keys alone, on all screens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from avr_tools import EMULATED_AVR, skip_without
from extensions.studio.conftest import serving
from extensions.studio.own_data import KINDS, picture, write_kind
from extensions.studio.shown import PHONE, Shown, opened
from playwright.sync_api import Browser, expect

FOCUS = "document.activeElement.textContent"


@pytest.fixture
def shown(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    """Open the page of an empty folder, which is served in this process."""
    folder = tmp_path / "new"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with serving(folder) as site, opened(browser, site.server.url, folder) as shown:
        yield shown
        assert shown.complaints == []
        assert shown.elsewhere == []


@pytest.mark.parametrize("kind", KINDS)
def test_own_data_are_shown_before_they_are_kept_by_one_key(
    kind: str, shown: Shown, tmp_path: Path
) -> None:
    title, primary, name = KINDS[kind]
    page, own = shown.page, write_kind(tmp_path / "own", kind)
    files = [*own.iterdir()]
    sheet = shown.drop(*(files if len(files) == 1 else [own]))
    expect(sheet.locator("h2")).to_have_text(title)
    expect(sheet.locator(".primary")).to_have_text(primary)
    assert page.evaluate(FOCUS) == title
    assert shown.barred() == []
    # Escape keeps nothing, and a second drop is as the first one.
    with page.expect_response("**/do/leave"):
        page.keyboard.press("Escape")
    expect(page.locator("#sheet")).to_be_hidden()
    assert [*shown.folder.iterdir()] == []
    page.set_viewport_size(PHONE)
    shown.bring(*(files if len(files) == 1 else [own]))
    expect(page.locator("#stage-data .done")).to_be_visible()
    assert (shown.folder / name).exists()
    expect(shown.primary).to_have_text("Train a model")
    expect(shown.primary).to_be_focused()
    assert shown.barred() == []
    page.locator("#stage-data .alert button").click()
    expect(page.locator("#stage-data .lead")).to_contain_text("drop a file here")
    assert not (shown.folder / name).exists()


def test_a_drop_whose_names_say_no_class_asks_for_it(shown: Shown, tmp_path: Path) -> None:
    for take in range(3):
        (tmp_path / f"IMG_{take}.png").write_bytes(picture("circle", take))
    (tmp_path / "IMG_9.png").write_bytes(b"")
    page, sheet = shown.page, shown.drop(*sorted(tmp_path.glob("IMG*")))
    expect(sheet.locator(".left li")).to_have_text("IMG_9.png is empty")
    page.keyboard.press("Enter")
    expect(sheet.get_by_role("alert")).to_contain_text("Name the class first")
    expect(sheet.get_by_role("textbox")).to_be_focused()
    page.keyboard.type("circle")
    expect(sheet.locator(".rows .name")).to_have_text("circle")
    page.keyboard.press("Enter")
    expect(page.locator("#stage-data .done")).to_contain_text("One more class, then you can train")
    assert len([*shown.folder.glob("pictures/circle/*.png")]) == 3


def kept_in(folder: Path) -> list[Path]:
    """Return what is in a folder, without the project, which is built behind."""
    return sorted(
        each for each in folder.rglob("*") if folder / "project" not in (each, *each.parents)
    )


@pytest.mark.parametrize("kind", ["house", "pictures", "app", "sets"])
def test_enter_alone_leads_from_a_drop_to_an_answer(
    kind: str, shown: Shown, tmp_path: Path
) -> None:
    skip_without(*EMULATED_AVR)
    page, own = shown.page, write_kind(tmp_path / "own", kind)
    files = [*own.iterdir()]
    shown.drop(*(files if len(files) == 1 else [own]))
    page.keyboard.press("Enter")
    for words in ("Train a model", "Try it"):
        expect(shown.primary).to_have_text(words)
        expect(shown.primary).to_be_focused()
        page.keyboard.press("Enter")
    held = page.locator("#held")
    expect(held.locator(".class")).to_have_text(re.compile(r"\w"))
    assert shown.barred() == []
    first = held.locator(".note").text_content()
    if kind == "house":  # a slider leads to another answer, as its strip says
        expect(held.locator(".row span").first).to_have_text("row 1 of 60")  # all held-out ones
        indoor = held.get_by_label("Innen °C")
        for key, said in (("End", "angenehm"), ("Home", "zu kühl")):
            indoor.press(key)
            expect(held.locator(".class")).to_have_text(said)
        expect(held.locator(".note")).to_contain_text("with these values")
    held.get_by_role("button", name="The next one").click()
    expect(held.get_by_role("button", name="The next one")).to_be_focused()
    expect(held.locator(".note")).not_to_have_text(f"{first} ")
    # A file of one's own is answered, too, beside one that cannot be; nothing of them is kept.
    one, kept = min(each for each in own.rglob("*.*") if each.is_file()), kept_in(shown.folder)
    (tmp_path / "bad.png").write_bytes(b"")
    page.locator("#files").set_input_files([one, tmp_path / "bad.png"])
    expect(held.locator(".row span").first).to_contain_text(one.name)
    expect(held.locator(".left li")).to_have_text("bad.png is empty")
    expect(held.locator(".class")).to_have_text(re.compile(r"\w"))
    assert shown.barred() == []
    assert kept_in(shown.folder) == kept
    held.get_by_role("button", name="Add to the data").click()
    expect(shown.sheet.locator(".primary")).to_be_visible()
    page.keyboard.press("Escape")
    held.get_by_role("button", name="Back to the test").click()
    expect(held.locator(".row span").first).to_contain_text("1 of")
    # From the table of answers, a number and a point of it lead here, and Escape back.
    shown.go("train")
    if kind != "sets":
        page.locator("#matrix button").first.click()
    if kind not in ("app", "sets"):  # whose points are windows of a take that can be edited
        page.locator("#cell .thumb").first.click()
        expect(held).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#matrix")).to_be_visible()


def test_sounds_are_tried_before_a_board_is_connected_or_built(
    shown: Shown, tmp_path: Path
) -> None:
    shown.bring(write_kind(tmp_path / "own", "sounds"))
    shown.press_primary("Train a model")
    shown.press_primary("Try it live")
    expect(shown.stage.locator(".lead")).to_contain_text("connect a board to watch its answers")
    expect(shown.page.locator("#held .class")).to_have_text(re.compile(r"\w"))
    assert shown.barred() == []


def test_answers_change_what_is_shown_and_keep_the_focus(shown: Shown, tmp_path: Path) -> None:
    sheet = shown.drop(write_kind(tmp_path / "own", "phone"))
    person = sheet.get_by_label("the person is")
    person.focus()
    person.select_option("")
    expect(sheet.locator("h2")).to_have_text("9 recordings: 3 classes")
    expect(person).to_be_focused()
    sheet.get_by_role("button", name="Use them as tables").click()
    expect(sheet.locator("h2")).to_contain_text("9 tables with the same columns")
    with shown.page.expect_response("**/do/leave"):
        sheet.get_by_role("button", name="Cancel").click()
    assert [*shown.folder.iterdir()] == []


def test_what_cannot_be_used_is_said_and_other_files_can_be_chosen(
    shown: Shown, tmp_path: Path
) -> None:
    (tmp_path / "noten.xlsx").write_bytes(b"PK\x03\x04")
    # Heard from the start: a wish to hear of choosers that comes with the key may come too late.
    with shown.page.expect_file_chooser():
        sheet = shown.drop(tmp_path / "noten.xlsx")
        expect(sheet.locator("h2")).to_have_text("noten.xlsx is a spreadsheet")
        expect(sheet.locator(".lead")).to_contain_text("Save it as CSV there")
        assert shown.barred() == []
        expect(sheet.locator("h2")).to_be_focused()
        shown.page.keyboard.press("Enter")
    expect(sheet).to_be_hidden()
