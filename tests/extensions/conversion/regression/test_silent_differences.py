"""Conversions that gave other answers than the source, or unusable models, without a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run, run_json
from extensions.conversion.files import BOOSTERS, changed, stored, table
from extensions.conversion.tflite_factory import FLOAT32, network, tensor
from refusals import refused_by
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from protonn_edge import from_sklearn
from protonn_edge.extensions.conversion.estimators import read_estimator
from protonn_edge.extensions.conversion.trees.libraries import load_booster
from protonn_edge.model.file import load_model

X, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
FLOAT16 = 1


def warnings_of(*arguments: object) -> list[str]:
    notices = run_json("convert", *arguments)["notices"]
    return [each["kind"] for each in notices if each["warning"]]


@pytest.mark.parametrize(
    "trees",
    [
        # It starts at half the logit.
        GradientBoostingClassifier(loss="exponential", n_estimators=9, learning_rate=0.3),
        # Thresholds are points if a feature has more values than bins; float32 moved some.
        HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=6, class_weight="balanced"),
    ],
    ids=["exponential", "histograms"],
)
def test_trees_answer_as_the_estimator(trees: Any):
    generator = np.random.default_rng(0)
    points = generator.normal(size=(600, 3))
    labels = points[:, 0] + 0.8 * generator.normal(size=600) > 1.4
    found = from_sklearn(trees.fit(points, labels), points).source
    assert np.array_equal(found.answers(found.features.taken(points, "X")), trees.predict(points))


def test_a_booster_without_its_last_trees_is_refused(tmp_path: Path):
    text = (BOOSTERS / "iris.txt").read_bytes()
    path = tmp_path / "trees.txt"
    path.write_bytes(text[: text.index(b"\nTree=9\n")])
    with refused_by("extensions.conversion.reading"):
        load_booster(path)
    path.write_bytes(text.replace(b"\n", b"\r\n"))  # as by a checkout on Windows
    there, here = (load_booster(each).rule for each in (path, BOOSTERS / "iris.txt"))
    assert np.array_equal(there.sums(X), here.sums(X))


def test_a_booster_of_several_labels_is_refused(tmp_path: Path):
    path = tmp_path / "trees.json"
    changed("iris.json", lambda it: it["learner_model_param"].update(num_target="3"), path)
    with refused_by("extensions.conversion.trees.libraries"):
        load_booster(path)


def test_names_with_spaces_are_those_of_the_table(tmp_path: Path):
    """LightGBM writes underscores, and no table had these columns."""
    text = (BOOSTERS / "iris.txt").read_text("utf-8")
    path = tmp_path / "trees.txt"
    path.write_text(text.replace("Column_0 Column_1 Column_2", "the_a the_b c"), "utf-8")
    data = table(tmp_path / "data.csv", X, Y, "the a,the b,c,Column_3")
    run_json("convert", path, "--data", data, "-o", tmp_path / "model.npz")
    model = load_model(tmp_path / "model.npz")
    assert model.feature_names == ("the a", "the b", "c", "Column_3")


def test_values_beyond_all_thresholds_are_a_warning(tmp_path: Path):
    """Points that were scaled in training reach the same leaves, perhaps not by chance."""
    data = table(tmp_path / "data.csv", X + 100, Y)
    command = BOOSTERS / "iris.txt", "-o", tmp_path / "model.npz", "--data"
    assert "clamped" in warnings_of(*command, data)
    assert warnings_of(*command, table(data, X, Y)) == []


def test_selected_columns_keep_the_names_of_the_table(tmp_path: Path):
    """They were called x0 and x2, which the table does not have."""
    steps = SimpleImputer(), VarianceThreshold(0.2), StandardScaler(), LogisticRegression()
    path = stored(tmp_path / "model.skops", make_pipeline(*steps).fit(X, Y))
    data = table(tmp_path / "data.csv", X, Y)
    run_json("convert", path, "--data", data, "-o", tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").feature_names == ("a", "c", "d")
    assert run("predict", tmp_path / "model.npz", data).exit_code == 0


def test_steps_that_pass_values_through_have_no_number_of_features():
    steps = [("a", "passthrough"), ("b", LogisticRegression(max_iter=500))]
    assert read_estimator(Pipeline(steps).fit(X, Y)).features.n_features == 4


def one_output(path: Path, W: np.ndarray, bias: float) -> Path:
    """Write a layer with weights in float16, which TensorFlow Lite turns into float32 first."""
    size = W.shape[1]
    tensors = [
        tensor((1, size), kind=FLOAT32),
        tensor((1, 1), kind=FLOAT32),
        tensor(W.shape, kind=FLOAT16, data=W.astype("<f2")),
        tensor(W.shape, kind=FLOAT32),
        tensor((1,), kind=FLOAT16, data=np.array([bias], "<f2")),
        tensor((1,), kind=FLOAT32),
    ]
    dequantize, dense = 6, 9
    steps = [(dequantize, [2], 3, {}), (dequantize, [4], 5, {}), (dense, [0, 3, 5], 1, {})]
    path.write_bytes(network(tensors, steps))
    return path


@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_an_output_that_was_trained_to_be_0_or_1_is_a_warning(limit: float, tmp_path: Path):
    points = RNG.normal(size=(200, 2))
    path = one_output(tmp_path / "network.tflite", np.array([[0.5, -0.25]]), limit)
    data = table(tmp_path / "data.csv", points, (points @ [0.5, -0.25] > 0).astype(int), "a,b")
    found = warnings_of(path, "--data", data, "-o", tmp_path / "model.npz")
    assert found == (["limit_of_classes"] if limit else [])


def test_numbers_in_another_unit_are_a_warning(tmp_path: Path):
    points = RNG.normal(size=(200, 2))
    numbers = points @ [0.5, -0.25]
    path = one_output(tmp_path / "network.tflite", np.array([[0.5, -0.25]]), 0.0)
    for labels, kinds in ((numbers, []), (50 + 9 * numbers, ["chance"])):
        data = table(tmp_path / "data.csv", points, labels, "a,b")
        assert warnings_of(path, "--data", data, "-o", tmp_path / "model.npz") == kinds
