"""Trees fitted by scikit-learn become forests that go the same ways."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refused_by
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.reading import load_estimator
from protonn_edge.system.errors import CheckFailed

X, Y = load_iris(return_X_y=True)
DIGITS = load_digits_dataset()  # of features that are small whole numbers
PAIR = Y > 0

SOME = [
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(10, random_state=0),
    ExtraTreesClassifier(10, random_state=0),
    RandomForestClassifier(5, min_samples_leaf=8, random_state=0),
    GradientBoostingClassifier(n_estimators=5, random_state=0),
    GradientBoostingClassifier(n_estimators=5, init="zero", random_state=0),
    make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)),
]


@pytest.mark.parametrize("labels", [Y, PAIR], ids=["three", "two"])
@pytest.mark.parametrize("estimator", SOME, ids=str)
def test_models_answer_as_the_estimator(estimator: Any, labels: np.ndarray):
    found = from_sklearn(estimator.fit(X, labels), X, labels)
    assert [step.name for step in found.steps] == ["estimator", "exact", "integers"]
    assert found.steps[0].accuracy == pytest.approx(estimator.score(X, labels), abs=0.01)
    assert found.steps[1].agreement == pytest.approx(1.0, abs=0.01)
    assert found.agreement >= 0.98


@pytest.mark.parametrize("estimator", SOME[:2], ids=str)
def test_integers_of_whole_trees_of_whole_numbers_are_the_estimator(estimator: Any):
    estimator.fit(DIGITS.X_train, DIGITS.y_train)
    found = from_sklearn(estimator, DIGITS.X_train, evaluate_on=(DIGITS.X_test, DIGITS.y_test))
    assert found.agreement == 1.0
    assert found.accuracy == estimator.score(DIGITS.X_test, DIGITS.y_test)


def test_trees_that_do_not_fit_are_pruned():
    estimator = RandomForestClassifier(20, random_state=0).fit(DIGITS.X_train, DIGITS.y_train)
    found = from_sklearn(estimator, DIGITS.X_train, budget=2_000)
    assert found.steps[1].name == "pruned"
    assert 1_500 < found.model_bytes <= 2_000
    assert found.agreement > 0.85
    with pytest.raises(
        CheckFailed, match="no subset of the RandomForestClassifier's trees is small enough"
    ):
        from_sklearn(estimator, DIGITS.X_train, budget=20)


def damaged(**changes: Any) -> DecisionTreeClassifier:
    """Return a tree whose nodes were changed by hand."""
    estimator = DecisionTreeClassifier(random_state=0, max_leaf_nodes=3).fit(X, Y)
    state = estimator.tree_.__getstate__()
    for field, value in changes.items():
        if field in state:
            state[field] = value
        else:
            values = np.atleast_1d(value)
            state["nodes"][field][: len(values)] = values
    estimator.tree_.__setstate__(state)
    return estimator


@pytest.mark.parametrize(
    "changes",
    [
        {"left_child": 0},
        {"right_child": 10**9},
        {"left_child": [3, 1, -1, -1, -1], "right_child": [4, 2, -1, -1, -1]},
        {"feature": 4},
        {"feature": -2},
        {"threshold": np.nan},
        {"impurity": np.inf},
        {"node_count": 10**6},
    ],
)
def test_damaged_trees_are_refused_before_they_are_walked(changes: Any):
    with refused_by("extensions.conversion.trees.trees"):
        from_sklearn(damaged(**changes), X)


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(PCA(2), DecisionTreeClassifier()),
        GradientBoostingClassifier(n_estimators=2, init=DecisionTreeClassifier()),
    ],
)
def test_what_is_no_forest_is_refused(estimator: Any):
    with refused_by("extensions.conversion.trees.trees"):
        from_sklearn(estimator.fit(X, Y), X)


@pytest.mark.parametrize("second", [Y, Y > 0])  # as many classes, and fewer
def test_several_outputs_are_refused(second: np.ndarray):
    estimator = DecisionTreeClassifier().fit(X, np.stack([Y, second], axis=1))
    with refused_by("extensions.conversion.reading"):
        from_sklearn(estimator, X)


def dump(estimator: Any, path: Path) -> None:
    from skops import io  # it imports all of scikit-learn

    io.dump(estimator, path)


def test_files_with_trees_of_several_outputs_are_not_loaded(tmp_path: Path):
    path = tmp_path / "trees.skops"
    dump(SOME[0].fit(X, Y), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members["schema.json"])
    tree = schema["content"]["content"]["tree_"]
    tree["__reduce__"]["args"]["content"][2]["content"] = "9000000"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, json.dumps(schema) if name == "schema.json" else content)
    with refused_by("extensions.conversion.reading"):
        load_estimator(path)
