"""What is pointed at answers: cells of the matrix, marks of figures."""

from __future__ import annotations

import numpy as np

NARROW = (390, 844)


def a_mistake(evidence) -> tuple[int, int]:
    """Return the actual class and the answer of a cell of mistakes."""
    counts = evidence.confusion.copy()
    np.fill_diagonal(counts, 0)
    label, answer = np.argwhere(counts)[0].tolist()
    return label, answer


def indices(evidence, label: int, answer: int) -> list[str]:
    return [str(r.index) for r in evidence.results if (r.label, r.predicted) == (label, answer)]


def test_the_mouse_finds_the_points_of_a_cell_and_what_is_linked_to_them(show, digits):
    shown = show(digits)
    shown.wait_for_answer()
    page, (label, answer) = shown.page, a_mistake(digits)
    page.click("summary:has-text('Details')")
    cell = page.locator(f'td[data-cell="{label} {answer}"]')
    points = indices(digits, label, answer)

    cell.hover()
    assert f"{label}, answered {answer}: {len(points)} point" in page.inner_text(".tip")
    thumbnails = page.locator(".thumbnails button")
    assert [text.strip("#") for text in thumbnails.all_inner_texts()] == points
    cell.click()
    assert page.locator("td[aria-selected=true]").count() == 1

    thumbnails.first.click()
    assert shown.wait_for_answer(point=points[0])["label"] == str(answer)
    assert page.inner_text("[data-part=verdict]") == f"wrong: it is {label}"
    cell.click()
    assert page.locator("td[aria-selected=true]").count() == 0

    page.locator("#mistakes .gallery button").first.click()
    assert shown.wait_for_answer(point=page.get_attribute("#mistakes li", "data-index"))
    assert page.locator("#mistakes [aria-pressed=true]").count() == 1

    bar = page.locator("#latency .mark").nth(3)
    bar.scroll_into_view_if_needed()
    bar.hover()
    assert " ms: " in page.inner_text(".tip")
    page.locator("[data-part=preview]").hover()
    assert page.inner_text(".tip").startswith("row ")
    assert not shown.complaints


def test_keys_and_a_narrow_window_are_enough(show, digits):
    """Arrows go from cell to cell and from value to value; Enter picks a cell."""
    shown = show(digits, size=NARROW)
    shown.wait_for_answer()
    page, (label, answer) = shown.page, a_mistake(digits)
    press = page.keyboard.press
    page.locator("#accuracy td[tabindex='0']").focus()
    for _ in range(label):
        press("ArrowDown")
    for _ in range(answer):
        press("ArrowRight")
    points = indices(digits, label, answer)
    assert f"{label}, answered {answer}: {len(points)} point" in page.inner_text(".tip")
    press("Enter")
    assert page.locator("td[aria-selected=true]").count() == 1
    press("Tab")
    press("Enter")
    shown.wait_for_answer(point=points[0])

    page.click("summary:has-text('Details')")
    for name in ("latency", "memory", "quantization", "training"):
        page.locator(f"#{name} figure > svg").first.focus()
        press("End")
        assert any(letter.isdigit() for letter in page.inner_text(".tip"))
        edges = page.locator(".tip").bounding_box()
        assert edges["x"] >= 0
        assert edges["x"] + edges["width"] <= NARROW[0]
        press("Escape")
        assert not page.locator(".tip").is_visible()
    page.locator("[data-part=preview]").focus()
    press("ArrowRight")
    assert page.inner_text(".tip").startswith("row 0, column 0: ")
    assert not shown.complaints


def test_a_slider_tells_its_value_and_the_answer_stays_in_sight(show, hostile):
    """Sliders are there where the input is no image; many are folded."""
    shown = show(hostile, size=NARROW)
    first = shown.wait_for_answer(point=0)
    sliders = shown.page.locator("[data-part=sliders] input")
    assert sliders.count() == 12
    assert not sliders.first.is_visible()
    shown.page.locator("summary", has_text="Move the features").click()
    assert shown.page.locator("[data-part=pad]").count() == 0
    for i in range(3):
        sliders.nth(i).focus()
        shown.page.keyboard.press("End")
    assert shown.wait_for_answer(point="")["scores"] != first["scores"]
    last = shown.page.locator("[data-part=sliders] input").last
    last.focus()
    shown.page.keyboard.press("End")
    shown.wait_for_answer(point="")
    ends = shown.page.locator("[data-part=sliders] > div").last.locator("small, output")
    low, value, high = ends.all_inner_texts()
    assert value == high != low
    strip = shown.page.locator("[data-part=strip]")
    assert strip.is_visible()
    in_sight = "(e) => [e.getBoundingClientRect().top].every((y) => 0 <= y && y < innerHeight)"
    shown.page.wait_for_function(in_sight, arg=strip.element_handle())  # when it has scrolled
