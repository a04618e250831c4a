"""What examples of each person give, on their other points, and in a report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chains import replace as with_numbers
from command_line import run, run_json, succeed
from evidence_factory import evidence_of
from model_factory import random_model
from refusals import refused_by

from protonn_edge.data.points.division import Division, digest_of
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.extensions.teaching.panel import read_taught, taught_section
from protonn_edge.extensions.teaching.people import TaughtPerson, teach_people
from protonn_edge.model.file import save_model
from protonn_edge.model.integer_chain import IntegerChain, coordinates
from protonn_edge.model.quantization import quantize
from protonn_edge.report.content import PageScript
from protonn_edge.report.page import render_page
from protonn_edge.system.errors import InputError

FLOATS = with_numbers(random_model(projections=4, features=6, classes=3), teachable=12)
MODEL = quantize(FLOATS)


def people_of(count: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs (n, 6), classes and people; what a person's class looks like is their own."""
    rng = np.random.default_rng(0)
    people, y = np.repeat(["ann", "bob"], 3 * count), np.tile(np.arange(3), 2 * count)
    centres = rng.integers(40, 200, (2, 3, 6))
    Q = centres[(people == "bob").astype(int), y] + rng.integers(-6, 7, (len(y), 6))
    return Q.astype(np.uint8), y, people


def accuracy(model: IntegerChain, Q: np.ndarray, y: np.ndarray) -> float:
    return float((model.predict(Q) == y).mean())


def test_the_tested_points_are_neither_taught_nor_beside_what_is() -> None:
    Q, y, people = people_of()
    found = teach_people(MODEL, Q, y, people, 2)
    for person in found:
        own = np.flatnonzero(people == person.name)
        rows = [own[y[own] == label] for label in range(3)]  # 40 of each
        tested = np.sort(np.concatenate([np.delete(r, [9, 10, 11, 29, 30, 31]) for r in rows]))
        assert person.n == len(tested) == 102
        for count, places in enumerate(([], [30], [10, 30])):
            taught = np.concatenate([r[places] for r in rows]).astype(int)
            points = coordinates(MODEL, Q[taught]).astype(np.int8)
            board = teaching.with_taught(MODEL, Taught(points, y[taught].astype(np.uint8)))
            assert person.accuracies[count] == accuracy(board, Q[tested], y[tested])
    assert [person.name for person in found] == ["ann", "bob"]
    assert min(person.accuracies[2] for person in found) > 0.8


def test_more_examples_than_there_is_room_for_replace_others() -> None:
    Q, y, people = people_of()
    (ann, _) = teach_people(MODEL, Q, y, people, 10)  # 30 examples for 12 places
    assert len(ann.accuracies) == 11
    assert ann.accuracies[10] > 0.9


def test_a_class_that_somebody_never_showed_is_not_taught() -> None:
    Q, y, people = people_of()
    kept = (people == "ann") | (y != 2)
    both, bob = (teach_people(MODEL, *each, 1) for each in (
        (Q[kept], y[kept], people[kept]), (Q[(people == "bob") & (y != 2)], *[
            each[(people == "bob") & (y != 2)] for each in (y, people)])
    ))  # fmt: skip
    assert both[1] == bob[0]


def test_too_few_points_are_refused() -> None:
    Q, y, people = people_of(7)
    with pytest.raises(InputError, match="'ann' has 7 points of 'class 0', but --teach 2 needs 8"):
        teach_people(MODEL, Q, y, people, 2)
    assert len(teach_people(MODEL, Q, y, people, 1)) == 2


@pytest.fixture
def words(tmp_path: Path) -> list[object]:
    """Write a model and data whose integers are those of `people_of`; return the command."""
    save_model(FLOATS, tmp_path / "model.npz")
    Q, y, people = people_of()
    X = MODEL.quantizer.zero + MODEL.quantizer.step * Q
    names = np.array(MODEL.classes)
    np.savez(tmp_path / "data.npz", X=X, y=y, class_names=names, people=people)
    return ["inspect", tmp_path / "model.npz", "--data", tmp_path / "data.npz"]


def test_the_command_prints_a_curve(words: list[object], tmp_path: Path) -> None:
    lines = tmp_path / "people.txt"
    lines.write_text("\n".join(people_of()[2]))
    found = run_json(*words, "--groups", "people", "--teach", 3)["teaching"]
    assert run_json(*words, "--groups", lines, "--teach", 3)["teaching"] == found
    assert [person["name"] for person in found["people"]] == ["ann", "bob"]
    each = np.array([person["accuracies"] for person in found["people"]])
    assert each.shape == (2, 4)
    assert found["mean"] == each.mean(axis=0).tolist()
    assert found["worst"] == each.min(axis=0).tolist()
    printed = succeed(*words, "--groups", "people", "--teach", 3).output
    assert f"{100 * found['worst'][3]:.2f}" in printed.split("worst")[1]


def test_people_of_points_that_were_held_out(words: list[object], tmp_path: Path) -> None:
    with np.load(tmp_path / "data.npz") as data:
        y, people = data["y"], np.unique(data["people"], return_inverse=True)[1]
    division = Division(digest_of(tmp_path / "data.npz"), 0.2, groups="people")
    held_out = division.checked(y, people).to_record()
    save_model(replace(FLOATS, record=held_out), tmp_path / "model.npz")
    found = run_json(*words, "--groups", "people", "--teach", 1)["teaching"]
    assert len(found["people"]) == 1


def test_people_may_be_a_column_of_a_table(words: list[object], tmp_path: Path) -> None:
    found = run_json(*words, "--groups", "people", "--teach", 1)["teaching"]
    with np.load(tmp_path / "data.npz") as data:
        names = data["class_names"][data["y"]]
        rows = zip(data["people"], *data["X"].T.tolist(), names, strict=True)
        lines = [",".join(map(str, row)) for row in rows]
    header = ",".join(["who", *(f"x{i}" for i in range(6)), "label"])
    (tmp_path / "data.csv").write_text("\n".join([header, *lines]))
    of_table = [*words[:3], tmp_path / "data.csv", "--teach", 1, "--groups"]
    assert run_json(*of_table, "who")["teaching"] == found
    assert "did you mean 'who'?" in run(*of_table, "whom").stderr


def test_what_is_missing_is_named(words: list[object], tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("ann\nbob\n")
    few = run(*words, "--groups", tmp_path / "few.txt", "--teach", 1)
    assert "(2,) for 240 points" in few.stderr
    save_model(random_model(projections=4, features=6, classes=3), tmp_path / "model.npz")
    done = run(*words, "--groups", "people", "--teach", 1)
    assert "no room for taught examples" in done.stderr
    assert done.exit_code == 2


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
