"""The report in a real browser: quiet, whole, and for everyone."""

from __future__ import annotations

from itertools import pairwise

import pytest
from system_browser import assert_no_barriers

NARROW = (390, 844)
SECTIONS = (
    *("uno", "accuracy", "mistakes", "latency", "energy", "memory", "plan"),
    *("quantization", "training", "provenance"),
)


def test_every_section_is_drawn_quietly_and_nothing_is_asked_for(show, digits):
    shown = show(digits)
    shown.wait_for_answer()
    assert not shown.page.locator("#latency").is_visible()
    shown.page.click("nav a[href='#latency']")  # which opens the details
    for name in SECTIONS:
        section = shown.page.locator(f"#{name}")
        assert section.bounding_box()["height"] > 60
        for figure in section.locator("figure > svg").all():
            size = figure.bounding_box()
            assert size["width"] > 200
            assert size["height"] > 40
    assert shown.complaints == []
    assert [url.partition(":")[0] for url in shown.requests] == ["file"]


@pytest.mark.parametrize("evidence", ["digits", "hostile"])
def test_a_phone_need_not_scroll_sideways(show, request, evidence):
    shown = show(request.getfixturevalue(evidence), size=NARROW)
    shown.wait_for_answer()
    shown.page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]


@pytest.mark.parametrize("size", [(1280, 900), NARROW])
def test_long_names_of_many_classes_do_not_cover_each_other(show, articles, size):
    page = show(articles, size=size).page
    boxes = [each.bounding_box() for each in page.locator(".matrix thead span").all()]
    assert len(boxes) == 30
    for left, right in pairwise(boxes):
        assert left["x"] + left["width"] <= right["x"] + 2


@pytest.mark.parametrize("evidence", ["digits", "hostile"])
def test_axe_finds_no_serious_barrier(show, axe, request, evidence):
    """In the dark only colours are others."""
    shown = show(request.getfixturevalue(evidence))
    shown.wait_for_answer()
    shown.page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
    shown.page.evaluate(axe)
    found = shown.page.evaluate("axe.run()")["violations"]
    shown.page.emulate_media(color_scheme="dark")
    found += shown.page.evaluate("axe.run({ runOnly: ['color-contrast'] })")["violations"]
    assert_no_barriers(found)


def test_dark_is_dark_light_is_light_and_paper_is_white(show, digits):
    """On paper the figures stay, and what moves goes."""
    page = show(digits).page
    colours = []
    for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
        page.emulate_media(media=media, color_scheme=scheme)
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(255, 255, 255)", "rgb(18, 24, 30)", "rgb(255, 255, 255)"]
    assert not page.locator("#uno").is_visible()
    assert page.locator("#accuracy td.right").first.is_visible()
    assert page.locator("#latency svg").is_visible()
    assert not page.locator(".cell-points").is_visible()


def test_without_scripts_all_figures_are_there(browser, digits, rendered):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(rendered(digits).as_uri())
    assert page.locator("#accuracy td.wrong[title]").first.is_visible()
    page.click("summary:has-text('Details')")
    assert page.locator("#latency .mark title").count() > 5
    assert "The emulated Uno needs JavaScript." in page.inner_text("#uno")
    context.close()


def test_it_is_small(digits, rendered):
    assert rendered(digits).stat().st_size < 300_000


def test_the_sketch_is_copied_by_keys_alone(show, digits):
    page = show(digits, size=NARROW).page
    button = page.locator("#sketch .listing button").last
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("b => b.textContent !== 'Copy'", arg=button.element_handle())
    code = page.locator("#sketch pre").last.inner_text()
    assert "case PNN_CLASS_0: /* 0 */ break;" in code
    if button.inner_text() == "Selected":  # a page of a file may have no clipboard
        assert page.evaluate("getSelection().toString()").strip() == code.strip()
