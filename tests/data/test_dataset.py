"""Splitting data sets, points for a trained model, and the data that a package ships."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from protonn_edge.data.naming import label_text
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.points.splits import holdout, load_digits_dataset
from protonn_edge.data.reading import load_dataset, load_points


def dataset_of(counts: list[int]) -> Dataset:
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.arange(len(y), dtype=np.float32)[:, None]
    empty = np.empty((0, 1), dtype=np.float32)
    names = tuple(str(index) for index in range(len(counts)))
    return Dataset(X, y, empty, np.empty(0, dtype=np.int64), names)


@pytest.mark.parametrize("fraction", [0.0, 1.0, -1.0, float("nan"), 1e-6])
def test_a_share_that_cannot_be_held_out_is_refused(fraction: float) -> None:
    with refused_by("data.points.splits"):
        holdout(dataset_of([5, 5]), fraction, 0)


def test_digits_are_split_with_all_classes_in_both_parts() -> None:
    digits = load_digits_dataset()
    assert digits.X_train.shape[1] == 64
    assert len(digits.y_train) + len(digits.y_test) == 1_797
    assert set(digits.y_train) == set(digits.y_test) == set(range(10))
    assert np.array_equal(digits.X_test, load_digits_dataset().X_test)
    assert not np.array_equal(digits.y_test, load_digits_dataset(seed=1).y_test)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("1", "1"),
        ("1.0", "1"),
        ("+1", "1"),
        ("-1.", "-1"),
        ("-0", "0"),
        (" up ", "up"),
        ("01", "01"),
        ("1.5", "1.5"),
        ("1_0", "1_0"),
        ("1e3", "1e3"),
    ],
)
def test_whole_numbers_have_one_name(label: str, text: str) -> None:
    assert label_text(label) == text


# --- points for a trained model ------------------------------------------------------------------


def test_points_are_the_test_part_numbered_by_the_models_classes(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "d.npz", X_train=np.eye(2), y_train=[0, 1], X_test=np.ones((1, 2)), y_test=[1]
    )
    X, y = load_points(tmp_path / "d.npz", Expected(n_features=2, classes=("1", "0")))
    assert X.tolist() == [[1, 1]]
    assert y.tolist() == [0]
    assert y.dtype == np.int64


def test_an_unknown_label_of_a_point_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("1,2,1\n3,4,3\n")
    with refused_by("data.points.dataset", naming="'3' in row 1"):
        load_points(tmp_path / "d.csv", Expected(n_features=2, classes=("1", "2")))


@pytest.mark.parametrize("name", ["d.csv", "d.svm"])
def test_points_with_too_many_features_are_refused_with_both_numbers(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("1,1,2,3\n" if name == "d.csv" else "1 3:1\n")
    with refused_by("data.points.dataset", naming="3 features, but the model expects 2"):
        load_points(tmp_path / name, Expected(n_features=2, classes=("1", "2")))


# --- real data -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("load", "shape", "classes"),
    [
        (load_digits, (1_797, 64), 10),
        (load_breast_cancer, (569, 30), 2),
        (load_iris, (150, 4), 3),
        (load_wine, (178, 13), 3),
    ],
)
def test_real_data_has_its_known_sizes_and_no_other_warning(
    load: Callable[..., tuple[np.ndarray, np.ndarray]],
    shape: tuple[int, int],
    classes: int,
    tmp_path: Path,
) -> None:
    X, y = load(return_X_y=True)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    dataset = load_dataset(tmp_path / "data.npz")
    assert dataset.X_train.shape == shape
    assert dataset.n_classes == classes
    assert {each.kind for each in dataset.notices if each.warning} <= {"quantity", "constant"}
