"""What a search found becomes a section; a file of another making becomes a sentence."""

from __future__ import annotations

import json

import pytest
from evidence_factory import evidence_of
from model_factory import random_model
from refusals import refused_by

from protonn_edge.report.content import PageScript
from protonn_edge.report.front import Front, FrontPoint, front_section, read_front
from protonn_edge.report.page import render_page

CANDIDATE = {"accuracy": 0.9, "flash_bytes": 1200, "mean_ms": 0.4, "trial": 3}


def written(path, found):
    path.write_text(json.dumps({"accuracy_by_flash": found, "accuracy_by_cycles": found}))
    return path


def test_a_file_of_tune_is_read(tmp_path):
    one = FrontPoint(0.9, 1200, 0.4)
    assert read_front(written(tmp_path / "f.json", [CANDIDATE])) == Front((one,), (one,))


@pytest.mark.parametrize(
    "found",
    [[], {}, [1], [{}], *([{**CANDIDATE, "accuracy": x}] for x in (2, -1, "1", float("nan")))],
)
def test_anything_else_is_one_sentence(tmp_path, found):
    with refused_by("report.content"):
        read_front(written(tmp_path / "f.json", found))


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with refused_by("system.files"):
        read_front(tmp_path / "f.json")


def test_the_search_is_a_section_with_a_figure_by_flash_and_one_by_time():
    front = Front(*2 * ((FrontPoint(0.8, 900, 0.2), FrontPoint(0.9, 1200, 0.4)),))
    page = render_page(
        [evidence_of(random_model())], PageScript(None, "x"), added=[front_section(front)]
    )
    assert "2 alternatives, up to 90.00 %" in page
    assert page.count("Accuracy against") >= 2
    assert '<section id="search">' in page
