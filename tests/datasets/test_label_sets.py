"""Points with sets of labels, and compressed features, from .npz files and libsvm text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_files import data_file
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from refusals import refused_by
from scipy.sparse import csr_array

from protonn_edge.datasets import (
    Dataset,
    Expected,
    MultiLabelDataset,
    holdout,
    label_sets,
    load_dataset,
    load_points,
)
from protonn_edge.errors import InputError

X = np.arange(12.0).reshape(4, 3)
LABELS = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1]])


def compressed(name: str, matrix: np.ndarray, with_values: bool = False) -> dict[str, Any]:
    """Return the arrays that a matrix is in an .npz file."""
    rows = csr_array(matrix)
    arrays = {f"{name}_indptr": rows.indptr, f"{name}_indices": rows.indices}
    return arrays | ({f"{name}_data": rows.data} if with_values else {})


def save(tmp_path: Path, **changes: Any) -> Path:
    whole = {"X_train": X, "X_test": X[:2], "n_labels": 3}
    whole |= compressed("Y_train", LABELS) | compressed("Y_test", LABELS[:2]) | changes
    np.savez(tmp_path / "data.npz", **{k: v for k, v in whole.items() if v is not None})
    return tmp_path / "data.npz"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_of_label_numbers_become_a_matrix(tmp_path: Path) -> None:
    dataset = load_dataset(save(tmp_path))
    assert isinstance(dataset, MultiLabelDataset)
    assert dataset.y_train.dtype == np.float32
    assert np.array_equal(dataset.y_train, LABELS)
    assert np.array_equal(dataset.y_test, LABELS[:2])
    assert np.array_equal(dataset.X_train, X)
    assert dataset.classes == ("0", "1", "2")
    assert (dataset.n_features, dataset.n_classes) == (3, 3)


def test_a_matrix_of_zeros_and_ones_is_read_too(tmp_path: Path) -> None:
    arrays = dict.fromkeys((*compressed("Y_train", X), *compressed("Y_test", X)))
    path = save(tmp_path, **arrays, n_labels=None, y_train=LABELS, y_test=LABELS[:2])
    assert np.array_equal(load_dataset(path).y_train, LABELS)


def test_labels_that_are_unsorted_or_twice_are_a_set_all_the_same(tmp_path: Path) -> None:
    path = save(tmp_path, Y_train_indices=[2, 1, 2, 0, 0], Y_train_indptr=[0, 3, 5, 5, 5])
    assert load_dataset(path).y_train.tolist() == [
        [0, 1, 1],
        [1, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
    ]


def test_compressed_features_become_a_table(tmp_path: Path) -> None:
    parts = compressed("X_train", X, True) | compressed("X_test", X[:2], True)
    path = save(tmp_path, X_train=None, X_test=None, n_features=3, **parts)
    dataset = load_dataset(path)
    assert np.array_equal(dataset.X_train, X)
    assert np.array_equal(dataset.X_test, X[:2])


def test_compressed_features_may_have_one_label_a_point(tmp_path: Path) -> None:
    parts = compressed("X", X, True)
    np.savez(tmp_path / "d.npz", **parts, n_features=3, y=["b", "a", "b", "a"])
    dataset = load_dataset(tmp_path / "d.npz")
    assert not isinstance(dataset, MultiLabelDataset)
    points, y = load_points(tmp_path / "d.npz", Expected(n_features=3, classes=("a", "b")))
    assert np.array_equal(points, X)
    assert y.tolist() == [1, 0, 1, 0]
    half: Dataset = holdout(dataset, 0.5, seed=0)
    assert half.X_train.shape == half.X_test.shape == (2, 3)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"n_labels": None}, "no array 'n_labels'"),
        ({"n_labels": 0}, "'n_labels' must be one whole number from 1 to"),
        ({"n_labels": 10**12}, "'n_labels' must be one whole number from 1 to"),
        ({"n_labels": 2.5}, "'n_labels' must be one whole number from 1 to"),
        ({"n_labels": [3, 3]}, "'n_labels' must be one whole number from 1 to"),
        (
            {"n_labels": 2},
            "'Y_train_indices' contains the column 2, but columns are numbered 0 to 1",
        ),
        ({"Y_train_indices": [-1, 0, 1, 2]}, "'Y_train_indices' contains the column -1"),
        ({"Y_train_indices": None}, "no array 'Y_train_indices'"),
        ({"Y_train_indptr": None}, "no array 'Y_train_indptr'"),
        (
            {"Y_train_indptr": [0, 2, 1, 3, 4]},
            "'Y_train_indptr' must increase from 0 to 4, the",
        ),
        (
            {"Y_train_indptr": [0, 2, 3, 3, 9]},
            "'Y_train_indptr' must increase from 0 to 4, the",
        ),
        (
            {"Y_train_indptr": [1, 2, 3, 3, 4]},
            "'Y_train_indptr' must increase from 0 to 4, the",
        ),
        (
            {"Y_train_indptr": np.zeros(0, int)},
            "'Y_train_indptr' must increase from 0 to 4, the",
        ),
        (
            {"Y_train_indptr": [0, 4]},
            r"'y_train' has the shape \(1, 3\), but 'X_train' has 4 points",
        ),
        ({"Y_train_indptr": [[0, 4]]}, "'Y_train_indptr' has the shape"),
        ({"Y_train_indices": [0.0, 1.0, 1.0, 2.0]}, "'Y_train_indices' has the shape .* float64"),
        ({"Y_train_indices": [], "Y_train_indptr": [0] * 5}, "vector of whole numbers"),
        (
            {"Y_train_indices": np.zeros(0, int), "Y_train_indptr": [0] * 5},
            "no point with a label",
        ),
        (
            {"class_names": ["a", "b"]},
            "has 3 columns of labels, but the number of names in 'class_names' is 2",
        ),
        ({"class_names": ["a", "b", "a"]}, "twice"),
        ({"X_test": np.zeros((2, 5))}, "5 features, but the training part has 3"),
        ({"X_test": None}, "no array 'X_test'"),
        ({"X_train": None, **compressed("X_train", X)}, "no array 'n_features'"),
        ({"X_train": None, "n_features": 3, **compressed("X_train", X)}, "no array 'X_train_data'"),
        (
            {"X_train": None, "n_features": 3}
            | compressed("X_train", X + np.r_[1, 1, np.inf], True),
            "'X_train_data' has a value that is NaN, infinite or too large in row 0, feature 2",
        ),
        (
            {"X_train": None, "n_features": 2} | compressed("X_train", X, True),
            "'X_train_indices' contains the column 2, but columns are numbered 0 to 1",
        ),
        (
            {
                "X_train": None,
                "n_features": 3,
                "X_train_indptr": [0, 2, 2, 2, 2],
                "X_train_indices": [1, 1],
                "X_train_data": [1.0, 2.0],
            },
            "'X_train_indices' lists a feature of a point twice",
        ),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    path = save(tmp_path, **changes)
    with pytest.raises(InputError, match=problem) as caught:
        load_dataset(path)
    assert "\n" not in str(caught.value)


@st.composite
def rows_of_labels(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    """Draw where four rows of label numbers begin, the numbers, and how many labels there are.

    They are sound, or have one number changed.
    """
    count = draw(st.integers(2, 6))
    rows = draw(st.lists(st.lists(st.integers(0, count - 1), max_size=3), min_size=4, max_size=4))
    starts = np.cumsum([0, *map(len, rows)]).tolist()
    places = [number for row in rows for number in row]
    changed = draw(st.sampled_from([None, None, "count", "starts", "places"]))
    if changed == "count":
        count = draw(st.integers(-2, 6))
    elif changed is not None:
        numbers = starts if changed == "starts" else places
        assume(numbers)
        numbers[draw(st.integers(0, len(numbers) - 1))] = draw(st.integers(-3, 8))
    return starts, places, count


def refusal_of_rows(starts: list[int], places: list[int], count: int) -> str | None:
    """Return what the sentence about such rows says, or None if they are sound."""
    if count < 1:
        return "'n_labels' must be one whole number"
    if starts[0] != 0 or starts[-1] != len(places) or sorted(starts) != starts:
        return "'Y_train_indptr' must increase from 0"
    if places and not 0 <= min(places) <= max(places) < count:
        return "'Y_train_indices' contains"
    if count < 2:
        return "fewer than 2 labels"
    return None if places else "no point with a label"


@settings(max_examples=60, deadline=None)
@given(rows_of_labels())
def test_any_rows_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, rows: tuple[list[int], list[int], int]
) -> None:
    starts, places, count = rows
    path = save(
        tmp_path_factory.mktemp("rows"),
        Y_train_indptr=np.array(starts, dtype=np.int64),
        Y_train_indices=np.array(places, dtype=np.int64),
        n_labels=count,
        Y_test_indptr=np.array([0, 1, 2]),
        Y_test_indices=np.array([0, 0]),
    )
    refusal = refusal_of_rows(*rows)
    if refusal is not None:
        with pytest.raises(InputError, match=refusal):
            load_dataset(path)
        return
    expected = np.zeros((4, count))
    for row, (begin, end) in enumerate(pairwise(starts)):
        expected[row, places[begin:end]] = 1
    assert np.array_equal(load_dataset(path).y_train, expected)


# --- libsvm text ---------------------------------------------------------------------------------


def test_too_many_labels_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_sets, "LABEL_LIMIT", 3)
    with refused_by("datasets.dataset"):
        load_dataset(write(tmp_path / "d.svm", "1,2 1:1\n3,4 1:2\n"))


def test_a_model_of_classes_is_not_tested_on_sets(tmp_path: Path) -> None:
    path = write(tmp_path / "d.svm", "1,2 1:1\n2 1:2\n")
    with refused_by("datasets.reading"):
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


@pytest.mark.parametrize(
    ("name", "train", "test", "labels"),
    [
        ("delicious", (12_920, 500), 3_185, 983),
        ("bibtex", (4_880, 1_836), 2_515, 159),
    ],
)
def test_real_data_is_read(name: str, train: tuple[int, int], test: int, labels: int) -> None:
    path = data_file(f"{name}.npz")
    dataset = load_dataset(path)
    assert dataset.X_train.shape == train
    assert dataset.y_test.shape == (test, labels)
    assert dataset.n_classes == labels
