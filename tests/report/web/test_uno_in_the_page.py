"""The Uno in the page answers as the one that was measured, whatever it is given by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence_factory import HOSTILE

from protonn_edge.data.points.preparation import Preparation
from protonn_edge.policy.confidence.rule import Confidence
from protonn_edge.policy.value.rule import IntegerValue
from protonn_edge.report.evidence import Evidence

PAD = "[data-part=pad]"
# A seven as a hand draws it: where the pen is put down, and where it goes; parts of the pad's side.
SEVEN = [(0.25, 0.18), (0.75, 0.17), (0.58, 0.5), (0.45, 0.86)]


def scores_of(evidence: Evidence, *raw: float) -> str:
    """Return the scores of a point as the page has them."""
    reference = evidence.reference
    (scores,) = reference.scores(reference.quantize(np.array([raw], np.float32)))
    return " ".join(map(str, scores.tolist()))


def test_fifty_test_points_have_the_class_scores_and_cycles_of_the_results_file(show, digits):
    shown = show(digits)
    options = shown.page.locator("[data-part=points] option").all()
    by_index = {result.index: result for result in digits.results}
    assert len(options) >= 50
    for place in range(50):
        shown.page.select_option("[data-part=points]", str(place))
        index = options[place].text_content().removeprefix("#").split()[0]
        answer = shown.wait_for_answer(point=index)
        expected = by_index[int(index)]
        assert answer["label"] == str(expected.predicted)
        assert answer["scores"] == " ".join(map(str, expected.scores))
        assert answer["cycles"] == str(expected.cycles)
        assert "match the results file" in shown.page.inner_text("[data-part=agreement]")
    assert not shown.complaints


def test_a_seven_that_is_drawn_is_a_seven(show, digits):
    shown = show(digits)
    pad = shown.page.locator(PAD)
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in SEVEN]
    shown.page.mouse.move(*at[0])
    shown.page.mouse.down()
    for place in at[1:]:
        shown.page.mouse.move(*place, steps=5)
    shown.page.mouse.up()
    shown.wait_for_answer(label=7, point="")
    assert shown.page.inner_text("[data-part=label]") == "7"
    assert float(shown.page.inner_text("[data-part=ms]")) > 0
    assert float(shown.page.inner_text("[data-part=mj]")) > 0
    assert "Pin 8 was high for 0." in shown.page.inner_text("[data-part=pin]")
    shown.page.click("[data-part=clear]")
    assert "label" not in shown.answer


# On a busy machine the moment may be over before anybody looks for it.
WATCH_LED = """
() => {
    const led = document.querySelector(".led");
    window.wasLit = false;
    new MutationObserver(() => (window.wasLit ||= led.matches(".lit"))).observe(led, {
        attributes: true,
    });
}
"""


def test_the_light_is_on_for_a_moment_when_the_firmware_switches_its_pin(show, digits):
    shown = show(digits)
    shown.wait_for_answer()
    shown.page.wait_for_selector(".led:not(.lit)")
    shown.page.evaluate(WATCH_LED)
    shown.page.click("[data-part=next]")
    shown.page.wait_for_function("wasLit")
    shown.page.wait_for_selector(".led:not(.lit)")


def test_the_keyboard_is_enough(show, digits):
    """Tab finds the list, the buttons and the pad; arrows and the space bar draw a one."""
    shown = show(digits)
    first = shown.wait_for_answer()
    press = shown.page.keyboard.press

    def focused() -> str:
        return shown.page.evaluate("document.activeElement.dataset.part ?? ''")

    def tab_to(part: str) -> None:
        for _ in range(40):
            if focused() == part:
                return
            press("Tab")
        pytest.fail(f"Tab does not reach {part}")

    tab_to("points")
    press("ArrowDown")
    tab_to("next")
    press("Enter")
    assert shown.wait_for_answer(point=digits.results[2].index) != first
    tab_to("pad")
    for _ in range(10):
        press("ArrowUp")
    press("Space")
    for _ in range(20):
        press("ArrowDown")
    press("Space")
    shown.wait_for_answer(label=1, point="")
    press("Delete")
    assert "label" not in shown.answer
    assert not shown.complaints


def test_numbers_are_pasted_and_wrong_ones_are_told(show, digits):
    shown = show(digits)
    shown.wait_for_answer()
    shown.page.click("summary:has-text('Paste')")
    result = digits.results[9]
    row = ", ".join(map(str, digits.points.raw[result.index].tolist()))
    shown.paste(row)
    answer = shown.wait_for_answer(point="", cycles=result.cycles)
    assert answer["scores"] == " ".join(map(str, result.scores))
    for text, sentence in (
        ("1 2 3", "there are 3 values, but the model takes 64."),
        (
            f"{row}, 55".replace("0.0", "<b>x</b>", 1),
            "there are 65 values, but the model takes 64.",
        ),
        (row.replace("0.0", "<b>x</b>", 1), "“<b>x</b>” is not a number."),
        ("1,5; 2,5", "there are 2 values, but the model takes 64."),
    ):
        shown.paste(text)
        assert shown.page.inner_text("[data-part=status]") == sentence
        assert "label" not in shown.answer  # the one before
    assert not shown.complaints


def test_a_row_of_the_table_is_pasted_with_the_columns_that_training_left_out(show, crops):
    """The identifier was no number, and an empty cell was refused although the model fills it."""
    preparation = Preparation("median", (0, 0, 0.5, 0.25), one_hot={"crop": ("basil", "tomato")})
    model = replace(crops.model, record={**crops.model.record, **preparation.to_record()})
    points = replace(crops.points, columns=["id", "hour", "crop", "soil", "time", "ripe"])
    shown = show(replace(crops, model=model, points=points))
    shown.wait_for_answer()
    page = shown.page
    page.click("summary:has-text('Paste')")
    shown.paste("CB-1052,,tomato,0.5,10:31,no")
    shown.wait_for_answer(point="", scores=scores_of(crops, 0, 1, 0.5, 0.25))
    shown.paste("CB-1052,0.5")
    sentence = "there are 2 values, but the model takes 3: crop, soil, hour."
    assert page.inner_text("[data-part=status]") == sentence
    assert not shown.complaints


def test_a_row_with_texts_is_pasted_as_it_is_and_chosen_from_a_list(show, crops):
    """The page wanted the zeros and ones of each text, and clamped values without a word."""
    shown = show(crops)
    shown.wait_for_answer()
    page, status = shown.page, "[data-part=status]"
    page.click("summary:has-text('Paste')")
    assert "crop, soil, hour: a row of the data" in page.inner_text("label[for=uno-row]")
    for row, note in (
        ("tomato,0.5,0.1", ""),
        ('"tomato"; 0,5; 0,1; no', ""),
        ("tomato\t0.5\t999", "Clamped to the range of the training data: hour from 999 to "),
    ):
        shown.paste(row)
        answer = shown.wait_for_answer(point="")
        expected = scores_of(crops, 0, 1, 0.5, 999 if note else 0.1)
        page.wait_for_selector(f"#uno-page[data-scores='{expected}']", timeout=10_000)
        assert page.inner_text("[data-part=clamped]").startswith(note)
        assert page.input_value("#slider-0") == "tomato"
        assert answer["point"] == page.inner_text(status) == ""
    page.select_option("#slider-0", "basil")
    other = scores_of(crops, 1, 0, 0.5, float(page.input_value("#slider-2")))
    page.wait_for_selector(f"#uno-page[data-scores='{other}']", timeout=10_000)
    assert page.inner_text("[data-part=clamped]") == ""
    for row, sentence in (
        ("kale,0.5,0.1", "“kale” is none of the values of crop: basil, tomato."),
        ("tomato,,0.1", "soil is empty, but the model takes a number."),
        ("tomato,1", "there are 2 values, but the model takes 3: crop, soil, hour."),
    ):
        shown.paste(row)
        assert page.inner_text(status) == sentence
    assert not shown.complaints


def test_a_row_has_large_numbers_as_in_the_data_and_no_index_for_a_feature(show, crops):
    """What training subtracts was not subtracted, and an index became the first feature."""
    offsets = {"soil": 523_000_000.0}
    preparation = replace(Preparation(one_hot={"crop": ("basil", "tomato")}), offsets=offsets)
    names = ("crop=basil", "crop=tomato", "soil-523000000", "hour")
    record = {**crops.model.record, **preparation.to_record()}
    model = replace(crops.model, record=record, feature_names=names, classes=("0", "1"))
    points = replace(crops.points, columns=["id", "crop", "soil", "hour", "ripe"])
    shown = show(replace(crops, model=model, points=points))
    shown.wait_for_answer()
    page = shown.page
    page.click("summary:has-text('Paste')")
    for row in ("7,tomato,523000000.5,0.25,1", "tomato,523000000.5,0.25"):
        shown.paste(row)
        shown.wait_for_answer(point="", scores=scores_of(crops, 0, 1, 0.5, 0.25))
        assert page.inner_text("[data-part=clamped]") == ""
    assert "soil \N{MINUS SIGN} 523000000" in page.inner_text("[data-part=sliders]")
    shown.paste("tomato,523000000.5,0")
    shown.wait_for_answer(point="")
    shown.paste("7,tomato,523000000.5,0")
    assert "is not a number" in page.inner_text("[data-part=status]")
    assert not shown.complaints


def test_the_confidence_is_that_of_the_generated_c(show, crops):
    shown = show(crops)
    (scores,) = [result.scores for result in crops.results if result.index == 3]
    shown.page.select_option("[data-part=points]", "3")
    shown.wait_for_answer(point=3)
    (percent,) = crops.reference.policy.find(Confidence).percent([scores]).tolist()
    said = "over 99 %" if percent > 99 else f"{percent} %"
    assert shown.page.inner_text("[data-part=sure]") == said


def test_names_that_want_to_break_out_are_harmless(show, hostile):
    """They are also in the generated C, which was compiled for this."""
    shown = show(hostile)
    for place in range(20):
        shown.page.select_option("[data-part=points]", str(place))
        result = hostile.results[place]
        answer = shown.wait_for_answer(point=result.index)
        assert answer["label"] == str(result.predicted)
        assert shown.page.inner_text("[data-part=label]") == HOSTILE[result.predicted]
    assert shown.page.locator("img").count() == 0
    assert shown.page.evaluate("[...document.scripts].length") == 2
    assert not shown.complaints
    assert len(shown.requests) == 1


def test_a_firmware_that_does_not_run_is_told(show, digits, hostile):
    for program, reason in (
        (b"\xff\xff", "no instruction to run at 0x0."),
        (hostile.firmware.program, f"runs the model {hostile.reference.model_sha256[:16]}, not"),
    ):
        broken = replace(digits, firmware=replace(digits.firmware, program=program))
        shown = show(broken)
        shown.page.wait_for_function(
            "document.querySelector('[data-part=status]').textContent.includes('has stopped')"
        )
        assert reason in shown.page.inner_text("[data-part=status]")
        assert not shown.complaints


def test_the_uno_predicts_numbers_with_their_interval(show, levels):
    shown = show(levels)
    page, rule = shown.page, levels.reference.policy.find(IntegerValue)
    for result in levels.results[:3]:
        shown.wait_for_answer(point=result.index)
        number = rule.values(np.array([result.scores]))[0]
        true = levels.points.values[result.index]
        label, verdict = (page.inner_text(f"[data-part={name}]") for name in ("label", "verdict"))
        assert label == f"{number:.{rule.decimals}f} ± {rule.half_width_text}"
        assert verdict.startswith(f"true {true}"[:12])
        assert float(verdict.split()[-1]) == pytest.approx(number - true, abs=rule.unit)
        inside = abs(number - true) <= rule.half_width * rule.unit
        assert page.locator("#uno-page.wrong").count() == (not inside)
        assert "match the results file" in page.inner_text("[data-part=agreement]")
        page.click("[data-part=next]")
    shown.page.locator("summary", has_text="Paste a row").click()
    shown.paste("0.5, 0.25, 0.75")
    shown.wait_for_answer(point="")
    raw = np.array([[0.5, 0.25, 0.75]], np.float32)
    (word,) = levels.reference.policy.words(
        levels.reference.scores(levels.reference.quantize(raw)), levels.reference.classes
    )
    assert page.inner_text("[data-part=label]").startswith(word)
    assert "class" not in page.inner_text("#uno").lower()
    assert not shown.complaints
