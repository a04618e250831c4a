"""Figures that can stand in a page, many of them, in any colours."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from protonn_edge.report import figures
from protonn_edge.report.svg import labelled

RNG = np.random.default_rng(1)
DRAWN = {
    "confusion": lambda salt: figures.confusion_figure(
        np.array([[5, 1], [0, 7]]), ["</text><script>", "$x$ \u6f22"], salt
    ),
    "latency": lambda salt: figures.latency_figure(RNG.uniform(1, 2, 300), 3.0, 1.5, salt),
    "latency of a float build": lambda salt: figures.latency_figure(np.ones(3), None, None, salt),
    "memory": lambda salt: figures.memory_figure([figures.Part("a", 10)], 2048, salt),
    "stages": lambda salt: figures.stage_figure(["float", "Z"], [0.91, 0.9], salt),
    "stages that lose nothing": lambda salt: figures.stage_figure(["float", "Z"], [1, 1], salt),
    "training": lambda salt: figures.training_figure([1.0, 0.5], [0.2, 0.9], salt),
    "signal": lambda salt: figures.trace_figure(RNG.random(50), salt, connected=True),
    "bars": lambda salt: figures.trace_figure(RNG.random(5), salt, connected=False),
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
    texts = [node.text for node in ElementTree.fromstring(DRAWN["confusion"]("x")).iter("text")]
    assert "</text><script>"[:11] + "\u2026" in texts
    assert "$x$ \u6f22" in texts


def test_a_figure_is_one_picture_with_a_name():
    root = ElementTree.fromstring(labelled(DRAWN["memory"]("x"), 'say "<b>"'))
    assert (root.get("role"), root.get("aria-label")) == ("img", 'say "<b>"')
