"""Feature vectors apart from their labels: X_train.txt and y_train.txt, or a table a class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from command_line import run, run_json
from refusals import refused_by, refuses

from protonn_edge.datasets import load_dataset
from protonn_edge.datasets.groups import with_groups
from protonn_edge.errors import InputError

X = np.random.default_rng(0).normal(0, 9, (20, 3)).round(4)
Y = [1 + row % 2 for row in range(20)]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Give a function that writes lines into a file of the folder."""

    def write_lines(name: str, lines: Sequence[object]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return tmp_path

    return write_lines


def numbers(points: np.ndarray) -> list[str]:
    return ["  " + " ".join(f"{value: .7e}" for value in point) for point in points]


@pytest.fixture
def folder(write: Callable[..., Path]) -> Path:
    """Give a folder with a training part."""
    write("X_train.txt", numbers(X))
    return write("y_train.txt", Y)


Write = Callable[..., Path]


# --- X_train.txt ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "X_train.txt"])
def test_each_line_is_a_point_with_the_label_of_the_other_file(folder: Path, name: str) -> None:
    dataset = load_dataset(folder / name)
    assert np.array_equal(dataset.X_train, X.astype(np.float32))
    assert [dataset.classes[index] for index in dataset.y_train] == list(map(str, Y))
    assert dataset.feature_names == ()
    assert not len(dataset.y_test)


@pytest.mark.parametrize(("train", "test"), [("", ""), ("train/", "test/"), ("", "test/")])
def test_the_test_part_may_have_a_folder(write: Write, train: str, test: str) -> None:
    write(f"{train}X_train.txt", numbers(X))
    write(f"{train}y_train.txt", Y)
    write(f"{test}X_test.txt", numbers(X[:4] + 1))
    folder = write(f"{test}y_test.txt", Y[:4])
    dataset = load_dataset(folder)
    assert (len(dataset.y_train), len(dataset.y_test)) == (20, 4)
    np.testing.assert_allclose(dataset.X_test, X[:4] + 1, rtol=1e-6)


def test_names_of_features_and_classes_are_beside_the_parts(folder: Path, write: Write) -> None:
    write("activity_labels.txt", ["1 WALKING", "2 SITTING DOWN"])
    write("features.txt", ["1 mean()-X", "2 mean()-Y", "3 max"])
    dataset = load_dataset(folder)
    assert dataset.classes == ("SITTING DOWN", "WALKING")
    assert dataset.feature_names == ("mean()-X", "mean()-Y", "max")


@pytest.mark.parametrize("names", [["1 a", "2 b"], ["1 a", "2 b", "3 b"]])
def test_names_that_do_not_fit_are_not_used(folder: Path, write: Write, names: list[str]) -> None:
    write("features.txt", names)
    assert load_dataset(folder).feature_names == ()


def test_persons_may_be_the_groups(folder: Path, write: Write) -> None:
    write("subject_train.txt", [row // 5 for row in range(20)])
    dataset = with_groups(load_dataset(folder), str(folder / "subject_train.txt"), folder)
    assert dataset.groups is not None
    assert dataset.groups.tolist() == [row // 5 for row in range(20)]


def test_a_model_is_tested_on_the_test_part(folder: Path, write: Write) -> None:
    write("X_test.txt", numbers(X[:5]))
    write("y_test.txt", Y[:5])
    model = folder / "m.npz"
    done = run_json("train", folder, "-o", model, "--classifier", "linear")
    assert len(run_json("predict", model, folder)["predicted"]) == 5
    assert done["data"]["classes"] == {"1": 10, "2": 10}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("y_train.txt", Y[:-1]),
        ("subject_train.txt", [1]),
        ("X_train.txt", ["1 2 3", "1 x 3"]),
        ("X_train.txt", ["1 2 3", "1 nan 3"]),
        ("X_train.txt", ["1 2 3", "1 2"]),
        ("X_train.txt", []),
        ("X_test.txt", ["1 2 3"]),
    ],
)
def test_files_that_do_not_fit_are_refused(
    folder: Path, write: Write, name: str, lines: list[object]
) -> None:
    write(name, lines)
    with refused_by("datasets.tables", "datasets.vectors", "system.files"):
        load_dataset(folder)


def test_points_without_labels_are_refused(folder: Path) -> None:
    (folder / "y_train.txt").unlink()
    refuses(run("data", folder), "datasets.vectors")


# --- a table for each class -----------------------------------------------------------------------


def rows(points: np.ndarray) -> list[str]:
    return [",".join(map(str, point)) for point in points]


@pytest.mark.parametrize("header", [["r,g,b"], []])
@pytest.mark.parametrize("inside", ["", "/0", "/0.1"])
def test_each_line_is_a_point_of_the_class_of_its_file(
    write: Write, header: list[str], inside: str
) -> None:
    write(f"red{inside}.csv", [*header, *rows(X[:10])])
    folder = write(f"green{inside}.csv", [*header, *rows(X[10:])])
    dataset = load_dataset(folder)
    assert dataset.classes == ("green", "red")
    assert dataset.y_train.tolist() == [0] * 10 + [1] * 10
    assert np.array_equal(dataset.X_train, np.roll(X, 10, axis=0).astype(np.float32))
    assert dataset.feature_names == (("r", "g", "b") if header else ())
    assert "each row is a point of the class that its file or its folder is named after" in [
        each.text for each in dataset.notices
    ]


def test_class_files_may_have_parts(write: Write) -> None:
    for part, count in (("train", 10), ("test", 4)):
        for name in ("red", "green"):
            folder = write(f"{part}/{name}.csv", rows(X[:count]))
    dataset = load_dataset(folder)
    assert (len(dataset.y_train), len(dataset.y_test)) == (20, 8)
    assert dataset.classes == ("green", "red")


def test_names_of_class_files_may_have_a_pattern(write: Write) -> None:
    for name in ("red_al_1", "red_bo_1", "green_al_1"):
        folder = write(f"{name}.csv", rows(X[:8]))
    assert load_dataset(folder, name="{class}_{person}_{take}").classes == ("green", "red")


def test_rows_with_times_are_to_be_cut_or_used_as_points(write: Write) -> None:
    for name in ("red", "green"):
        folder = write(f"{name}.csv", ["t_ms,x", *(f"{20 * n},{x}" for n, x in enumerate(X[:, 0]))])
    with pytest.raises(InputError, match=r"has times in column 't_ms', .* 'protonn-edge windows'"):
        load_dataset(folder)
    assert load_dataset(folder, drop="t_ms").feature_names == ("x",)


def test_class_files_with_other_columns_are_refused(write: Write) -> None:
    write("green.csv", ["r,g,b", *rows(X)])
    folder = write("red.csv", ["r,g", *rows(X[:, :2])])
    with pytest.raises(InputError, match=r"red.csv lacks some columns of .*green.csv .*'b'"):
        load_dataset(folder)
    assert load_dataset(folder, drop="b").feature_names == ("r", "g")
