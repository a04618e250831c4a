"""Lines above a header are skipped or suspected, and texts that training did not have are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import refusal, run, succeed
from refusals import refuses

from protonn_edge.datasets import load_dataset

ROWS = "".join(f"{n % 4},{n % 5},{'ab'[n % 2]}\n".replace(",", ";") for n in range(20))


@pytest.mark.parametrize("first", ["sep=;\n", "\ufeffsep=;\r\n", '"SEP=;"\n'])
def test_a_line_that_marks_the_delimiter_is_skipped(tmp_path: Path, first: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{first}x;y;label\n{ROWS}", encoding="utf-8", newline="")
    assert load_dataset(path).feature_names == ("x", "y")


def test_a_title_above_the_header_is_skipped_with_a_notice(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"Measured in May\nx;y;label\n{ROWS}")
    dataset = load_dataset(path)
    assert dataset.feature_names == ("x", "y")
    (text,) = (each.text for each in dataset.notices if each.kind == "skipped")
    assert text == "lines above the table were skipped: 'Measured in May'"


def test_a_title_with_the_delimiter_in_it_is_suspected(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"Measured; in May\nx;y;label\n{ROWS}")
    refuses(run("train", path, "-o", tmp_path / "m.npz"), "datasets.tables")


def test_one_column_is_not_suspected_to_be_a_title(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x\n1\n2\n")
    assert "title" not in refusal(run("train", path, "-o", tmp_path / "m.npz"))


def test_texts_that_training_did_not_have_are_named_and_counted(tmp_path: Path) -> None:
    path, model = tmp_path / "t.csv", tmp_path / "m.npz"
    rows = [f"{n % 5},{('red', 'blue')[n % 2]},{'ab'[n % 2]}" for n in range(20)]
    path.write_text("\n".join(["x,colour,label", *rows]) + "\n")
    succeed("train", path, "-o", model, "--read", "one-hot=colour", "--classifier", "linear")
    assert "not in the training data" not in succeed("predict", model, path).stderr
    path.write_text(path.read_text().replace("red", "green"))
    done = succeed("predict", model, path)
    assert "column 'colour' has 10 cells with values that were not in the training" in done.stderr
    assert "('green'); in these rows, all features of the column are 0" in done.stderr


@pytest.mark.parametrize("title", ["rate,50\nsensor,mpu\n", "Versuch 3, Anna\n\n", "Mon, 10:00\n"])
@pytest.mark.parametrize("header", ["a,b,c,d,label\n", ""])
def test_facts_above_a_table_are_skipped(tmp_path: Path, title: str, header: str) -> None:
    rows = [
        f"{row % 7}.5,{row % 5}.25,{row % 3}.1,{row % 4}.3,{'xy'[row % 2]}" for row in range(60)
    ]
    path = tmp_path / "t.csv"
    path.write_text(title + header + "\n".join(rows) + "\n")
    dataset = load_dataset(path)
    assert dataset.X_train.shape == (60, 4)
    assert any("lines above the table were skipped" in each.text for each in dataset.notices)


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_a_table_may_have_quotes_around_all_cells(tmp_path: Path, delimiter: str) -> None:
    rows = [("a", "b", "label"), *((f"{n % 7},5", f"{n % 5},25", "xy"[n % 2]) for n in range(60))]
    text = "".join(delimiter.join(f'"{cell}"' for cell in row) + "\n" for row in rows)
    path = tmp_path / "t.csv"
    path.write_text(text)
    dataset = load_dataset(path)
    assert dataset.feature_names == ("a", "b")
    assert dataset.X_train[1].tolist() == [1.5, 1.25]
