"""What people teach becomes a section; a file of another making becomes a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from evidence_factory import evidence_of
from model_factory import random_model
from refusals import refused_by

from protonn_edge.extensions.teaching.panel import read_taught, taught_section
from protonn_edge.extensions.teaching.people import TaughtPerson
from protonn_edge.report.content import PageScript
from protonn_edge.report.page import render_page

PEOPLE = [
    {"name": "<b>", "n": 20, "accuracies": [0.5, 0.9]},
    {"name": "eve", "n": 30, "accuracies": [0.8, 0.7]},
]


def written(path: Path, people: Any) -> Path:
    path.write_text(json.dumps({"teaching": {"people": people}, "model_sha256": "ab"}))
    return path


def test_what_inspect_prints_is_a_section_with_mean_and_worst(tmp_path: Path) -> None:
    people = read_taught(written(tmp_path / "t.json", PEOPLE), "ab")
    assert people == (TaughtPerson("<b>", 20, (0.5, 0.9)), TaughtPerson("eve", 30, (0.8, 0.7)))
    page = render_page(
        evidence_of(random_model()), PageScript(None, "x"), added=[taught_section(people)]
    )
    assert '<section id="taught">' in page
    assert "from 65.00 to 80.00 % on average, and the lowest accuracy of any person" in page
    assert ">1 example<" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page[page.index('<section id="taught">') :]


@pytest.mark.parametrize(
    "people",
    [
        *([], {}, [1], [{}], [{**PEOPLE[0], "accuracies": []}]),
        *([{**PEOPLE[0], "accuracies": [x]}] for x in (2, -1, "1", float("nan"))),
        [PEOPLE[0], {**PEOPLE[1], "accuracies": [0.5]}],
        [PEOPLE[0], {**PEOPLE[1], "accuracies": []}],
    ],
)
def test_anything_else_is_one_sentence(people: Any, tmp_path: Path) -> None:
    with refused_by("report.content"):
        read_taught(written(tmp_path / "t.json", people), "ab")


def test_another_model_is_refused(tmp_path: Path) -> None:
    with refused_by("report.content"):
        read_taught(written(tmp_path / "t.json", PEOPLE), "cd")
