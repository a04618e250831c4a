"""Estimators become models that fit a board, and the report says what is left of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from refusals import refused_by
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.planner import Limits, make_plan
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.protonn.reduction import sizes_to_try
from protonn_edge.extensions.conversion.search import SizeLimit
from protonn_edge.model.file import load_model, model_bytes, save_model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed, InputError

DIGITS = load_digits_dataset()
TEST = (DIGITS.X_test, DIGITS.y_test)
UNO = load_board("uno")


def digits(classifier: BaseEstimator, **settings: Any) -> Any:
    estimator = make_pipeline(MinMaxScaler(), classifier).fit(DIGITS.X_train, DIGITS.y_train)
    chosen = {"epochs": 15, "evaluate_on": TEST} | settings
    return estimator, from_sklearn(estimator, DIGITS.X_train, **chosen)


@pytest.mark.parametrize(
    ("classifier", "names", "agreement"),
    [
        (SVC(C=10), ["estimator", "reduced", "trained", "integers"], 0.96),
        (KNeighborsClassifier(3), ["estimator", "reduced", "trained", "integers"], 0.95),
        (LogisticRegression(max_iter=2000), ["estimator", "exact", "integers"], 0.96),
        (NearestCentroid(), ["estimator", "exact", "integers"], 0.96),
    ],
)
@pytest.mark.filterwarnings("ignore:.*zero standard deviation")  # some pixels are always 0
def test_each_estimator_keeps_its_answers(
    classifier: BaseEstimator, names: list[str], agreement: float
):
    estimator, found = digits(classifier)
    assert [step.name for step in found.steps] == names
    predicted = estimator.predict(DIGITS.X_test)
    assert found.steps[0].agreement == 1.0
    assert found.steps[0].accuracy == np.mean(predicted == DIGITS.y_test)
    assert found.steps[-2].agreement == np.mean(found.model.predict(DIGITS.X_test) == predicted)
    integers = quantize(found.model)
    answers = integers.predict(integers.quantize(DIGITS.X_test))
    assert found.agreement == np.mean(answers == predicted) >= agreement
    assert found.accuracy == np.mean(answers == DIGITS.y_test)
    assert found.lost == found.steps[0].accuracy - found.accuracy <= 0.02
    assert (found.n, found.held_out) == (len(DIGITS.y_test), True)
    assert found.model_bytes == integers.model_bytes
    assert Limits.of(UNO).hold(make_plan(integers, Limits.of(UNO)))
    assert found.model.record["conversion"]["converted_from"] == type(classifier).__name__


def test_linear_functions_without_room_are_reduced():
    _, found = digits(LogisticRegression(max_iter=2000), budget=500)
    assert [step.name for step in found.steps][1] == "reduced"
    assert found.model_bytes <= 500
    assert found.agreement > 0.8


def test_the_same_call_gives_the_same_bytes_and_another_seed_others(tmp_path: Path):
    machine = SVC().fit(DIGITS.X_train, DIGITS.y_train)
    one, same, other = (
        from_sklearn(machine, DIGITS.X_train, epochs=2, random_state=seed) for seed in (1, 1, 2)
    )
    assert model_bytes(one.model) == model_bytes(same.model)
    assert model_bytes(one.model) != model_bytes(other.model)
    save_model(one.model, tmp_path / "model.npz")
    assert model_bytes(load_model(tmp_path / "model.npz")) == model_bytes(one.model)


def test_labels_are_for_the_accuracy_alone():
    machine = SVC().fit(DIGITS.X_train, DIGITS.y_train)
    with_labels = from_sklearn(machine, DIGITS.X_train, DIGITS.y_train, epochs=2)
    without = from_sklearn(machine, DIGITS.X_train, epochs=2)
    assert model_bytes(with_labels.model) == model_bytes(without.model)
    assert not without.held_out
    assert without.accuracy is without.lost is None
    assert with_labels.agreement == without.agreement
    assert with_labels.steps[0].accuracy == machine.score(DIGITS.X_train, DIGITS.y_train)


def test_few_support_vectors_are_the_prototypes_themselves():
    X, y = load_iris(return_X_y=True)
    machine = SVC(C=100).fit(X, y)
    count = len(machine.support_vectors_)
    assert count <= 40
    found = from_sklearn(machine, X, epochs=0)
    model = found.model
    assert (model.head.n_prototypes, found.landmarks) == (count, count)
    projected = model.normalizer.apply(machine.support_vectors_) @ model.head.projection.T
    np.testing.assert_allclose(model.head.prototypes.T, projected, atol=1e-4)
    assert found.agreement > 0.95


def test_sizes_may_be_given():
    _, found = digits(SVC(), n_projections=7, n_prototypes=33, epochs=0)
    assert (found.model.head.n_projections, found.model.head.n_prototypes) == (7, 33)
    _, found = digits(SVC(), n_projections=7, epochs=0)
    assert (found.model.head.n_projections, found.model.head.n_prototypes) == (7, 100)
    _, found = digits(SVC(), n_prototypes=50, budget=1500, epochs=0)
    assert found.model.head.n_prototypes <= 50
    assert found.model_bytes <= 1500


@pytest.mark.parametrize("budget", [300, 1000, 4000])
def test_a_budget_is_kept(budget: int):
    _, found = digits(KNeighborsClassifier(1), budget=budget, epochs=0)
    assert 0.7 * budget < found.model_bytes <= budget


def test_a_small_board_gets_a_smaller_model():
    small = replace(UNO, name="small", flash_bytes=6_000)
    _, found = digits(SVC(), board=small, epochs=0)
    assert found.flash_bytes <= 6_000
    assert found.model_bytes < digits(SVC(), epochs=0)[1].model_bytes


def test_what_cannot_fit_is_said():
    tiny = replace(UNO, name="tiny", flash_bytes=3_000)
    with refused_by("extensions.conversion.protonn.reduction", kind=CheckFailed):
        digits(SVC(), board=tiny)
    with refused_by("extensions.conversion.protonn.reduction", kind=CheckFailed):
        digits(SVC(), budget=20)
    with refused_by("extensions.conversion.search", kind=CheckFailed):
        digits(SVC(), board=tiny, n_projections=8, n_prototypes=80)
    with refused_by("extensions.conversion.search", kind=CheckFailed):
        digits(SVC(), budget=100, n_projections=8, n_prototypes=80)


def heavy_tailed(power: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).standard_cauchy((300, 5))
    return np.sign(X) * np.abs(X) ** power, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)


def test_outliers_widen_the_rbf():
    X, y = heavy_tailed(1)
    found = from_sklearn(KNeighborsClassifier(3).fit(X, y), X, epochs=0)
    assert found.agreement > 0.5
    X, y = heavy_tailed(3)
    with pytest.raises(
        InputError, match="the outliers and the others; .* fit the KNeighborsClassifier again"
    ):
        from_sklearn(KNeighborsClassifier(3).fit(X, y), X, epochs=0)


def test_labels_of_any_type_are_names():
    names = np.array(["set<b>", 'says "hi"', "käse"])
    X, y = load_iris(return_X_y=True)
    machine = LogisticRegression(max_iter=1000).fit(X, names[y])
    found = from_sklearn(machine, X, names[y])
    assert found.model.classes == tuple(sorted(names))
    assert found.accuracy > 0.9
    renamed = from_sklearn(machine, X, names[y], classes=["a", "b", "c"])
    assert renamed.model.classes == ("a", "b", "c")
    assert renamed.accuracy == found.accuracy


X_IRIS, Y_IRIS = load_iris(return_X_y=True)
MACHINE = SVC().fit(X_IRIS, Y_IRIS)


@pytest.mark.parametrize("names", [["a", "b\nc", "c"], ["x" * 101, "b", "c"], ["", "b", "c"]])
def test_names_that_cannot_be_shown_are_refused(names: list[str]):
    machine = SVC().fit(X_IRIS, np.array(names)[Y_IRIS])
    with pytest.raises(InputError, match="must have 1 to 100 printable") as caught:
        from_sklearn(machine, X_IRIS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"X": np.full((3, 4), np.nan)},
        {"X": np.ones(4)},
        {"X": np.ones((0, 4))},
        {"X": [["a", "b", "c", "d"]]},
        {"X": np.ones((5, 4))},
        {"X": X_IRIS[:20]},
        {"y": Y_IRIS[:-1]},
        {"y": np.stack([Y_IRIS, Y_IRIS], 1)},
        {"y": Y_IRIS + 1},
        {"evaluate_on": (X_IRIS[:, :2], Y_IRIS)},
        {"classes": ["a", "b"]},
        {"classes": ["a", "b", "b"]},
        {"budget": 0},
        {"epochs": -1},
        {"n_prototypes": 0},
        {"board": "duo"},
    ],
)
def test_bad_arguments_are_one_sentence(arguments: dict[str, Any]):
    with pytest.raises(InputError) as caught:
        from_sklearn(MACHINE, **({"X": X_IRIS, "epochs": 1} | arguments))
    assert "\n" not in str(caught.value)


def test_more_classes_than_a_device_counts_are_refused():
    X = np.arange(600.0)[:, None]
    machine = NearestCentroid().fit(X, np.arange(600) // 2)
    with refused_by("model.integer_stage"):
        from_sklearn(machine, X)


@needs_emulated_avr
def test_a_conversion_is_measured_exported_and_saved_as_an_estimator_is(tmp_path: Path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    machine = make_pipeline(SelectKBest(k=3), StandardScaler(), LogisticRegression()).fit(X, names)
    converted = from_sklearn(machine, X, classes=np.array(["a", "b", "c"]))
    measured = converted.measure(X[:30], names[:30])  # of all columns, with the fitted labels
    assert measured.summary.n == 30
    assert measured.summary.accuracy == machine.score(X[:30], names[:30])
    converted.save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").classes == ("a", "b", "c")
    converted.export(tmp_path / "library")
    assert (tmp_path / "library" / "src").is_dir()
    with pytest.raises(
        InputError, match="row 0: the label is 'a', but the LogisticRegression has only"
    ):
        converted.measure(X[:30], ["a"] * 30)


def test_sizes_shrink_until_nothing_is_left():
    limit = SizeLimit(UNO)
    sizes = list(
        sizes_to_try(limit, n_features=64, n_classes=10, n_points=900, most_projections=64)
    )
    taken = [each.device_bytes(64, 10) for each in sizes]
    assert sizes[0].n_prototypes == 100
    assert taken == sorted(taken, reverse=True)
    assert taken[-1] < 250
    many = sizes_to_try(limit, n_features=64, n_classes=200, n_points=9000, most_projections=64)
    assert all(each.device_bytes(64, 200) <= UNO.flash_bytes for each in many)
