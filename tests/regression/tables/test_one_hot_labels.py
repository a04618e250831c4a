"""Arrays of one-hot labels, and of labels in a column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from protonn_edge.data.reading import load_dataset


@pytest.mark.parametrize("names", [("walk", "run"), (0, 1), (0, 2, 5)])
def test_arrays_of_labels_may_be_columns(tmp_path: Path, names: tuple[object, ...]) -> None:
    y = np.array(names)[np.arange(12) % len(names)]
    np.savez(tmp_path / "d.npz", X_train=np.arange(24.0).reshape(12, 2), y_train=y[:, None])
    assert load_dataset(tmp_path / "d.npz").classes == tuple(sorted(map(str, names)))


def test_an_array_with_a_one_in_each_row_has_classes(tmp_path: Path) -> None:
    y = np.eye(3, dtype=np.int64)[np.arange(12) % 3]
    np.savez(tmp_path / "d.npz", X_train=np.arange(24.0).reshape(12, 2), y_train=y)
    dataset = load_dataset(tmp_path / "d.npz")
    assert dataset.classes == ("0", "1", "2")
    assert dataset.y_train.tolist() == [0, 1, 2] * 4
