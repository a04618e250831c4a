"""The float models: their scores, what they refuse, and their files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bonsai_factory import random_bonsai_model, random_kernel_model
from model_factory import random_points

from protonn_edge.errors import InputError
from protonn_edge.model import load_model, model_bytes, save_model
from protonn_edge.model.bonsai import BonsaiModel, TreeModel

Make = Callable[..., TreeModel]
both = pytest.mark.parametrize("make", [random_bonsai_model, random_kernel_model])


def scores_of(model: TreeModel, x: np.ndarray) -> np.ndarray:
    """Return the scores of a normalized point, one node at a time."""
    z = model.projection @ x if isinstance(model, BonsaiModel) else x
    z = np.append(z, 1.0)
    t, node = np.zeros(model.n_rows), 0
    while True:
        for row in range(model.n_rows):
            place = node * model.n_rows + row
            t[row] += (model.weights[place] @ z) * np.tanh(model.gates[place] @ z)
        if node >= len(model.branches):
            break
        node = 2 * node + (2 if model.branches[node] @ z >= 0 else 1)
    return t if len(t) > 1 else np.array([-t[0] / 2, t[0] / 2])


@both
@pytest.mark.parametrize(("classes", "depth"), [(2, 0), (2, 3), (5, 2)])
def test_scores_are_those_of_the_formula(make: Make, classes: int, depth: int) -> None:
    model = make(1, classes=classes, depth=depth)
    X = random_points(1, 50, 12)
    normalized = (X - model.normalizer.offset) * model.normalizer.scale
    expected = np.array([scores_of(model, point) for point in normalized])
    np.testing.assert_allclose(model.scores(X), expected, rtol=1e-9, atol=1e-12)
    assert (model.predict(X) == expected.argmax(axis=1)).all()
    assert (model.depth, model.n_classes) == (depth, classes)


@both
@pytest.mark.parametrize("depth", [0, 2])
def test_a_file_gives_the_same_model(make: Make, depth: int, tmp_path: Path) -> None:
    model = make(depth=depth, record={"trainer": "Adam"})
    save_model(model, tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert type(loaded) is type(model)
    assert model_bytes(loaded) == model_bytes(model)


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("Z", np.ones((5, 12)), "array 'Z' has the type float64"),
        ("Z", np.ones((5, 11), np.float32), "'W' has 11"),
        ("Z", np.ones((4, 12), np.float32), "array 'T' has 6 columns, the others want 5"),
        ("Z", None, "no array 'Z'"),
        ("W", np.ones((9, 6)), "array 'W' has the type float64"),
        ("W", np.full((9, 6), np.nan, np.float32), "array 'W' has a value at .0, 0. that is NaN"),
        ("W", np.ones((8, 6), np.float32), "array 'V' has 9 rows, the others want 8"),
        ("V", np.ones((9, 5), np.float32), "array 'V' has 5 columns, the others want 6"),
        ("T", np.ones((2, 6), np.float32), "array 'W' has 9 rows and 'T' 2, which is no tree"),
        ("T", np.ones((31, 6), np.float32), "no tree of at most 4 levels"),
        ("T", None, "array 'classes' has 3 names for 9"),
        ("B", np.ones((4, 12), np.float32), "unknown array 'B'"),
    ],
)
def test_a_damaged_array_is_one_sentence(name: str, array: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    save_model(random_bonsai_model(), path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays[name] = array
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(InputError, match=words):
        load_model(path)


def test_a_kernel_has_no_projection() -> None:
    model = random_kernel_model(features=12)
    assert set(model.matrices) == {"W", "V", "T"}
    with pytest.raises(InputError, match="array 'T' has 13 columns, the others want 12"):
        replace(model, normalizer=random_kernel_model(features=11).normalizer)
