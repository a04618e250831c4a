"""The float forest: its scores, what it refuses, and its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forest_factory import random_forest_model
from model_factory import random_points

from protonn_edge.errors import InputError
from protonn_edge.model import load_model, model_bytes, save_model
from protonn_edge.model.forest import ForestModel
from protonn_edge.stages.decision.rejection import UNKNOWN, Rejection
from protonn_edge.stages.forest.trees import LEAF


def scores_of(model: ForestModel, point: np.ndarray) -> np.ndarray:
    """Return the scores of a normalized point, one node at a time."""
    nodes, scores = iter(model.features.tolist()), model.bias.copy()
    thresholds, leaves = iter(model.thresholds), iter(model.leaves.astype(np.float64))

    def walk(reached: bool) -> None:
        feature = next(nodes)
        if feature == LEAF:
            scores[:] += next(leaves) * reached
            return
        left = point[feature] <= next(thresholds)
        walk(reached and left)
        walk(reached and not left)

    for _ in model.trees.roots:
        walk(True)
    return scores


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_scores_are_those_of_the_formula(classes: int) -> None:
    model = random_forest_model(1, classes=classes)
    X = random_points(1, 50, 12)
    normalized = (X - model.normalizer.offset) * model.normalizer.scale
    expected = np.array([scores_of(model, point) for point in normalized])
    np.testing.assert_allclose(model.scores(X), expected, rtol=1e-12)
    assert (model.predict(X) == expected.argmax(axis=1)).all()


@pytest.mark.parametrize("thresholds", [{"score": 0.7}, {"margin": 0.4}])
def test_it_rejects_by_score_and_by_margin(thresholds: dict[str, float]) -> None:
    model = random_forest_model(1)
    X = random_points(1, 200, 12)
    rejecting = replace(
        model, rejection=Rejection(**{"score": 0, "rbf": 0, "margin": 0} | thresholds)
    )
    ordered = np.sort(model.scores(X), axis=1)
    margin = ordered[:, -1] - ordered[:, -2]
    low = margin < 0.4 if "margin" in thresholds else ordered[:, -1] < 0.7
    assert 0 < low.sum() < 200
    assert (rejecting.predict(X) == np.where(low, UNKNOWN, model.predict(X))).all()


@pytest.mark.parametrize("classes", [2, 5])
def test_a_file_gives_the_same_model(classes: int, tmp_path: Path) -> None:
    model = random_forest_model(classes=classes, record={"trainer": "RandomForestClassifier"})
    save_model(model, tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert type(loaded) is type(model)
    assert model_bytes(loaded) == model_bytes(model)


NODES = random_forest_model().features
INNER = int((NODES != LEAF).sum())


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("nodes", NODES.astype(np.int32), "array 'nodes' has the type int32"),
        ("nodes", NODES[:, None], "array 'nodes' has the shape"),
        ("nodes", np.where(NODES == 3, 12, NODES), "array 'nodes' has numbers in -1..12"),
        ("nodes", np.where(NODES == 3, -2, NODES), "array 'nodes' has numbers in -2..11"),
        ("nodes", np.full(9, LEAF), "array 'thresholds' has"),
        ("nodes", NODES[:-1], "has no end"),
        ("nodes", np.append(NODES, 0), "has no end"),
        ("nodes", np.append(NODES, LEAF), "array 'leaves' has "),
        ("thresholds", np.zeros(INNER - 1), "array 'thresholds' has "),
        ("thresholds", np.full(INNER, np.nan), "array 'thresholds' has a value at .0,. that is"),
        ("leaves", np.ones((2, 4)), "array 'leaves' has the type float64"),
        ("leaves", np.ones((2, 4), np.float32), "array 'leaves' has 2 rows"),
        ("bias", np.zeros(3), "array 'leaves' has 4 columns, the others want 3"),
        ("bias", None, "no array 'bias'"),
        ("W", np.ones((4, 12), np.float32), "unknown array 'W'"),
    ],
)
def test_a_damaged_array_is_one_sentence(name: str, array: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    save_model(random_forest_model(), path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays[name] = array
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(InputError, match=words):
        load_model(path)
