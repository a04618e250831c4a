"""A model is tried while its build goes on behind, and its word is that of its shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from avr_tools import EMULATED_AVR, skip_without
from extensions.studio.shown import Shown, opened, studio
from playwright.sync_api import Browser, expect

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.extensions.studio.sample import sample_files
from protonn_edge.policy.confidence.voting import word_of

ANSWERS = 12  # that are compared
MARK = 50
HEARD = "window.heard = []; studio.wire.on('answer', ({ answer }) => heard.push(answer))"
FOCUS = "document.activeElement.textContent"
TOLD = "(behind) => new BroadcastChannel(studio.wire.name).postMessage({ behind })"
WATCHED = """() => {
    Object.assign(window, { seen: [], built: [], trained: 0 });
    const answers = document.querySelector("#answers");
    const note = () => seen.push(answers.textContent);
    new MutationObserver(note).observe(answers, { childList: true });
    studio.wire.on("behind", ({ behind }) => built.push(behind.state));
    studio.wire.on("job", ({ job }) => {
        if (job.last && job.state === "done" && ++trained === 1) {
            studio.stages.train.perform();
        }
    });
}"""
BUILT = "() => studio.behind.state === 'done' && !studio.asking"


@pytest.fixture(scope="module")
def shown(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """Open a folder with the sample."""
    skip_without(*EMULATED_AVR)
    folder = tmp_path_factory.mktemp("answers") / "gestures"
    folder.mkdir()
    for name, text in sample_files("recording.csv").items():
        (folder / name).write_text(text)
    with studio(folder) as url, opened(browser, url, folder) as shown:
        yield shown
        assert shown.complaints == []


def test_a_model_is_tried_while_its_build_goes_on_behind(shown: Shown) -> None:
    page = shown.page
    page.evaluate(WATCHED)
    shown.go("train")
    shown.press_primary("Train")  # and once more, as soon as that has ended
    page.wait_for_function("() => trained === 2")
    expect(shown.primary).to_have_text("Try it live")
    expect(shown.primary).to_be_focused()
    page.locator("#more summary").focus()
    page.wait_for_function(BUILT)
    assert page.evaluate("built.filter((one) => one !== 'running')") == ["stopped", "done"]
    assert any("this fills in by itself" in text for text in page.evaluate("seen"))
    expect(page.locator("#answers")).to_contain_text("of the flash of the Uno")
    assert page.evaluate(FOCUS) == "More"
    shown.expect_mark("board", "done", "warn")


def test_the_word_is_that_of_the_bars_and_their_marks(shown: Shown) -> None:
    page = shown.page
    page.evaluate(HEARD)
    shown.go("try")
    page.locator("#trying .offline button").first.click()
    page.wait_for_function(f"() => heard.filter(({{ reported }}) => reported).length > {ANSWERS}")
    assert shown.barred() == []
    _check(page.evaluate("heard"), {})
    rows = page.locator("#scores li").evaluate_all(
        "(all) => all.map((one) => [one.dataset.class, one.querySelector('.share').textContent])"
    )
    assert [name for name, _ in rows][-1] == "none of these"
    assert sum(int(share.removesuffix(" %")) for _, share in rows) == 100
    # A mark that nothing reaches: the class is unknown at once among the held-out windows.
    counts = re.compile(r"\d+ right, \d+ unknown, \d+ wrong")
    expect(page.locator("#tested")).to_contain_text(counts)
    before = page.locator("#tested").inner_text()
    page.locator("#scores [aria-label='Say still from']").focus()
    page.keyboard.press("End")
    expect(page.locator("#tested")).not_to_have_text(before)
    page.evaluate("heard.length = 0")
    page.wait_for_function(f"() => heard.filter(({{ reported }}) => reported).length > {ANSWERS}")
    _check(page.evaluate("heard"), {"still": 100})
    assert page.evaluate("studio.stages.board.step('x')[1].mark") == ["50", "still=100"]
    page.keyboard.press("Home")


def _check(heard: list[dict[str, Any]], marks: dict[str, int]) -> None:
    """Check each word against the shares of its answer."""
    for answer in heard:
        names, shares = [*answer["shares"]], [*answer["shares"].values()]
        assert 0 <= sum(shares) <= 100
        if answer["reported"] is None:
            continue
        leader = max(range(len(shares)), key=lambda at: (shares[at], names[at] == answer["label"]))
        word = word_of(shares, leader, [marks.get(name, MARK) for name in names])
        assert answer["reported"] == ("unknown" if word == NO_CLASS else names[word])


def test_the_board_answers_with_the_marks_of_its_build(shown: Shown) -> None:
    page = shown.page
    shown.go("try")
    page.evaluate("heard.length = 0")
    page.locator("#answering [name=from]").select_option("board")
    page.wait_for_function(
        f"() => heard.filter(({{ by, reported }}) => by === 'board' && reported).length > {ANSWERS}"
    )
    of_board = [answer for answer in page.evaluate("heard") if answer["by"] == "board"]
    _check(of_board, {})
    assert {answer["reported"] for answer in of_board} & {"still", "swing", "knock"}
    assert page.locator("#scores input").first.is_disabled()
    assert shown.barred() == []
    page.evaluate("studio.wire.order('disconnect')")


def test_what_does_not_fit_is_still_tried(shown: Shown) -> None:
    """The error of the build behind stands in Train and Try, with a button that helps."""
    page = shown.page
    record = {"fits": False, "sentence": "the firmware needs 41,452 B of flash"}
    job = {"stage": "board", "action": "build", "state": "failed", "last": True, "behind": True}
    page.evaluate(TOLD, {**job, "record": record})
    for stage in ("train", "try"):
        shown.go(stage)
        alert = page.locator(f"#stage-{stage} .alert")
        expect(alert).to_contain_text("It answers here, but it does not fit the board")
        expect(alert.get_by_role("button", name="Find a model that fits")).to_be_visible()
