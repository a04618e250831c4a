"""Points with sets of labels, from .npz files and libsvm text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.data.points import label_sets
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.points.label_sets import MultiLabelDataset
from protonn_edge.data.points.splits import holdout
from protonn_edge.data.reading import load_dataset, load_points
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


# --- libsvm text ---------------------------------------------------------------------------------


def test_too_many_labels_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_sets, "LABEL_LIMIT", 3)
    with refused_by("data.points.dataset"):
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
