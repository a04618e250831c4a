"""A model's features are found in other data by their names, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from command_line import run, run_json, succeed
from flower_tables import NAMES, Flowers, Write
from model_factory import random_model
from refusals import refused_by, refuses

from protonn_edge.data.expected import Expected
from protonn_edge.data.naming import match_columns, sample_names
from protonn_edge.data.reading import load_points
from protonn_edge.model.file import load_model, save_model
from protonn_edge.system.errors import InputError


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, flowers: Flowers) -> Path:
    """Give a model of the first 100 flowers, which knows its features by name."""
    folder = tmp_path_factory.mktemp("model")
    rows = [",".join(map(str, [*x, kind])) for x, kind in flowers[:100]]
    (folder / "train.csv").write_text("\n".join([",".join([*NAMES, "species"]), *rows]) + "\n")
    options = ("--epochs", 20, "--prototypes", 6, "--projection-dim", 2)
    succeed("train", folder / "train.csv", "-o", folder / "model.npz", *options)
    return folder / "model.npz"


def shuffled(flowers: Flowers, order: Sequence[int]) -> tuple[list[list[object]], list[str]]:
    """Return the other 50 flowers, the label first, and the header, columns in this order."""
    rows = [[kind, *(x[index] for index in order)] for x, kind in flowers[100:]]
    return rows, ["species", *(NAMES[index] for index in order)]


def accuracy(model: Path, data: Path) -> float:
    return float(run_json("inspect", model, "--data", data)["stages"][-1]["accuracy"])


def test_columns_in_another_order_give_the_same_accuracy(
    model: Path, write: Write, flowers: Flowers
) -> None:
    ordered = accuracy(model, write(*shuffled(flowers, (0, 1, 2, 3)), name="a.csv"))
    assert ordered > 0.9
    for order in ((3, 2, 1, 0), (1, 0, 3, 2)):
        assert accuracy(model, write(*shuffled(flowers, order), name="b.csv")) == ordered


def test_arrays_are_matched_by_name(model: Path, tmp_path: Path, flowers: Flowers) -> None:
    X = np.array([x for x, _ in flowers])
    y = np.array([kind for _, kind in flowers])
    np.savez(tmp_path / "a.npz", X=X, y=y, feature_names=np.array(NAMES))
    np.savez(tmp_path / "b.npz", X=X[:, ::-1], y=y, feature_names=np.array(NAMES[::-1]))
    assert accuracy(model, tmp_path / "a.npz") == accuracy(model, tmp_path / "b.npz") > 0.9


def test_surplus_columns_are_ignored_with_a_word(
    model: Path, write: Write, flowers: Flowers
) -> None:
    rows, header = shuffled(flowers, (0, 1, 2, 3))
    data = write([["hello", *row, 7] for row in rows], ["note", *header, "age"])
    done = succeed("inspect", model, "--data", data)  # with the label of the training file
    assert "columns that the model does not use were ignored: 'note', 'age'" in done.stderr
    numbered = write([[place, *row] for place, row in enumerate(rows)], ["", *header])
    done = succeed("inspect", model, "--data", numbered)
    assert "were ignored: 'column 1'" in done.stderr


def test_a_missing_column_is_named(model: Path, write: Write, flowers: Flowers) -> None:
    rows, header = shuffled(flowers, (0, 1, 2))
    refuses(run("verify", model, write(rows, header)), "data.naming")


def test_without_names_columns_are_matched_by_position_and_it_is_said(
    model: Path, write: Write, flowers: Flowers
) -> None:
    rows, header = shuffled(flowers, (0, 1, 2, 3))
    done = succeed("inspect", model, "--data", write(rows), "--label", "first")
    assert "features are matched by position" in done.stderr
    nameless = model.with_name("nameless.npz")
    save_model(random_model(features=4, classes=2), nameless)
    rows = [[*x[1:], f"class {row % 2}"] for row, x in enumerate(rows)]
    data = write(rows, [*header[1:], header[0]])
    done = succeed("inspect", nameless, "--data", data)
    assert "features are matched by position, because the model has no feature names" in done.stderr


def test_a_name_that_is_there_twice_cannot_be_matched(
    model: Path, write: Write, flowers: Flowers
) -> None:
    rows, header = shuffled(flowers, (0, 1, 2, 3))
    data = write([[*row, row[1]] for row in rows], [*header, NAMES[0]])
    refuses(run("verify", model, data), "data.naming")


def test_the_label_is_the_last_column_that_is_not_a_feature(
    model: Path, write: Write, flowers: Flowers
) -> None:
    rows, header = shuffled(flowers, (0, 1, 2, 3))
    data = write([["red", *row] for row in rows], ["colour", "what it is", *header[1:]])
    assert accuracy(model, data) > 0.9


def test_a_test_file_may_be_told_its_label(model: Path, write: Write, flowers: Flowers) -> None:
    rows, header = shuffled(flowers, (0, 1, 2, 3))
    data = write([["setosa", *row] for row in rows], ["label", "truth", *header[1:]])
    assert accuracy(model, data) < 0.5
    record = run_json("inspect", model, "--data", data, "--label", "truth")
    assert record["stages"][-1]["accuracy"] > 0.9


def test_going_on_from_a_model_takes_its_columns(
    model: Path, write: Write, flowers: Flowers
) -> None:
    data = write(*shuffled(flowers, (3, 2, 1, 0)))
    new = data.with_name("new.npz")
    succeed("train", data, "-o", new, "--label", "species", "--start-from", model, "--epochs", 1)
    assert load_model(new).feature_names == NAMES


def test_a_part_of_a_folder_is_matched_by_name(tmp_path: Path, flowers: Flowers) -> None:
    for name, order in (("train", (0, 1, 2, 3)), ("test", (3, 2, 1, 0))):
        rows, header = shuffled(flowers, order)
        text = "\n".join("\t".join(map(str, row)) for row in [header, *rows])
        (tmp_path / f"{name}.txt").write_text(text + "\n")
    kinds = ("setosa", "versicolor", "virginica")
    X, _ = load_points(tmp_path, Expected(n_features=4, feature_names=NAMES, classes=kinds))
    assert X.tolist() == np.float32([x for x, _ in flowers[100:]]).tolist()
    with pytest.raises(InputError, match="lacks the column 'depth'"):
        load_points(
            tmp_path, Expected(n_features=5, feature_names=(*NAMES, "depth"), classes=kinds)
        )


def test_a_recording_for_a_model_of_windows_is_to_be_cut() -> None:
    wanted = sample_names(("ax", "ay"), 8)
    with refused_by("data.naming"):
        match_columns(("time", "ax", "ay"), wanted, "rec.csv")
    with refused_by("data.naming"):
        match_columns(("time", "ax"), wanted, "rec.csv")
