"""The page: whole, self-contained, the same every time, and deaf to what names want."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import numpy as np
import pytest
from chains import replace
from evidence_factory import HOSTILE, evidence_of, hostile_model
from model_factory import random_model
from page_reader import Reader

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.verification.agreement import Agreement
from protonn_edge.data.naming import sample_names
from protonn_edge.data.points.preparation import Preparation
from protonn_edge.model.policy import with_rules
from protonn_edge.policy.rejection.rule import Rejection
from protonn_edge.report.content import PageScript
from protonn_edge.report.page import render_page
from protonn_edge.report.points import columns_of, row_words

SCRIPT = PageScript("console.log('</script>');")
SECTIONS = [
    *("uno", "accuracy", "mistakes", "sketch", "memory", "latency", "energy", "plan"),
    *("quantization", "training", "provenance"),
]


def trained(model):
    history = {"objective": [1.0, 0.5, 0.4], "accuracy": [0.5, 0.8, 0.9]}
    return replace(model, record={"history": history, "versions": {"numpy": "<9>"}, "seed": 3})


@pytest.fixture(scope="module")
def one():
    return evidence_of(trained(hostile_model()))


@pytest.fixture(scope="module")
def page(one):
    return render_page(one, SCRIPT, command="protonn-edge report <x>")


def test_every_section_is_there(page):
    assert [each.get("id") for each in Reader(page).all("section")] == SECTIONS


def test_the_same_evidence_gives_the_same_bytes(one, page):
    assert render_page(one, SCRIPT, command="protonn-edge report <x>") == page


def test_names_are_told_and_never_obeyed(page):
    reader = Reader(page)
    text = "".join(reader.texts)
    assert all(name in text for name in HOSTILE)
    assert not reader.all("img")
    assert len(reader.all("script")) == 2
    assert not [a for _, attributes in reader.elements for a in attributes if a.startswith("on")]
    assert "<9>" in text
    assert "49" not in re.findall(r"<th[^>]*>\s*(\d+)", page)  # no template within a name is run


def test_names_reach_the_uno_as_they_are(page):
    data = json.loads(Reader(page).scripts[0])
    assert data["model"]["classes"] == list(HOSTILE)
    assert data["model"]["names"][0] == "--><script>alert(0)</script>"


def test_only_its_own_script_may_run_and_no_request_leaves(page):
    reader = Reader(page)
    policy = next(m["content"] for m in reader.all("meta") if "http-equiv" in m)
    digest = base64.b64encode(hashlib.sha256(reader.scripts[1].encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'sha256-{digest}'" in policy
    addresses = re.findall(r'(?:src|href|action)="([^"]*)"', page)
    assert all(address.startswith(("#", "data:")) for address in addresses)


def test_ids_are_there_once(page):
    ids = [a["id"] for _, a in Reader(page).elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_each_row_of_a_table_has_a_cell_under_each_heading(page):
    """The plan's table had a heading too many."""
    tables = re.findall(r"<table.*?</table>", page, re.DOTALL)
    assert len(tables) > 5
    for table in tables:
        widths = {
            sum(int(span or 1) for span in re.findall(r'<t[hd]\b(?:[^>]*?colspan="(\d+)")?', row))
            for row in re.findall(r"<tr.*?(?=<tr|</table>)", table, re.DOTALL)
        }
        assert len(widths) == 1, table


def test_figures_have_words(page):
    for figure in Reader(page).all("svg"):
        assert figure.get("aria-label") or figure.get("focusable") == "false"


def test_without_a_script_it_says_what_is_left_out(one):
    page = render_page(one, PageScript(None, "cannot find npm on PATH; install Node.js"))
    assert "does not include the emulated Uno: cannot find npm on PATH; install Node.js." in page
    assert not Reader(page).all("script")
    assert "script-src" not in page


def test_firmware_for_another_chip_does_not_run_in_the_page(one):
    page = render_page(replace(one, board=load_board("mega2560")), SCRIPT)
    assert "does not include the emulated Uno: the page can emulate only an ATmega328P" in page
    assert json.loads(Reader(page).scripts[0])["program"] is None  # all else answers all the same
    assert 'id="uno-page"' not in page
    assert "4 classes on a Mega 2560" in page


def test_the_top_says_what_was_run_and_that_all_agreed(one):
    agreed = Agreement("host C", 60, 0, 0, None)
    known = replace(one, data_name="points <1>.csv", on_host=agreed)
    top = "".join(Reader(render_page(known, SCRIPT).partition("<main")[0]).texts)
    assert ", ".join(HOSTILE) in top
    assert "points <1>.csv, 60 test points" in top
    assert "Arduino Uno, 16 MHz" in top
    assert "NumPy = C = Uno: 60 points, 0 mismatches" in top
    wrong = replace(one, results=(replace(one.results[0], mismatch=True), *one.results[1:]))
    top = "".join(Reader(render_page(wrong, SCRIPT).partition("<main")[0]).texts)
    assert "the executions disagree (NumPy, Uno): 60 points, 1 mismatches" in top


def test_a_cell_of_the_matrix_has_its_points_in_words(one, page):
    cells = [each for each in Reader(page).all("td") if each.get("class") in ("right", "wrong")]
    assert len(cells) == np.count_nonzero(one.confusion)
    told = sum(int(re.search(r": ([\d,]+) points?, ", each["title"])[1]) for each in cells)
    assert told == 60


