"""A table with a column in doubt, from the file to a report, and data of other kinds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from avr_tools import EMULATED_AVR, skip_without
from command_line import succeed
from extensions.studio.shown import Shown, opened, studio
from playwright.sync_api import Browser, Route, expect

MOST_PRESSES = 5


def write_house(path: Path, n: int = 400) -> None:
    """Write readings of a house, whose hour rises from row to row, as a counter does."""
    rng, hours = np.random.default_rng(0), np.arange(n) % 24
    outdoor = 10 + 8 * np.sin((hours - 9) / 24 * 2 * np.pi) + rng.normal(0, 2, n)
    heating = rng.integers(0, 2, n)
    indoor = 18 + 0.15 * outdoor + 2.5 * heating + rng.normal(0, 0.3, n)
    rows = zip(np.arange(n) // 24 + 1, hours, outdoor, heating, indoor, strict=True)
    lines = [f"2026-01-{d:02d} {h:02d}:00,{h},{o:.1f},{on},{i:.1f}" for d, h, o, on, i in rows]
    path.write_text("\n".join(["time,hour,outdoor [°C],heating,indoor [°C]", *lines, ""]))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Serve an empty folder."""
    folder = tmp_path_factory.mktemp("studio") / "house"
    folder.mkdir()
    with studio(folder) as url:
        yield url, folder


@pytest.fixture
def shown(browser: Browser, place: tuple[str, Path]) -> Iterator[Shown]:
    url, folder = place
    with opened(browser, url, folder) as shown:
        yield shown
        assert shown.complaints == []
        assert shown.elsewhere == []


def test_a_table_with_a_column_in_doubt_leads_to_a_report(shown: Shown, tmp_path: Path) -> None:
    skip_without(*EMULATED_AVR)
    page = shown.page
    write_house(tmp_path / "house.csv")
    shown.bring(tmp_path / "house.csv")
    hour = page.locator("#columns tr", has=page.get_by_role("rowheader", name="hour"))
    page.get_by_label("The column of the answer").select_option("indoor [°C]")
    expect(hour.get_by_role("button", name="Leave it out")).to_be_visible()
    expect(hour.get_by_label("What hour is")).to_have_value("")
    # Training before the decision leads to the column that waits for it.
    shown.press_primary("Train a model")
    expect(hour.locator("button").first).to_be_focused()
    hour.get_by_role("button", name="Leave it out").click()
    expect(hour.locator("button")).to_have_count(0)
    presses = [
        "Train a model", "Try it", "Put it on the board", "Measure and write the report",
        "Open the report",
    ]  # fmt: skip
    assert len(presses) <= MOST_PRESSES
    for words in presses[:-1]:
        shown.press_primary(words)
    with page.context.expect_page() as report:
        shown.press_primary(presses[-1])
    report.value.close()
    train = next(line for line in shown.lines() if " train house.csv " in line)
    assert "drop=hour" in train
    shown.go("train")
    expect(page.locator("#answers")).to_contain_text("°C")


def write_prices(path: Path, n: int = 200) -> None:
    """Write prices in whole numbers, of which there are many, grades, and a column of text."""
    rng = np.random.default_rng(0)
    area = rng.uniform(20, 200, n)
    price = np.rint(1000 + 20 * area + rng.normal(0, 50, n)).astype(int)
    rows = zip(area, rng.integers(0, 2, n), rng.integers(1, 6, n), price, strict=True)
    lines = [f"{a:.1f};{'town' if town else 'country'};{g};{p}" for a, town, g, p in rows]
    path.write_text("\n".join(["area;place;grade;price", *lines, ""]))


def test_a_table_is_asked_what_it_does_not_state(shown: Shown, tmp_path: Path) -> None:
    skip_without(*EMULATED_AVR)
    page = shown.page
    write_prices(tmp_path / "prices.csv")
    shown.put(tmp_path / "prices.csv")
    # No column is called label, so the table is asked for the one to predict.
    answer, place = page.get_by_label("The column of the answer"), page.get_by_label("What place")
    expect(answer).to_have_value("")
    shown.press_primary("Choose what to predict")
    expect(answer).to_be_focused()
    number, one_class = page.get_by_label("a number"), page.get_by_label("one of")
    answer.select_option("grade")
    expect(number.or_(one_class).and_(page.locator(":checked"))).to_have_count(0)
    shown.press_primary("Train a model")
    expect(number).to_be_focused()
    page.keyboard.press("Space")
    expect(number).to_be_checked()
    # Numbers of which there are many are no classes.
    answer.select_option("price")
    expect(page.locator("#predict")).to_contain_text("different numbers are hardly classes")
    expect(number).to_be_checked()
    place.select_option("input")
    expect(page.locator("#columns")).to_contain_text("each of its 2 texts is an input")
    place.select_option("session")
    expect(page.locator("#kept-rows")).to_contain_text("rows of one place stay together")
    shown.press_primary("Train a model")
    expect(page.locator("#stage-train .job")).to_be_visible()
    expect(page.locator("#stage-train .job")).to_be_hidden()
    train = next(line for line in shown.lines() if " train prices" in line)
    assert {"--target=value", "--session=place", "prices-model.npz"} <= {*train.split()}
    # A new tab, which has no memory, reads the table as its model was trained.
    tab = shown.tab()
    tab.locator("[data-stage=data]").click()
    expect(tab.get_by_label("The column of the answer")).to_have_value("price")
    expect(tab.get_by_label("a number")).to_be_checked()
    expect(tab.get_by_label("What place")).to_have_value("session")


