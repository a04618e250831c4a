"""Figures that can stand in a page, many of them, in any colours."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from protonn_edge.report import figures
from protonn_edge.report.content import figure

RNG = np.random.default_rng(1)
DRAWN = {
    "confusion": lambda salt: figures.confusion_figure(
        np.array([[5, 1], [0, 7]]), ["</text><script>", "$x$ \u6f22"], salt
    ),
    "latency": lambda salt: figures.latency_figure(RNG.uniform(1, 2, 300), 3.0, 1.5, salt),
    "latency far from its bound": lambda salt: figures.latency_figure(
        np.array([1.0, 1.0, 1.01]), 9.0, 1.0, salt
    ),
    "latency of a float build": lambda salt: figures.latency_figure(np.ones(3), None, None, salt),
    "memory": lambda salt: figures.memory_figure([figures.MemoryPart("a", 10)], 2048, salt),
    "stages": lambda salt: figures.stage_figure(["float", "Z"], [0.91, 0.9], salt),
    "stages that lose nothing": lambda salt: figures.stage_figure(["float", "Z"], [1, 1], salt),
    "training": lambda salt: figures.training_figure([1.0, 0.5], "objective", salt),
    "accuracy in training": lambda salt: figures.training_figure(
        [0.2, 1.0], "accuracy", salt, shares=True
    ),
    "thresholds": lambda salt: figures.threshold_figure(
        [0, 5, 9],
        [("right answers", [0, 0.1, 1]), ("wrong answers", [0, 0.5, 1])],
        5,
        "score",
        salt,
    ),
    "window": lambda salt: figures.trace_figure(RNG.random((3, 50)), salt),
    "bars": lambda salt: figures.bars_figure(RNG.random(5), salt),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=list(DRAWN))
def test_a_figure_fits_a_page(draw):
    svg = draw("one")
    root = ElementTree.fromstring(svg)
    assert root.tag == "svg"
    assert root.get("viewBox")
    ids = re.findall(r' id="([^"]+)"', svg)
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', svg)
    assert len(ids) == len(set(ids))
    assert set(ids) == set(used)
    assert not re.search(r"#[0-9a-f]{6}|DejaVu|<style|metadata|xlink", svg)
    assert "<script" not in svg


def test_the_same_figure_has_the_same_bytes_and_another_one_no_id_of_its():
    draw = DRAWN["training"]
    assert draw("one") == draw("one")
    ids = [set(re.findall(r' id="([^"]+)"', draw(salt))) for salt in ("one", "two")]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_names_are_text_and_neither_markup_nor_formulas():
    drawn = ElementTree.fromstring(DRAWN["confusion"]("x"))
    titles = [node.text for node in drawn.iter("title")]
    assert titles == [
        "</text><script>, answered </text><script>: 5 points",
        "</text><script>, answered $x$ \u6f22: 1 point",
        "$x$ \u6f22, answered $x$ \u6f22: 7 points",
    ]


def test_names_do_not_overprint_where_the_mean_is_the_bound():
    """Each has a row of its own; a bound that is far off is named at the edge."""
    near = ElementTree.fromstring(figures.latency_figure(np.array([3.4, 3.5]), 3.5, 3.5, "x"))
    texts = {node.text: node for node in near.iter("text")}
    named = [texts[name] for name in ("planned mean 3.500", "bound 3.500")]
    rows = {(node.get("y"), node.get("transform")) for node in named}
    assert len(rows) == 2
    far = ElementTree.fromstring(DRAWN["latency far from its bound"]("x"))
    assert "bound 9.000 \u2192" in [node.text for node in far.iter("text")]


@pytest.mark.parametrize("name", ["stages", "stages that lose nothing", "accuracy in training"])
def test_no_axis_of_shares_goes_beyond_100_percent(name):
    texts = [node.text for node in ElementTree.fromstring(DRAWN[name]("x")).iter("text")]
    shares = [float(text.removesuffix(" %")) for text in texts if text.endswith(" %")]
    assert shares
    assert max(shares) <= 100


@pytest.mark.parametrize("name", ["latency", "memory", "stages", "training", "thresholds"])
def test_marks_have_their_values(name):
    marks = [
        node for node in ElementTree.fromstring(DRAWN[name]("x")).iter("g")
        if node.get("class") == "mark"
    ]  # fmt: skip
    assert len(marks) > 1
    assert all(re.search(r"\d", mark.find("title").text) for mark in marks)


def test_a_figure_is_one_picture_with_a_name():
    root = ElementTree.fromstring(figure(DRAWN["memory"]("x"), 'say "<b>"'))
    assert (root.get("role"), root.get("aria-label")) == ("img", 'say "<b>"')
