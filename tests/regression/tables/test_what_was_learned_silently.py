"""Mistakes in tables that trained without a word, or with a misleading one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json
from flower_tables import Write

Rows = list[list[object]]


def _points(labels: Sequence[object], *, n: int = 60) -> Rows:
    rng = np.random.default_rng(0)
    return [[*rng.normal(size=2).round(3), labels[row % len(labels)]] for row in range(n)]


def _kinds(path: Path) -> dict[str, str]:
    return {each["kind"]: each["text"] for each in run_json("data", path)["notices"]}


def _classes(path: Path) -> list[str]:
    return [each["name"] for each in run_json("data", path)["classes"]]


@pytest.mark.parametrize("begin", [0, 1])
@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1)])
def test_numbers_that_pandas_writes_as_names_are_no_point(
    write: Write, begin: int, labels: Sequence[object]
) -> None:
    path = write(_points(labels), [str(begin + place) for place in range(3)])
    assert _classes(path) == [str(label) for label in labels]
    assert "the names of columns" in _kinds(path)["header"]


def test_many_whole_numbers_have_names_that_rise(write: Write) -> None:
    rows = [[*np.random.default_rng(row).integers(0, 9, 9), row % 2] for row in range(60)]
    assert _classes(write(rows, [str(place) for place in range(10)])) == ["0", "1"]


def test_few_whole_numbers_that_rise_are_a_point(write: Write) -> None:
    rows = [[0, 1, 2], *([row % 5, row % 7, row % 3] for row in range(60))]
    rows[9][0] = rows[8][1] = ""  # a gap is no reason
    path = write(rows)
    assert sum(each["train"] for each in run_json("data", path)["classes"]) == 61
    assert "header" not in _kinds(path)


def test_one_word_in_two_forms_of_unicode_is_one_class(write: Write) -> None:
    labels = ("café", unicodedata.normalize("NFD", "café"), "thé")
    assert _classes(write(_points(labels), ["a", "b", "label"])) == ["café", "thé"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", "01"), ("2", "2e0"), ("sit-down", "sit_down"), ("sit down", "Sit-Down"), ("x²", "x2")],
)
def test_names_written_in_two_ways_are_questioned(write: Write, one: str, other: str) -> None:
    path = write(_points((one, other, "rest")), ["a", "b", "label"])
    first, second = sorted((one, other))
    assert f"{first!r}, {second!r}" in _kinds(path)["spelling"]


@pytest.mark.parametrize("names", [("-1", "1"), ("1-2", "12"), ("a+", "a-"), ("left", "right")])
def test_other_names_are_not_questioned(write: Write, names: tuple[str, str]) -> None:
    assert "spelling" not in _kinds(write(_points(names), ["a", "b", "label"]))


def test_values_far_from_all_others_are_reported(write: Write) -> None:
    rows = _points(("no", "yes"))
    rows[7][0] = 1e6
    path = write(rows, ["a", "b", "label"])
    assert "column 'a' has a value of 1e+06" in _kinds(path)["stray"]


def test_rare_and_skewed_values_are_not_reported(write: Write) -> None:
    rng = np.random.default_rng(0)
    rows: Rows = [[0 if row else 5000, np.exp(rng.normal(0, 2)), row % 2] for row in range(200)]
    rows[100][0] = 1
    assert "stray" not in _kinds(write(rows, ["rare", "skewed", "label"]))


@pytest.mark.parametrize("first", [0, 1])
def test_libsvm_text_called_a_table_is_recognized(tmp_path: Path, first: int) -> None:
    path = tmp_path / "points.csv"
    lines = [f"{row % 2} {first}:1 {first + 1}:{row}" for row in range(30)]
    path.write_text("\n".join(lines) + "\n")
    assert "libsvm" in refusal(run("train", path, "-o", tmp_path / "model.npz"))


def test_times_are_no_libsvm_text(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    lines = [f"{row % 3} {row} 10:{row:02} {'ab'[row % 2]}" for row in range(30)]
    path.write_text("\n".join(lines) + "\n")
    assert _classes(path) == ["a", "b"]


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-be", "utf-16"])
def test_the_encoding_is_named(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "points.csv"
    mark = "" if encoding != "utf-32-be" else "\ufeff"
    path.write_text(f"{mark}a,label\n1,x\n2,y\n", encoding=encoding)
    named = encoding[:6].upper()
    assert named in refusal(run("train", path, "-o", tmp_path / "model.npz"))


@pytest.mark.parametrize("words", [("data",), ("train", "-o", "m.npz"), ("inspect",), ("predict",)])
def test_an_empty_name_is_not_the_current_folder(words: Sequence[str]) -> None:
    done = run(*words, *([""] * (1 + (words[0] == "predict"))))
    assert done.exit_code == 2
    assert "the name is empty" in done.stderr
