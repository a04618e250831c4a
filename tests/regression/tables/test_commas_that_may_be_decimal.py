"""Quoted decimal commas in a table with commas were read as thousands: 1,363 became 1363."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json
from refusals import refused_by

from protonn_edge.datasets import load_dataset

NUMBERS = np.random.default_rng(0).uniform(1, 10, (40, 2)).round(3)


def table(tmp_path: Path, form: str, mark: str = ",") -> Path:
    rows = [
        ",".join(f'"{format(x, form)}"'.replace(".", mark) for x in point) + f",{'ab'[row % 2]}"
        for row, point in enumerate(NUMBERS)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,label", *rows]) + "\n")
    return tmp_path / "t.csv"


def test_three_digits_behind_each_comma_are_asked_about(tmp_path: Path) -> None:
    path = table(tmp_path, ".3f")
    sentence = refusal(run("train", path, "-o", tmp_path / "m.npz"))
    assert f"numbers such as '{NUMBERS[0, 0]:.3f}'".replace(".", ",") in sentence
    assert "may separate thousands; give --read decimal=comma or decimal=point" in sentence
    comma = load_dataset(path, decimal="comma").X_train
    np.testing.assert_allclose(comma, NUMBERS, rtol=1e-6)
    np.testing.assert_allclose(load_dataset(path, decimal="point").X_train, 1000 * comma)
    ranges = run_json("data", path, "--read", "decimal=comma")["features"]
    assert ranges[0]["maximum"] == pytest.approx(NUMBERS[:, 0].max())


@pytest.mark.parametrize("form", [".2f", ".4f"])
def test_other_digits_behind_a_comma_tell_the_mark(tmp_path: Path, form: str) -> None:
    dataset = load_dataset(table(tmp_path, form))
    np.testing.assert_allclose(dataset.X_train, NUMBERS, atol=0.006)
    assert "numbers have decimal commas" in [each.text for each in dataset.notices]


def test_a_later_cell_tells_the_mark(tmp_path: Path) -> None:
    path = table(tmp_path, ".3f")
    path.write_text(path.read_text() + '"1,5","2,25",a\n')
    np.testing.assert_allclose(load_dataset(path).X_train[:-1], NUMBERS, rtol=1e-6)


def test_decimal_points_in_quotes_are_no_question(tmp_path: Path) -> None:
    dataset = load_dataset(table(tmp_path, ".3f", "."))
    np.testing.assert_allclose(dataset.X_train, NUMBERS, rtol=1e-6)
    assert not dataset.notices


def test_another_mark_is_refused(tmp_path: Path) -> None:
    with refused_by("datasets.tables"):
        load_dataset(table(tmp_path, ".2f"), decimal="dot")
