"""Points with sets of labels, from .npz files and libsvm text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.data import label_sets
from protonn_edge.data.expected import Expected
from protonn_edge.data.label_sets import MultiLabelDataset
from protonn_edge.data.reading import load_dataset, load_points
from protonn_edge.data.splits import holdout
from protonn_edge.system.errors import InputError

X = np.arange(12.0).reshape(4, 3)
LABELS = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1]])


def save(tmp_path: Path, **changes: Any) -> Path:
    whole = {"X_train": X, "X_test": X[:2], "y_train": LABELS, "y_test": LABELS[:2]} | changes
    np.savez(tmp_path / "data.npz", **{k: v for k, v in whole.items() if v is not None})
    return tmp_path / "data.npz"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_matrix_of_zeros_and_ones_is_sets_of_labels(tmp_path: Path) -> None:
    dataset = load_dataset(save(tmp_path))
    assert isinstance(dataset, MultiLabelDataset)
    assert dataset.y_train.dtype == np.float32
    assert np.array_equal(dataset.y_train, LABELS)
    assert np.array_equal(dataset.y_test, LABELS[:2])
    assert np.array_equal(dataset.X_train, X)
    assert dataset.classes == ("0", "1", "2")
    assert (dataset.n_features, dataset.n_classes) == (3, 3)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"y_train": 2 * LABELS}, "'y_train' is a 4 x 3 matrix, but a matrix of label sets"),
        ({"y_train": LABELS[:3]}, r"'y_train' has the shape \(3, 3\), but 'X_train' has 4 points"),
        ({"y_train": np.zeros((4, 3))}, "no point with a label"),
        ({"y_test": LABELS[:2, :2]}, "has 2 columns of labels, but the training part has 3"),
        ({"y_train": None}, "no array 'y_train'"),
        (
            {"class_names": ["a", "b"]},
            "has 3 columns of labels, but the number of names in 'class_names' is 2",
        ),
        ({"class_names": ["a", "b", "a"]}, "twice"),
        ({"X_test": np.zeros((2, 5))}, "5 features, but the training part has 3"),
        ({"X_test": None}, "no array 'X_test'"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    path = save(tmp_path, **changes)
    with pytest.raises(InputError, match=problem) as caught:
        load_dataset(path)
    assert "\n" not in str(caught.value)


# --- libsvm text ---------------------------------------------------------------------------------


def test_too_many_labels_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_sets, "LABEL_LIMIT", 3)
    with refused_by("data.dataset"):
        load_dataset(write(tmp_path / "d.svm", "1,2 1:1\n3,4 1:2\n"))


def test_a_model_of_classes_is_not_tested_on_sets(tmp_path: Path) -> None:
    path = write(tmp_path / "d.svm", "1,2 1:1\n2 1:2\n")
    with refused_by("data.reading"):
        load_points(path, Expected(n_features=1, classes=("1", "2")))


def test_points_are_held_out_at_random(tmp_path: Path) -> None:
    dataset = load_dataset(save(tmp_path))
    half, again = (holdout(dataset, 0.5, seed=1) for _ in range(2))
    assert isinstance(half, MultiLabelDataset)
    assert half.X_train.shape == half.X_test.shape == (2, 3)
    assert np.array_equal(half.X_test, again.X_test)
    both = np.concatenate([half.X_train, half.X_test])
    assert sorted(both[:, 0].tolist()) == X[:, 0].tolist()
    with pytest.raises(InputError, match="0.01 holds out none of the 4 points"):
        holdout(dataset, 0.01, seed=1)