def test_a_model_that_rejects_shows_what_thresholds_would_do(one):
    model = with_rules(one.model, Rejection(score=1e-3, margin=1e-3))
    page = render_page(evidence_of(model), SCRIPT)
    section = page.partition('<section id="unknown"')[2].partition("</section>")[0]
    assert "threshold of the highest score" in section
    assert section.count("right answers rejected (false alarms)") == 2
    assert 'id="unknown"' not in render_page(one, SCRIPT)


def test_windows_are_a_line_a_channel_with_names_and_rate():
    names = sample_names(("ax", "<b>"), 6)
    model = replace(random_model(features=12), feature_names=names)
    page = render_page(evidence_of(model), SCRIPT)
    section = page.partition('<section id="mistakes"')[2].partition("</section>")[0]
    assert "6 samples of each channel" in section
    assert "&lt;b&gt;</li>" in section
    first = section.partition("<svg")[2].partition("</svg>")[0]
    assert {"var(--accent)", "var(--second)"} <= set(re.findall(r"stroke: (var\([^)]*\))", first))
    assert json.loads(Reader(page).scripts[0])["channels"]["names"] == ["ax", "<b>"]


def test_a_mistake_of_a_table_is_told_as_its_row():
    """Unnamed bars were all that the page showed of a row."""
    one_hot = Preparation(one_hot={"crop": ("<basil>", "tomato")})
    model = replace(
        random_model(features=4),
        feature_names=("crop=<basil>", "crop=tomato", "soil", "temp (°C)"),
        record=one_hot.to_record(),
    )
    one = evidence_of(model)
    raw = np.array([1, 0, 31.2, 22], np.float32)
    assert row_words(columns_of(one), raw) == "crop <basil>, soil 31.2, temp (°C) 22"
    assert row_words(columns_of(one), 0 * raw) == "crop another value, soil 0, temp (°C) 0"
    page = render_page(one, SCRIPT)
    section = page.partition('<section id="mistakes"')[2].partition("</section>")[0]
    wrong = next(each for each in one.results if each.label != each.predicted)
    assert f"<span>#{wrong.index} is " in section
    assert "<small>crop " in section
    assert "crop, soil, temp (°C): a row of the data, with or without its label" in page
    data = json.loads(Reader(page).scripts[0])
    assert [each["choices"] for each in data["model"]["columns"]] == [["<basil>", "tomato"], [], []]
    assert sum(data["sliders"]["start"][:2]) == 1


def test_the_columns_of_a_wide_table_are_not_all_told():
    columns = columns_of(evidence_of(random_model(features=15)))
    assert row_words(columns, np.zeros(15)).endswith("feature 11 0 and 3 more")
    assert columns_of(evidence_of(random_model(features=12), shape=(3, 4))) == ()


def test_images_are_pictures_and_signals_are_lines():
    model = random_model(features=12)
    pictures = Reader(render_page(evidence_of(model, shape=(3, 4)), SCRIPT)).all("img")
    assert len(pictures) == 18 or 0 < len(pictures) < 18
    assert all(each["src"].startswith("data:image/png;base64,") for each in pictures)
    assert "taken for" in pictures[0]["alt"]
    assert not Reader(render_page(evidence_of(model, shape=(1, 12)), SCRIPT)).all("img")


def test_without_points_what_needs_them_is_left_out(one):
    page = render_page(replace(one, points=None), SCRIPT)
    ids = [each.get("id") for each in Reader(page).all("section")]
    assert ids == [each for each in SECTIONS if each not in ("mistakes", "quantization")]
    assert json.loads(Reader(page).scripts[0])["points"] == []


def test_lost_points_count_as_wrong_and_are_told(one):
    lost = replace(one.results[0], predicted=None, cycles=None, scores=None, mismatch=None)
    page = render_page(replace(one, results=(lost, *one.results[1:])), SCRIPT)
    assert "1 point got no answer" in page


def test_a_run_of_which_nothing_was_answered_is_still_a_report(one):
    lost = tuple(
        replace(r, predicted=None, cycles=None, scores=None, mismatch=None) for r in one.results
    )
    ids = [
        a.get("id") for a in Reader(render_page(replace(one, results=lost), SCRIPT)).all("section")
    ]
    assert "latency" not in ids
    assert "accuracy" in ids


def test_a_record_of_another_making_is_no_obstacle(one):
    huge = {"objective": [10**400, 1], "accuracy": [1e308, -1e308]}
    wrong = {"objective": ["x"], "accuracy": [1]}
    for history in (None, [], wrong, {"objective": [1, 2]}, huge):
        model = replace(one.model, record={"history": history, "settings": 7, "versions": "x"})
        page = render_page(replace(one, model=model), SCRIPT)
        assert 'id="training"' not in page


def test_points_to_pick_from_are_few_and_have_mistakes_among_them():
    many = evidence_of(random_model(features=12), 400)
    data = json.loads(Reader(render_page(many, SCRIPT)).scripts[0])
    points = data["points"]
    assert len(points) == 320
    cells = {(point["label"], point["predicted"]) for point in points}
    assert len(cells) == np.count_nonzero(many.confusion)  # some of each
    fed = np.frombuffer(base64.b64decode(data["pointBytes"]), np.uint8).reshape(-1, 12)
    assert many.points is not None
    assert (fed == many.points.fed[[point["index"] for point in points]]).all()


def test_of_many_classes_the_table_has_only_the_most_frequent_mistakes():
    page = render_page(evidence_of(random_model(classes=60, prototypes=70), 300), SCRIPT)
    assert "The most frequent mistakes" in page
    assert len(page) < 400_000