def test_a_table_whose_columns_are_not_seen_is_divided_by_hand(
    shown: Shown, tmp_path: Path
) -> None:
    rows = [f"u{i * 13 % 29}|{i * 7 % 31};k{i * 5 % 17}|{'xy'[i % 2]}" for i in range(90)]
    (tmp_path / "odd.csv").write_text("\n".join(["a|b;c|label", *rows, ""]))
    shown.bring(tmp_path / "odd.csv")
    shown.page.get_by_label("divided by").select_option("semicolon")
    expect(shown.page.get_by_role("rowheader", name="c|label")).to_be_visible()
    shown.page.get_by_label("divided by").select_option("pipe")
    expect(shown.page.get_by_role("rowheader", name="b;c")).to_be_visible()


def test_an_unreadable_table_leaves_nothing_of_another_one(shown: Shown, tmp_path: Path) -> None:
    page = shown.page
    write_prices(tmp_path / "whole.csv")
    (tmp_path / "broken.csv").write_text("a,b\n1\n2,3,4\n")
    shown.put(tmp_path / "whole.csv", tmp_path / "broken.csv")
    file, lead = page.locator("#data-file"), page.locator("#stage-data .lead")
    file.select_option("broken.csv")
    expect(lead).to_contain_text("broken.csv:2")
    expect(page.get_by_role("rowheader", name="area")).to_have_count(0)
    expect(page.locator("#kept-rows")).to_be_empty()
    file.select_option("whole.csv")
    expect(page.get_by_role("rowheader", name="area")).to_be_visible()
    expect(lead).to_contain_text("whole.csv")


def test_of_many_columns_those_that_change_the_answer_most_have_the_first_sliders(
    shown: Shown,
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 15)).round(2)
    rows = [",".join([*map(str, x), "high" if x[13] > 0 else "low"]) for x in X.tolist()]
    heads = ",".join([*(f"c{n}" for n in range(15)), "level"])
    (shown.folder / "many.csv").write_text("\n".join([heads, *rows, ""]))
    words = ["--label", "level", "--classifier", "linear", "-o", shown.folder / "many-m.npz"]
    succeed("train", shown.folder / "many.csv", *words)
    shown.page.evaluate("studio.choose({ data: 'many.csv', model: 'many-m.npz' })")
    shown.go("try")
    held = shown.page.locator("#held")
    expect(held.get_by_label("c13")).to_be_visible()
    expect(held.locator(".slider:visible")).to_have_count(12)
    held.get_by_text("3 more columns").click()
    expect(held.locator(".slider:visible")).to_have_count(15)


def test_answers_that_arrive_when_no_model_is_in_use_are_left_out(
    browser: Browser, tmp_path: Path
) -> None:
    folder = tmp_path / "late"
    folder.mkdir()
    write_prices(folder / "prices.csv")
    succeed("train", folder / "prices.csv", "--label", "grade", "-o", folder / "grades.npz")
    (folder / "broken.csv").write_text("a,b\n1\n2,3,4\n")
    held: list[Route] = []
    with studio(folder) as url, opened(browser, url, folder) as shown:
        page = shown.page
        page.goto("about:blank")  # what the page has asked already is not held
        page.route("**/ask/figures", lambda route: held.append(route))  # noqa: PLW0108
        with page.expect_request("**/ask/figures"):
            page.goto(url)
            shown.go("data")
            page.locator("#data-file").select_option("prices.csv")
            shown.go("train")
        shown.go("data")
        page.locator("#data-file").select_option("broken.csv")
        expect(page.locator("#stage-data .lead")).to_contain_text("broken.csv:2")
        with page.expect_response("**/ask/figures"):
            for each in held:
                each.continue_()
        shown.go("train")
        expect(page.locator("#result")).to_be_hidden()
        assert shown.complaints == []
