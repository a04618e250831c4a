"""A figure is stated once, and every output shows it in the same way."""

from __future__ import annotations

import pytest
from evidence_factory import evidence_of
from model_factory import random_model

from protonn_edge.learn.evaluation.figures import accuracy_figure, detection_figures
from protonn_edge.report.evidence import evidence_facts
from protonn_edge.report.page import headlines_of
from protonn_edge.system.figures import Figure, percent, percents


def test_table_json_and_page_have_the_same_figures() -> None:
    one = evidence_of(random_model())
    facts, figures = dict(evidence_facts(one)), one.figures
    assert len({each.key for each in figures}) == len(figures)
    for each in figures:
        assert facts[each.name] == each.text
        assert each.to_json()["number"] in each.text
    shown = {(each.key, each.number, each.unit) for each in headlines_of(one)}
    assert shown <= {(each.key, each.number, each.unit) for each in figures}
    assert {"accuracy", "latency_ms", "flash_bytes"} <= {key for key, *_ in shown}


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Figure("a", "a", 0.98052, "%", 2), "98.05 %"),
        (Figure("a", "a", 12_345.6, "ms", 1), "12,345.6 ms"),
        (Figure("a", "a", 0.000123456, digits=None), "0.0001235"),
        (Figure("a", "a", 8_576, "B", limit=32_256), "8,576 of 32,256 B (26.6 %)"),
        (
            Figure("a", "a", 2.5, "ms", 1, spread={"min": 1, "max": 4}),
            "mean 2.5 ms (min 1.0, max 4.0)",
        ),
        (Figure("a", "a", 3, note=" of 5 points"), "3 of 5 points"),
        (
            Figure("a", "a", 0.5, "%", 1, interval=(0.25, 0.75)),
            "50.0 % (95 % confidence: 25.0 to 75.0 %)",
        ),
    ],
)
def test_a_number_is_shown_with_what_puts_it_into_proportion(figure: Figure, text: str) -> None:
    assert figure.text == text
    assert str(figure) == f"a: {text}"


def test_json_has_a_share_from_0_to_1_and_its_text_in_per_cent() -> None:
    record = accuracy_figure(0.5, 10).to_json()
    assert (record["value"], record["unit"], record["number"]) == (0.5, "%", "50.00")
    assert record["better"] == "more"


def test_shares_are_of_the_points_that_there_are() -> None:
    alarms, found = detection_figures(normal=200, false_alarms=2, others=50, found=50)
    assert alarms.text.startswith("1.00 % of 200 normal points (95 % confidence: ")
    assert (alarms.better, found.better) == ("less", "more")
    assert detection_figures(normal=0, false_alarms=0, others=0, found=0) == []


def test_per_cent() -> None:
    assert percent(0.12345) == "12.35 %"
    assert percent(0.5, 0) == "50 %"
    assert percents(0.1, 0.25, 1) == "10.0 to 25.0 %"
