"""The float linear model: its scores, what it refuses, and its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from linear_factory import random_linear_model
from model_factory import random_points

from protonn_edge.errors import InputError
from protonn_edge.model import load_model, model_bytes, save_model
from protonn_edge.stages.decision.rejection import UNKNOWN, Rejection


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_scores_are_those_of_the_formula(classes: int) -> None:
    model = random_linear_model(1, classes=classes)
    X = random_points(1, 50, 12)
    t = (X - model.normalizer.offset) * model.normalizer.scale @ model.weights.T + model.bias
    expected = np.hstack([-t / 2, t / 2]) if classes == 2 else t
    np.testing.assert_allclose(model.scores(X), expected, rtol=1e-12)
    assert (model.predict(X) == expected.argmax(axis=1)).all()
    assert model.n_classes == classes


@pytest.mark.parametrize("thresholds", [{"score": 2.0}, {"margin": 0.5}])
def test_it_rejects_by_score_and_by_margin(thresholds: dict[str, float]) -> None:
    model = random_linear_model(1)
    X = random_points(1, 200, 12)
    rejecting = replace(
        model, rejection=Rejection(**{"score": 0, "rbf": 0, "margin": 0} | thresholds)
    )
    ordered = np.sort(model.scores(X), axis=1)
    margin = ordered[:, -1] - ordered[:, -2]
    low = margin < 0.5 if "margin" in thresholds else ordered[:, -1] < 2.0
    assert 0 < low.sum() < 200
    assert (rejecting.predict(X) == np.where(low, UNKNOWN, model.predict(X))).all()


@pytest.mark.parametrize("classes", [2, 5])
def test_a_file_gives_the_same_model(classes: int, tmp_path: Path) -> None:
    model = random_linear_model(classes=classes, record={"trainer": "saga"})
    save_model(model, tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert type(loaded) is type(model)
    assert model_bytes(loaded) == model_bytes(model)


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("W", np.ones((4, 12)), "array 'W' has the type float64"),
        ("W", np.full((4, 12), np.nan, np.float32), "array 'W' has a value at .0, 0. that is NaN"),
        ("W", np.ones(12, np.float32), "array 'W' has the shape"),
        ("W", np.ones((4, 11), np.float32), "'W' has 11"),
        ("b", np.ones(4, np.float32), "array 'b' has the type float32"),
        ("b", np.ones(3), "array 'b' has 3 features, the others have 4"),
        ("b", np.full(4, np.inf), "array 'b' has a value at .0,. that is NaN or infinite"),
        ("b", None, "no array 'b'"),
        ("B", np.ones((4, 12), np.float32), "unknown array 'B'"),
    ],
)
def test_a_damaged_array_is_one_sentence(name: str, array: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    save_model(random_linear_model(), path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays[name] = array
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(InputError, match=words):
        load_model(path)


def test_a_row_that_no_class_has_is_refused() -> None:
    with pytest.raises(InputError, match="array 'classes' has 4 names for 3"):
        replace(random_linear_model(), weights=np.ones((3, 12)), bias=np.zeros(3))
