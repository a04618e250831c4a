"""Numbers as labels are read in the table's notation, asked about, and not needed to predict."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from command_line import assert_one_sentence, refusal, run, run_json, succeed
from policy.value.numbers import points, write_table

from protonn_edge.data.reading import load_dataset
from protonn_edge.data.values import ValueDataset
from protonn_edge.model.file import load_model

NAMED = ("--label", "temperature")
LINEAR = ("--classifier", "linear")


def with_commas(folder: Path, other: str = "") -> Path:
    """Write `points` with decimal commas, the first label replaced by another one, if given."""
    text = write_table(folder / "points.csv").read_text().replace(",", ";").replace(".", ",")
    head, first, *rows = text.splitlines()
    first = f"{first.rpartition(';')[0]};{other}" if other else first
    table = folder / "commas.csv"
    table.write_text("\n".join([head, first, *rows]) + "\n")
    return table


def with_labels(table: Path, labels: list[str]) -> Path:
    """Write a table again, with other labels in turn."""
    head, *rows = table.read_text().splitlines()
    lines = [f"{row.rpartition(',')[0]},{labels[n % len(labels)]}" for n, row in enumerate(rows)]
    other = table.with_name("other.csv")
    other.write_text("\n".join([head, *lines]) + "\n")
    return other


def test_labels_with_decimal_commas_are_numbers(tmp_path: Path) -> None:
    read = load_dataset(with_commas(tmp_path), label="temperature")
    assert isinstance(read, ValueDataset)
    np.testing.assert_allclose(read.y_train[:, 0], points()[1], atol=0.006)


def test_a_point_is_no_decimal_mark_beside_decimal_commas(tmp_path: Path) -> None:
    table = with_commas(tmp_path, "1.500")
    told = run("train", table, *NAMED, "--target", "value", "-o", tmp_path / "model.npz")
    assert "'1.500'" in refusal(told)


@pytest.mark.parametrize("n", [30, 300])
def test_whole_numbers_that_hardly_repeat_are_asked_about(tmp_path: Path, n: int) -> None:
    table = write_table(tmp_path / "data.csv", n, decimals=0)
    table = with_labels(table, [str(7 * row) for row in range(n)])
    told = run("train", table, *NAMED, *LINEAR, "-o", tmp_path / "model.npz")
    assert "--target value or --target class" in refusal(told)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("values")
    table = write_table(place / "data.csv")
    succeed("train", table, *NAMED, *LINEAR, "-o", place / "model.npz")
    return place


@pytest.mark.parametrize("labels", [[""], ["warm"], ["", "n/a"]])
def test_labels_are_not_needed_to_predict(folder: Path, labels: list[str]) -> None:
    other = with_labels(folder / "data.csv", labels)
    told = run_json("predict", folder / "model.npz", other, *NAMED)
    assert len(told["predicted"]) == 300
    assert "errors" not in told


def test_errors_are_of_the_points_with_labels(folder: Path) -> None:
    X, _ = points()
    other = with_labels(folder / "data.csv", ["", "20.25", "21.75"])
    told = run_json("predict", folder / "model.npz", other, *NAMED)
    assert len(told["predicted"]) == len(X)
    assert told["errors"]["n"] == 200


def test_the_sentence_about_a_label_that_is_no_number_fits_every_command(folder: Path) -> None:
    other = with_labels(folder / "data.csv", ["20.25", "warm"])
    told = run("verify", folder / "model.npz", other, *NAMED)
    assert_one_sentence(told)
    assert "train" not in refusal(told)


def test_numbers_are_predicted_in_floats_alone(tmp_path: Path) -> None:
    table, output = write_table(tmp_path / "data.csv"), tmp_path / "predicted.csv"
    options = ("--normalization", "l2", "--epochs", "5", "-o", tmp_path / "model.npz")
    succeed("train", table, *NAMED, *options)
    told = run_json("predict", tmp_path / "model.npz", table, "-o", output)
    rows = list(csv.DictReader(output.read_text().splitlines()))
    X, y = (
        np.array([[float(row[f"x{i}"]) for i in range(5)] for row in rows]),
        np.array([float(row["temperature"]) for row in rows]),
    )
    found = np.array([float(row["predicted_value"]) for row in rows])
    assert told["errors"]["mae"] == pytest.approx(np.abs(found - y).mean(), abs=0.01)
    in_python = load_model(tmp_path / "model.npz").predict(X)
    np.testing.assert_allclose(in_python, found, atol=0.01)
