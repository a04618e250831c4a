"""Training from a mapped file: the rows of each batch are read from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.chain.registry import ESTIMATORS
from protonn_edge.datasets import load_digits_dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.training import mapped_rows

DIGITS = load_digits_dataset()
X, Y = DIGITS.X_train, DIGITS.y_train


@pytest.fixture(autouse=True)
def _any_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped_rows, "LARGE_BYTES", 100)
    monkeypatch.setattr(mapped_rows, "_CHUNK_BYTES", 10_000)


def mapped(folder: Path, points: Any = X) -> Any:
    np.save(folder / "X.npy", points)
    return np.load(folder / "X.npy", mmap_mode="r")


@pytest.mark.parametrize("kind", ["protonn", "bonsai", "local-deep-kernel", "dense"])
def test_kinds_that_learn_from_batches_learn_from_a_file(kind: str, tmp_path: Path) -> None:
    classifier = ESTIMATORS[kind](epochs=20, random_state=0).fit(mapped(tmp_path), Y)
    assert classifier.score(DIGITS.X_test, DIGITS.y_test) > 0.88
    in_memory = ESTIMATORS[kind](epochs=20, random_state=0).fit(X, Y)
    for name in ("lower", "upper", "mean", "deviation", "background"):
        measured, expected = (getattr(each.model_.inputs, name) for each in (classifier, in_memory))
        np.testing.assert_allclose(measured, expected, rtol=1e-5, atol=1e-5)
    digests = {each.model_.record["data_sha256"] for each in (classifier, in_memory)}
    assert len(digests) == 1


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_the_type_of_the_file_does_not_matter(dtype: Any, tmp_path: Path) -> None:
    of_floats = ProtoNNClassifier(epochs=1, random_state=0).fit(mapped(tmp_path), Y)
    scores = of_floats.decision_function(DIGITS.X_test)
    other = ProtoNNClassifier(epochs=1, random_state=0).fit(mapped(tmp_path, X.astype(dtype)), Y)
    np.testing.assert_array_equal(other.decision_function(DIGITS.X_test), scores)


def test_points_of_weight_0_count_for_nothing(tmp_path: Path) -> None:
    weights = (Y < 5).astype(float)
    points = X.copy()
    points[Y >= 5] *= 100
    classifier = ProtoNNClassifier(epochs=10, random_state=0)
    classifier.fit(mapped(tmp_path, points), Y, sample_weight=weights)
    assert classifier.classes_.tolist() == [0, 1, 2, 3, 4]
    assert classifier.model_.inputs.upper.max() == 16
    few = DIGITS.y_test < 5
    assert classifier.score(DIGITS.X_test[few], DIGITS.y_test[few]) > 0.9


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("forest", {}),
        ("linear", {}),
        ("protonn", {"optimizer": "alternating"}),
        ("protonn", {"image_shape": (8, 8), "augment": True}),
        ("protonn", {"image_shape": (8, 8), "features": "pool:4x4"}),
        ("protonn", {"image_shape": (8, 8), "copies": 1}),
        ("protonn", {"clip": 0.1}),
        ("protonn", {"strangers": 0.5}),
    ],
)
def test_what_needs_all_points_is_refused(
    kind: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    with refused_by("training.mapped_rows"):
        ESTIMATORS[kind](**settings).fit(mapped(tmp_path), Y)


def test_groups_are_refused(tmp_path: Path) -> None:
    with refused_by("training.mapped_rows"):
        ProtoNNClassifier().fit(mapped(tmp_path), Y, groups=Y)


def test_a_file_without_numbers_or_with_a_gap_is_refused(tmp_path: Path) -> None:
    with refused_by("training.mapped_rows"):
        ProtoNNClassifier().fit(mapped(tmp_path, X.astype(str)), Y)
    points = X.copy()
    points[700, 3] = np.nan
    with refused_by("training.points"):
        ProtoNNClassifier().fit(mapped(tmp_path, points), Y)
