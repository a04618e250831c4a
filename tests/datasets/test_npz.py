"""Data sets as .npz."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.data import arrays
from protonn_edge.data.reading import load_dataset
from protonn_edge.system.errors import InputError

X = np.arange(12.0).reshape(4, 3)


def save(tmp_path: Path, **changes: Any) -> Path:
    whole = {"X_train": X, "y_train": [0, 1, 0, 1], "X_test": X[:2], "y_test": [1, 0]} | changes
    np.savez(tmp_path / "data.npz", **{k: v for k, v in whole.items() if v is not None})
    return tmp_path / "data.npz"


def test_both_parts_are_read(tmp_path: Path) -> None:
    dataset = load_dataset(save(tmp_path))
    assert dataset.X_train.dtype == np.float32
    assert np.array_equal(dataset.X_train, X)
    assert dataset.y_train.tolist() == [0, 1, 0, 1]
    assert dataset.y_train.dtype == np.int64
    assert dataset.y_test.tolist() == [1, 0]
    assert dataset.classes == ("0", "1")
    assert dataset.feature_names == ()
    assert (dataset.n_features, dataset.n_classes) == (3, 2)


def test_one_part_is_training_data(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", X=X, y=["b", "a", "b", "a"])
    dataset = load_dataset(tmp_path / "data.npz")
    assert dataset.X_test.shape == (0, 3)
    assert dataset.y_test.shape == (0,)
    assert dataset.classes == ("a", "b")
    assert dataset.y_train.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.array([10.0, 2.0, 10.0, 2.0]), ("2", "10")),
        (np.array([-1, 1, 1, -1], dtype=np.int8), ("-1", "1")),
        (np.array([True, False, True, False]), ("0", "1")),
        (np.array(["up", " down", "up", "down"]), ("down", "up")),
        (np.array([b"1", b"2", b"1", b"2"]), ("1", "2")),
        (np.array([0.5, 1.5, 0.5, 1.5]), ("0.5", "1.5")),
    ],
)
def test_class_names_are_the_labels_as_text(
    tmp_path: Path, labels: np.ndarray, classes: tuple[str, ...]
) -> None:
    path = save(tmp_path, y_train=labels, X_test=None, y_test=None)
    assert load_dataset(path).classes == classes


def test_labels_point_into_class_names(tmp_path: Path) -> None:
    path = save(tmp_path, class_names=["zebra", "ant"], feature_names=["a", "b", "c"])
    dataset = load_dataset(path)
    assert dataset.classes == ("zebra", "ant")
    assert dataset.y_train.tolist() == [0, 1, 0, 1]
    assert dataset.feature_names == ("a", "b", "c")


def test_more_axes_are_flattened(tmp_path: Path) -> None:
    windows = np.arange(24.0).reshape(4, 3, 2)
    dataset = load_dataset(save(tmp_path, X_train=windows, X_test=None, y_test=None))
    assert np.array_equal(dataset.X_train, windows.reshape(4, 6))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"X_train": None}, "no array 'X_train' or 'X'"),
        ({"y_train": None}, "no array 'y_train'"),
        ({"y_test": None}, "no array 'y_test'"),
        ({"X_test": None}, "no array 'X_test'"),
        ({"y_train": [0, 1]}, r"'y_train' has the shape \(2,\), but 'X_train' has 4 points"),
        ({"y_train": np.eye(4)}, "differ: one has sets of labels"),
        (
            {"y_train": 2 * np.eye(4)},
            "'y_train' is a 4 x 4 matrix, but a matrix of label sets may contain only zeros",
        ),
        ({"X_train": np.where(X == 4, np.nan, X)}, "row 1, feature 1"),
        ({"X_train": X * 1e300}, "too large in row 0"),
        ({"X_train": X.astype(str)}, "'X_train' has the shape .* numbers"),
        ({"X_train": X.ravel()}, "'X_train' has the shape"),
        ({"X_train": np.empty((4, 0))}, "'X_train' has the shape"),
        ({"X_train": np.empty((0, 3)), "y_train": np.empty(0, dtype=int)}, "no points"),
        ({"y_train": [0.0, np.nan, 0.0, 1.0]}, "NaN or infinite label in row 1"),
        ({"y_train": [1, 1, 1, 1], "y_test": [1, 1]}, "only one class, '1'"),
        ({"y_test": [1, 7]}, "has the label '7' in row 1, but .* has only the classes '0', '1'"),
        ({"X_test": np.zeros((2, 5))}, "5 features, but the training part has 3"),
        ({"class_names": ["a", "b", "c"]}, "no point of class 'c'"),
        ({"class_names": ["a"]}, "'y_train' must contain indices of 'class_names'"),
        ({"class_names": ["a", "a"]}, "twice"),
        ({"class_names": ["a", "b\x07"]}, "printable"),
        ({"class_names": [1, 2]}, "'class_names' must be a vector of strings"),
        ({"feature_names": ["a"]}, "'feature_names' has 1 names"),
        ({"feature_names": ["a", "b", ""]}, "printable"),
        ({"y_train": ["a", "b", "c" * 101, "a"]}, "printable"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    path = save(tmp_path, **changes)
    with pytest.raises(InputError, match=problem) as caught:
        load_dataset(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_measurements_are_no_labels(tmp_path: Path) -> None:
    many = np.arange(1_001)
    np.savez(tmp_path / "data.npz", X=many[:, None], y=many)
    with refused_by("data.dataset"):
        load_dataset(tmp_path / "data.npz")


def test_an_unused_pickled_array_is_left_alone(tmp_path: Path) -> None:
    path = save(tmp_path, notes=np.array([{"a": 1}], dtype=object))
    assert load_dataset(path).n_classes == 2


def test_a_file_that_would_unpack_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "FILE_LIMIT_BYTES", 1_500)
    np.savez_compressed(tmp_path / "data.npz", X=np.zeros((1_000, 10)), y=np.zeros(1_000))
    with refused_by("data.archive"):
        load_dataset(tmp_path / "data.npz")


def test_too_many_values_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "TABLE_LIMIT_BYTES", 40)
    with refused_by("data.arrays"):
        load_dataset(save(tmp_path))
