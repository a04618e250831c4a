"""Tables with gaps, filled as a model recorded, and with numbers whose marks are in doubt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import run, succeed
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_by, refuses

from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.preparation import Preparation
from protonn_edge.data.points.splits import holdout
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.tables.cells import Notation, meaning_of
from protonn_edge.model.file import load_model, save_model
from protonn_edge.system.errors import InputError
from protonn_edge.system.wording import COMMAND_LINE, speaking

GAPS = ("", " ", "NA", "nan", "NULL", "?", "-", "n/a", "None", "k.A.")
EPOCHS = ("--epochs", 1)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.fixture
def gappy(tmp_path: Path) -> Path:
    """Give a table of two features with gaps, and a colour."""
    rows = [
        f"{row % 10},{5 + row % 3},{'red' if row % 3 else 'blue'},{'ab'[row % 2]}"
        for row in range(40)
    ]
    rows[3] = ",5,red,b"
    rows[8] = "0,NA,,a"
    return write(tmp_path / "d.csv", "x,y [mm],colour,label\n" + "\n".join(rows) + "\n")


# --- gaps -----------------------------------------------------------------------------------------


def test_held_out_rows_do_not_say_what_fills_gaps(tmp_path: Path) -> None:
    rows = "".join(f"{1000 if row == 0 else row % 2},{'ab'[row % 2]}\n" for row in range(20))
    dataset = load_dataset(write(tmp_path / "d.csv", f"x,label\n,a\n{rows}"), missing="median")
    split = holdout(dataset, 0.5, seed=1)
    X = split.X_train
    gaps = split.gaps
    assert gaps is not None
    assert split.preparation is not None
    assert split.preparation.values == (float(np.median(X[~gaps])),)
    everything = np.concatenate([X, split.X_test])
    assert (everything == split.preparation.values[0]).any()


@pytest.mark.parametrize(
    "entry",
    [
        1,
        {},
        {"missing": "mode", "values": [], "one_hot": {}},
        {"missing": "median", "values": ["x"], "one_hot": {}},
        {"missing": "median", "values": [1e999], "one_hot": {}},
        {"missing": "median", "values": [1], "one_hot": []},
        {"missing": "", "values": [], "one_hot": {"a": 3}},
        {"missing": "", "values": [], "one_hot": {"a": [3]}},
        {"missing": [], "values": [], "one_hot": {}},
    ],
)
def test_a_damaged_record_is_refused(entry: object) -> None:
    with refused_by("data.points.preparation"):
        Preparation.of_record({"table": entry}, 1)


def test_a_record_of_other_features_is_refused(gappy: Path) -> None:
    path = gappy.with_name("m.npz")
    succeed("train", gappy, "-o", path, "--missing", "median", *EPOCHS)
    model = load_model(path)
    table = {**model.record["table"], "values": [1.0]}
    save_model(replace(model, record={**model.record, "table": table}), path)
    refuses(run("predict", path, gappy), "data.points.preparation")


def test_a_column_that_was_empty_in_training_cannot_be_filled(tmp_path: Path) -> None:
    rows = "".join(f"{row % 7},{'1' if row < 2 else ''},{'ab'[row % 2]}\n" for row in range(30))
    dataset = load_dataset(write(tmp_path / "d.csv", f"x,y,label\n{rows}"), missing="median")
    assert dataset.X_train[:, 1].tolist() == [1] * 30
    with pytest.raises(InputError, match="feature 'y' has no value in the training rows"):
        holdout(replace(dataset, groups=np.arange(30) // 2), 0.5, seed=0)


cells = st.one_of(
    st.sampled_from(GAPS), st.floats(-1e6, 1e6, width=32).map(repr), st.integers(-999, 999).map(str)
)


@given(rows=st.lists(st.tuples(cells, cells), min_size=4, max_size=30))
def test_any_gaps_are_left_out_or_filled_with_the_median(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "gaps.csv"
    lines = [f"1,2,{each}\n" for each in "ab"] + [f"{a},{b},{'ab'[len(a) % 2]}\n" for a, b in rows]
    path.write_text("x,y,label\n" + "".join(lines))
    values = np.array(
        [[1, 2], [1, 2], *([np.nan if c in GAPS else float(c) for c in row] for row in rows)],
        np.float32,
    )
    whole = ~np.isnan(values).any(axis=1)
    assert np.array_equal(load_dataset(path, missing="drop").X_train, values[whole])
    dataset = load_dataset(path, missing="median")
    medians = np.nanmedian(values, axis=0)
    assert np.allclose(dataset.X_train, np.where(np.isnan(values), medians, values))


# --- text and numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delimiter", "cells", "values"),
    [
        (",", ["1,253.0", "12", "1,000,000"], [1253, 12, 1e6]),
        (";", ["1.253,0", "12", "1,5", "2.000"], [1253, 12, 1.5, 2000]),
        (";", ["1,253.0", "12", "1.5", "2,000"], [1253, 12, 1.5, 2000]),
        (";", ["1,253", "12"], [1.253, 12]),
        (";", ["1.253", "", "1e3"], [1.253, None, 1000]),
        (";", ["-1.253.000,5", "?"], [-1253000.5, None]),
        (";", ["1.403", "69,5", "k.A."], [1403, 69.5, None]),
        (";", ["1,403", "69.5"], [1403, 69.5]),
        (";", ["0.403", "69,5"], [0.403, None]),
        (",", ["1.5"] * 9 + ["12,53", "1,2,3", "1_0", "inf", "x", "1e39"], [1.5] * 9 + [None] * 6),
        (";", ["1.5", "1,5"], [1.5, None]),
    ],
)
def test_marks_in_numbers_are_understood(
    delimiter: str, cells: list[str], values: list[float | None]
) -> None:
    meaning = meaning_of(cells, np.ones(len(cells), int), Notation.of(cells, delimiter, None))
    wanted = np.array([np.nan if value is None else value for value in values])
    assert np.array_equal(meaning.values, wanted, equal_nan=True)
    others = [i for i, v in enumerate(values) if v is None and cells[i] not in GAPS]
    assert np.flatnonzero(meaning.unreadable).tolist() == others


# --- from Python ----------------------------------------------------------------------------------


def test_keywords_are_options(gappy: Path) -> None:
    options = TableOptions(label="colour", drop=("label",), missing="drop")
    one = load_dataset(gappy, options)
    two = load_dataset(str(gappy), label="colour", drop=["label"], missing="drop")
    three = load_dataset(gappy, replace(options, drop=()), drop="label")
    for other in (two, three):
        assert other.classes == one.classes == ("blue", "red")
        assert np.array_equal(one.X_train, other.X_train)
    with pytest.raises(TypeError, match="unexpected keyword argument 'lable'"):
        load_dataset(gappy, lable="colour")


@pytest.mark.usefixtures("python_words")
def test_an_error_in_python_names_keywords(gappy: Path) -> None:
    with pytest.raises(InputError, match=r"use missing='drop' to omit"):
        load_dataset(gappy)
    with (
        speaking(COMMAND_LINE),
        pytest.raises(InputError, match="use --missing drop to omit"),
    ):
        load_dataset(gappy)


def test_a_second_file_is_the_test_part_as_a_model_reads_it(tmp_path: Path) -> None:
    train = ["when,kind,b,a", *(f"{row},{'xyz'[row % 3]},{row % 4},{row % 7}" for row in range(30))]
    train[5] = "4,y,,4"
    (tmp_path / "train.csv").write_text("\n".join(train) + "\n")
    (tmp_path / "test.csv").write_text("when,a,kind,b\n1,90,z,\n2,91,y,93\n")
    options = {"label": "kind", "drop": "when", "missing": "median"}
    data = load_dataset(tmp_path / "train.csv", test=tmp_path / "test.csv", **options)
    assert data.classes == ("x", "y", "z")
    assert data.y_test.tolist() == [2, 1]  # test.csv alone would number them 1 and 0
    median = np.median([row % 4 for row in range(30) if row != 4])
    assert data.X_test.tolist() == [[median, 90], [93, 91]]
    (tmp_path / "other.csv").write_text("when,a,kind,b\n1,90,w,2\n")
    with pytest.raises(InputError, match="has the label 'w' in row 0, but"):
        load_dataset(tmp_path / "train.csv", test=tmp_path / "other.csv", **options)
    np.savez(tmp_path / "two.npz", **{f"X_{part}": data.X_train for part in ("train", "test")},
             **{f"y_{part}": data.y_train for part in ("train", "test")})  # fmt: skip
    with pytest.raises(InputError, match="but the data has a test part"):
        load_dataset(tmp_path / "two.npz", test=tmp_path / "test.csv")
