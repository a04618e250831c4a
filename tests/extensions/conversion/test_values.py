"""Regressors of other programs become models whose integers are near their predictions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from byte_programs import answered_by, host_program
from command_line import run, run_json
from extensions.conversion import tflite_factory
from extensions.conversion.files import BOOSTERS, changed, stored
from policy.value.numbers import points, write_table
from refusals import refused_by, refuses
from sklearn import ensemble, linear_model
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, LinearSVR
from sklearn.tree import DecisionTreeRegressor

from protonn_edge import from_network, from_sklearn
from protonn_edge.extensions.conversion.kept import Conversion
from protonn_edge.extensions.conversion.trees.libraries import load_booster
from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.value.rule import Value

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MAIN = Path(__file__).parents[2] / "policy" / "value" / "value_main.c"
X, Y = points()
NEW, OF_NEW = points(seed=1)
EXACT = 0.99999  # the agreement in floats

LINEAR = [
    linear_model.LinearRegression(),
    linear_model.Ridge(2.0),
    linear_model.Lasso(0.01),
    linear_model.ElasticNet(0.01),
    linear_model.HuberRegressor(),
    linear_model.SGDRegressor(random_state=0),
    LinearSVR(random_state=0),
    SVR(kernel="linear"),
]
NETWORKS = [
    MLPRegressor(hidden_layer_sizes=units, max_iter=200, random_state=0, learning_rate_init=0.01)
    for units in ((), (12,), (12, 6))
]
TREES = [
    DecisionTreeRegressor(max_leaf_nodes=40, random_state=0),
    ensemble.RandomForestRegressor(8, max_leaf_nodes=40, random_state=0),
    ensemble.ExtraTreesRegressor(8, max_leaf_nodes=40, random_state=0),
    ensemble.GradientBoostingRegressor(n_estimators=20, random_state=0),
    ensemble.GradientBoostingRegressor(n_estimators=20, init="zero", loss="huber", random_state=0),
    ensemble.HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=8, random_state=0),
]


def converted(estimator: Any, **settings: Any) -> Conversion:
    """Return a fitted estimator as a model."""
    return from_sklearn(estimator.fit(X, Y), X, Y, evaluate_on=(NEW, OF_NEW), **settings)


@pytest.mark.parametrize("estimator", [*LINEAR, *NETWORKS, *TREES], ids=str)
def test_integers_predict_almost_as_well_as_the_estimator(estimator: Any) -> None:
    found = converted(estimator)
    np.testing.assert_allclose(found.source.answers(NEW), estimator.predict(NEW), rtol=1e-4)
    np.testing.assert_allclose(found.model.predict(NEW), estimator.predict(NEW), rtol=1e-3)
    assert found.steps[1].agreement > EXACT
    assert found.agreement > 0.99
    assert found.lost is not None
    assert found.lost <= 0.005
    assert found.steps[0].accuracy == pytest.approx(estimator.score(NEW, OF_NEW), abs=1e-4)


@pytest.mark.parametrize("before", [StandardScaler(), StandardScaler(with_mean=False)], ids=str)
@pytest.mark.parametrize("estimator", [LINEAR[1], NETWORKS[1], TREES[1]], ids=str)
def test_scalers_are_folded_in(before: Any, estimator: Any) -> None:
    pipeline = make_pipeline(before, estimator)
    found = converted(pipeline)
    np.testing.assert_allclose(found.model.predict(NEW), pipeline.predict(NEW), rtol=1e-3)
    assert found.agreement > 0.995


@pytest.mark.parametrize("estimator", [LINEAR[0], NETWORKS[1], TREES[1], TREES[3]], ids=str)
def test_host_c_gives_the_value_of_numpy(tmp_path: Path, estimator: Any) -> None:
    chain = quantize(converted(estimator).model)
    Q = chain.quantize(NEW)
    units = chain.policy.values(chain.scores(Q)) * 10 ** chain.policy.rules[0].decimals
    assert (
        answered_by(host_program(chain, MAIN, tmp_path), Q.tobytes())
        == np.rint(units).astype("<i4").tobytes()
    )


def test_the_interval_comes_from_points_that_are_held_out() -> None:
    found = converted(LINEAR[0]).model.policy.find(Value)
    assert found is not None
    assert found.half_width is not None
    inside = np.abs(LINEAR[0].predict(NEW) - OF_NEW) <= found.half_width
    assert 0.88 < inside.mean() < 0.93
    of_itself = from_sklearn(LINEAR[0], X, Y).model.policy.find(Value)
    assert of_itself is not None
    assert of_itself.half_width is None


def test_trees_that_do_not_fit_are_pruned() -> None:
    forest = ensemble.RandomForestRegressor(20, random_state=0)
    found = converted(forest, budget=3_000)
    assert found.model_bytes <= 3_000
    assert found.steps[1].name == "pruned"
    assert found.accuracy is not None
    assert found.accuracy > 0.85


def booster(objective: str, folder: Path) -> Any:
    """Return boosted trees of two classes, with another objective of XGBoost or LightGBM."""
    if ":" in objective.split(maxsplit=1)[0]:  # such as reg:squarederror
        path = folder / "b.json"
        changed("cancer.json", lambda it: it["objective"].update(name=objective), path)
        return load_booster(path)
    text = (BOOSTERS / "cancer.txt").read_text()
    (folder / "b.txt").write_text(re.sub("(?m)^objective=.*$", f"objective={objective}", text))
    return load_booster(folder / "b.txt")


@pytest.mark.parametrize(
    ("objective", "of_classes"),
    [("reg:squarederror", "binary:logistic"), ("regression", "binary sigmoid:1")],
)
def test_boosted_trees_of_a_number_are_their_sums(
    objective: str, of_classes: str, tmp_path: Path
) -> None:
    rule, classes = (booster(each, tmp_path).rule for each in (objective, of_classes))
    Z = np.random.default_rng(0).normal(size=(50, 30)) * 20 + 20
    logits = np.diff(classes.sums(Z))[:, 0]
    assert np.ptp(rule.answers(Z) - logits) < 1e-9  # the initial score may differ
    assert np.ptp(logits) > 0


@pytest.mark.parametrize("objective", ["count:poisson", "regression sqrt"])
def test_other_objectives_are_refused(objective: str, tmp_path: Path) -> None:
    with refused_by("extensions.conversion.trees.libraries"):
        booster(objective, tmp_path)


def one_output(end: str = "") -> bytes:
    """Return a network in ONNX with one output."""
    from extensions.conversion import onnx_factory as factory  # skips where onnx is missing

    (W, V), (b, c) = NETWORKS[1].fit(X, Y).coefs_, NETWORKS[1].intercepts_
    chain = "MatMul x W > a; Add a b > s; Relu s > r; MatMul r V > t; Add t c > u"
    weights = {"W": W, "b": b, "V": V, "c": c}
    constants = {name: np.float32(array) for name, array in weights.items()}
    nodes = factory.written(f"{chain}; {end} u > y" if end else chain)
    made: bytes = factory.network(nodes, (5,), "y" if end else "u", **constants)
    return made


def test_a_network_of_onnx_with_one_output_predicts_a_number() -> None:
    found = from_network(one_output(), X, Y, evaluate_on=(NEW, OF_NEW), target="value")
    np.testing.assert_allclose(found.model.predict(NEW), NETWORKS[1].predict(NEW), rtol=1e-3)
    assert found.lost is not None
    assert found.lost <= 0.005


def test_an_output_behind_a_sigmoid_is_no_number() -> None:
    with refused_by("extensions.conversion.search"):
        from_network(one_output("Sigmoid"), X, Y, target="value")


def test_convolutions_are_trained_to_predict_a_number() -> None:
    from extensions.conversion import onnx_factory as factory  # skips where onnx is missing

    rng = np.random.default_rng(0)
    W, V = rng.normal(size=(4, 1, 3, 3)), rng.normal(size=(1, 64)) / 8
    nodes = factory.written("Conv x W b > a; Relu a > r; Flatten r > f; Gemm f V c > y : transB=1")
    weights = {"W": W, "b": rng.normal(size=4), "V": V, "c": np.array([400.0])}
    constants = {name: np.float32(array) for name, array in weights.items()}
    images = rng.uniform(0, 1, (200, 1, 6, 6)).astype(np.float32)
    found = from_network(factory.network(nodes, (1, 6, 6), **constants), images, target="value")
    assert [step.name for step in found.steps] == ["estimator", "rounded", "trained", "integers"]
    assert found.agreement > 0.99


def test_an_int8_network_with_one_output_counts_its_steps() -> None:
    rng = np.random.default_rng(0)
    W = rng.integers(-127, 128, (1, 8)).astype(np.int8)
    bias, step = np.array([900], "<i4"), 0.25
    content = tflite_factory.network(
        [
            tflite_factory.tensor((1, 8), 0.01, -128),
            tflite_factory.tensor((1, 1), step, 20),
            tflite_factory.tensor((1, 8), 0.05, 0, data=W),
            tflite_factory.tensor((1,), 0.0005, 0, tflite_factory.INT32, data=bias),
        ],
        [(9, [0, 2, 3], 1, {})],  # FULLY_CONNECTED
    )
    points = (rng.integers(0, 256, (300, 8)) * 0.01).astype(np.float32)
    found = from_network(content, points, target="value")
    exact = np.clip(points @ (0.05 * W[0]) + 0.0005 * bias, -148 * step, 107 * step)
    assert np.abs(found.source.answers(points) - exact).max() <= step / 2 + 1e-4
    chain = quantize(found.model)
    values = chain.policy.values(chain.scores(chain.quantize(points)))
    np.testing.assert_allclose(values, found.source.answers(points), atol=0.01)
    assert found.agreement > 0.9999


@pytest.mark.parametrize("y", [np.append(Y[1:], np.nan), Y.astype(str)[:, None], Y[1:]])
def test_labels_that_are_no_numbers_are_refused(y: np.ndarray) -> None:
    with refused_by("extensions.conversion.answered", "system.checks"):
        from_sklearn(LINEAR[0].fit(X, Y), X, y)


def test_an_estimator_of_one_number_has_nothing_to_convert() -> None:
    with refused_by("extensions.conversion.answered"):
        from_sklearn(DecisionTreeRegressor().fit(X, np.full_like(Y, 3.0)), X)


def test_the_command_converts_a_file(tmp_path: Path) -> None:
    table, model = write_table(tmp_path / "data.csv"), tmp_path / "model.npz"
    stored(tmp_path / "tree.skops", TREES[0].fit(X, Y))
    read = ["--label", "temperature"]
    command = ["convert", tmp_path / "tree.skops", "--data", table, "-o", model, *read]
    assert run_json(*command)["lost"] <= 0.005
    assert load_model(model).classes == ("temperature",)
    stored(tmp_path / "classes.skops", linear_model.LogisticRegression().fit(X, Y > 20))
    command[1] = tmp_path / "classes.skops"
    refuses(run(*command), "extensions.conversion.search")
    command[1] = tmp_path / "tree.skops"
    refuses(run(*command, "--classes", "a,b"), "extensions.conversion.commands.converting")
