"""Figures that can stand in a page, many of them, in any colours."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from protonn_edge.policy.rejection.report import threshold_figure
from protonn_edge.report import figures
from protonn_edge.report.content import figure

RNG = np.random.default_rng(1)
DRAWN = {
    "confusion": lambda: figures.confusion_figure(
        np.array([[5, 1], [0, 7]]), ["</text><script>", "$x$ \u6f22"]
    ),
    "latency": lambda: figures.latency_figure(RNG.uniform(1, 2, 300), 3.0),
    "latency far from its bound": lambda: figures.latency_figure(np.array([1.0, 1.0, 1.01]), 9.0),
    "latency of a float build": lambda: figures.latency_figure(np.ones(3), None),
    "memory": lambda: figures.memory_figure([("a", 10)], 2048),
    "stages": lambda: figures.stage_figure(["float", "Z"], [0.91, 0.9]),
    "stages that lose nothing": lambda: figures.stage_figure(["float", "Z"], [1, 1]),
    "training": lambda: figures.training_figure([1.0, 0.5], "objective"),
    "accuracy in training": lambda: figures.training_figure([0.2, 1.0], "accuracy", shares=True),
    "thresholds": lambda: threshold_figure(
        [0, 5, 9],
        [("right answers", [0, 0.1, 1]), ("wrong answers", [0, 0.5, 1])],
        5,
        "score",
    ),
    "window": lambda: figures.trace_figure(RNG.random((3, 50))),
    "bars": lambda: figures.bars_figure(RNG.random(5)),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=list(DRAWN))
def test_a_figure_fits_a_page(draw):
    svg = draw()
    root = ElementTree.fromstring(svg)
    assert root.tag == "svg"
    assert root.get("viewBox")
    ids = re.findall(r' id="([^"]+)"', svg)
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', svg)
    assert len(ids) == len(set(ids))
    assert set(ids) == set(used)
    assert not re.search(r"#[0-9a-f]{6}|DejaVu|<style|metadata|xlink", svg)
    assert "<script" not in svg


def test_the_same_figure_has_the_same_bytes():
    draw = DRAWN["training"]
    assert draw() == draw()
    assert ' id="' in draw()


def test_names_are_text_and_neither_markup_nor_formulas():
    drawn = ElementTree.fromstring(DRAWN["confusion"]())
    titles = [node.text for node in drawn.iter("title")]
    assert titles == [
        "</text><script>, answered </text><script>: 5 points",
        "</text><script>, answered $x$ \u6f22: 1 point",
        "$x$ \u6f22, answered $x$ \u6f22: 7 points",
    ]


def test_names_do_not_overprint_where_the_mean_is_the_bound():
    """Each has a row of its own; a bound that is far off is named at the edge."""
    near = ElementTree.fromstring(figures.latency_figure(np.array([3.4, 3.6]), 3.5))
    texts = {node.text: node for node in near.iter("text")}
    named = [texts[name] for name in ("mean 3.500", "bound 3.500")]
    rows = {(node.get("y"), node.get("transform")) for node in named}
    assert len(rows) == 2
    far = ElementTree.fromstring(DRAWN["latency far from its bound"]())
    assert "bound 9.000 \u2192" in [node.text for node in far.iter("text")]


@pytest.mark.parametrize("name", ["stages", "stages that lose nothing", "accuracy in training"])
def test_no_axis_of_shares_goes_beyond_100_percent(name):
    texts = [node.text for node in ElementTree.fromstring(DRAWN[name]()).iter("text")]
    shares = [float(text.removesuffix(" %")) for text in texts if text.endswith(" %")]
    assert shares
    assert max(shares) <= 100


@pytest.mark.parametrize("name", ["latency", "memory", "stages", "training", "thresholds"])
def test_marks_have_their_values(name):
    marks = [
        node for node in ElementTree.fromstring(DRAWN[name]()).iter("g")
        if node.get("class") == "mark"
    ]  # fmt: skip
    assert len(marks) > 1
    assert all(re.search(r"\d", mark.find("title").text) for mark in marks)


def test_a_figure_is_one_picture_with_a_name():
    root = ElementTree.fromstring(figure(DRAWN["memory"](), 'say "<b>"'))
    assert (root.get("role"), root.get("aria-label")) == ("img", 'say "<b>"')
