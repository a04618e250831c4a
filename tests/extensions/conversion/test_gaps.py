"""Trees that were trained with missing values are refused, and agreement is with gaps as they are.

`TestWithTheLibraries` compares with the libraries' own answers, if they are installed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import refusal, run, run_json
from extensions.conversion.files import BOOSTERS, changed, stored, table
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.estimators import read_estimator
from protonn_edge.extensions.conversion.trees.libraries import load_booster
from protonn_edge.model.file import load_model
from protonn_edge.system.errors import InputError

X, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
GAPS = RNG.random(X.shape) < 0.25
GAPS[Y == 1, 3] |= RNG.random(50) < 0.9
WITH_GAPS = np.where(GAPS, np.nan, X)

TREES = [
    DecisionTreeClassifier(max_depth=4, random_state=0),
    DecisionTreeClassifier(splitter="random", random_state=0),
    RandomForestClassifier(4, random_state=0),
    ExtraTreesClassifier(4, random_state=0),
    ExtraTreesClassifier(4, bootstrap=True, random_state=0),
    HistGradientBoostingClassifier(max_iter=4, random_state=0),
]
BEFORE = [None, StandardScaler()]  # a scaler leaves gaps as they are


@pytest.mark.parametrize("scaler", BEFORE, ids=str)
@pytest.mark.parametrize("trees", TREES, ids=str)
def test_trees_trained_with_gaps_are_refused_by_name(trees: Any, scaler: Any):
    estimator = trees if scaler is None else make_pipeline(scaler, trees)
    estimator.fit(WITH_GAPS, Y)
    with pytest.raises(InputError, match="splits with learned sides for missing values") as e:
        from_sklearn(estimator, X, Y)
    assert str(e.value).startswith(f"{type(trees).__name__}: ")
    assert "train again" in str(e.value)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scaler", BEFORE, ids=str)
@pytest.mark.parametrize("trees", TREES, ids=str)
def test_trees_trained_without_gaps_answer_to_gaps_as_the_estimator(
    trees: Any, scaler: Any, weighted: bool
):
    """They send gaps to the side of most training points, weighted or not."""
    weights = RNG.random(len(X)) if weighted else None
    estimator = trees
    if scaler is None:
        trees.fit(X, Y, sample_weight=weights)
    else:
        estimator = make_pipeline(scaler, trees)
        estimator.fit(X, Y, **{f"{type(trees).__name__.lower()}__sample_weight": weights})
    fitted = read_estimator(estimator).filling([0.0] * 4)
    answers = fitted.answers_with_gaps(WITH_GAPS, "X")
    assert answers is not None
    same = fitted.labels[answers] == estimator.predict(WITH_GAPS)
    assert same.mean() >= 0.99  # a tie of votes may be rounded
    assert fitted.answers_with_gaps(X, "X") is None  # no gaps


def test_agreement_is_with_the_estimator_that_keeps_its_gaps(tmp_path: Path):
    forest = RandomForestClassifier(4, random_state=0).fit(X, Y)
    source = stored(tmp_path / "forest.skops", forest)
    for part, some in (("train", slice(0, None, 2)), ("test", slice(1, None, 2))):
        (tmp_path / "data").mkdir(exist_ok=True)
        table(tmp_path / "data" / f"{part}.txt", WITH_GAPS[some], Y[some])
    found = run_json(
        *("convert", source, "--data", tmp_path / "data", "--missing", "median"),
        *("-o", tmp_path / "m.npz"),
    )
    given, y = WITH_GAPS[1::2], Y[1::2]
    own = forest.predict(given)
    medians = np.nanmedian(WITH_GAPS[::2].astype(np.float32), axis=0)
    filled = forest.predict(np.where(np.isnan(given), medians, given))
    steps = {step["name"]: step for step in found["steps"]}
    assert [*steps] == ["estimator", "filled", "exact", "integers"]
    assert steps["estimator"]["agreement"] == 1.0
    assert steps["estimator"]["accuracy"] == pytest.approx(np.mean(own == y), abs=0.03)
    assert steps["filled"]["accuracy"] == pytest.approx(np.mean(filled == y), abs=0.03)
    assert steps["filled"]["agreement"] == pytest.approx(np.mean(filled == own), abs=0.03)
    assert steps["filled"]["agreement"] < 0.95
    model = load_model(tmp_path / "m.npz")
    answers = model.predict(np.where(np.isnan(given), medians, given).astype(np.float32))
    assert steps["exact"]["agreement"] == pytest.approx(np.mean(answers == own), abs=0.03)
    assert "% of the points differently if their missing values are filled" in found["warning"]
    assert model.record["table"]["missing"] == "median"


def test_the_advice_on_gaps_fits_an_estimator_that_accepts_them(tmp_path: Path):
    data = table(tmp_path / "data.csv", WITH_GAPS, Y)
    without = stored(tmp_path / "trees.skops", RandomForestClassifier(3, random_state=0).fit(X, Y))
    sentence = refusal(run("convert", without, "--data", data, "-o", tmp_path / "m.npz"))
    assert "trees.skops has answers that the device cannot give" in sentence
    assert "--missing drop or, if the trees were trained on filled gaps" in sentence
    knows = RandomForestClassifier(3, random_state=0).fit(WITH_GAPS, Y)
    source = stored(tmp_path / "knows.skops", knows)
    for options in ((), ("--missing", "median"), ("--missing", "drop")):
        sentence = refusal(
            run("convert", source, "--data", data, "-o", tmp_path / "m.npz", *options)
        )
        assert "RandomForestClassifier: " in sentence
        assert "learned sides for missing values" in sentence
    assert not (tmp_path / "m.npz").exists()


def test_rows_without_gaps_need_no_warning(tmp_path: Path):
    data = table(tmp_path / "data.csv", WITH_GAPS, Y)
    source = stored(tmp_path / "trees.skops", RandomForestClassifier(3, random_state=0).fit(X, Y))
    given = ("convert", source, "--data", data, "-o", tmp_path / "m.npz", "--missing", "drop")
    found = run_json(*given)
    assert [step["name"] for step in found["steps"]] == ["estimator", "exact", "integers"]
    assert found["warning"] is None


def with_sides(path: Path, *sides: int, of_leaves: int = 0) -> Path:
    """Write a file of XGBoost with sides for missing values, the last one for all later splits."""
    coming = list(reversed(sides))

    def change(learner: Any) -> None:
        for tree in learner["gradient_booster"]["model"]["trees"]:
            tree["default_left"] = [
                of_leaves if child == -1 else coming.pop() if len(coming) > 1 else coming[0]
                for child in tree["left_children"]
            ]

    return changed("iris.json", change, path)


@pytest.mark.parametrize("side", [0, 1])
def test_splits_of_xgboost_have_one_side_without_missing_values(side: int, tmp_path: Path):
    """It is 0 or, by the exact search, 1; leaves do not count."""
    rule = load_booster(with_sides(tmp_path / "same.json", side, of_leaves=1 - side)).rule
    assert rule.learned == 0
    assert (rule.gaps[rule.grown.shape.inner] == side).all()
    other = with_sides(tmp_path / "other.json", 1 - side, side)
    with pytest.raises(InputError, match="other.json: 1 of .* learned sides for missing values"):
        load_booster(other)


def test_a_rounding_error_of_many_sums_is_only_a_warning(tmp_path: Path):
    def change(learner: Any) -> None:
        model = learner["gradient_booster"]["model"]
        model["trees"], model["tree_info"] = model["trees"] * 30, model["tree_info"] * 30
        model["trees"][0] = json.loads(json.dumps(model["trees"][0]))
        model["trees"][0]["default_left"][0] = 1

    changed("iris.json", change, tmp_path / "many.json")
    found = from_sklearn(
        load_booster(tmp_path / "many.json"), X.astype(np.float32), board="mega2560"
    )
    assert found.warning is not None
    assert found.warning.startswith("1 of ")
    assert "if there were missing values in training" in found.warning


def test_sides_of_lightgbm(tmp_path: Path):
    """The missing type is None (0), Zero (4) or NaN (8); with None, a gap counts as 0."""
    text = (BOOSTERS / "iris.txt").read_text("utf-8")
    learned = tmp_path / "nan.txt"
    learned.write_text(text.replace("decision_type=2", "decision_type=10", 1), "utf-8")
    with pytest.raises(InputError, match="nan.txt: 1 of . splits with learned sides"):
        load_booster(learned)
    stored = load_booster(BOOSTERS / "iris.txt")
    fitted = read_estimator(stored).filling([9.0] * 4)
    given = np.where(GAPS, np.nan, X).astype(np.float32)
    zeros = np.where(GAPS, 0, X).astype(np.float32)
    answers = fitted.answers_with_gaps(given, "X")
    assert answers is not None
    assert np.array_equal(answers, fitted.rule.answers(zeros.astype(np.float64)))


class TestWithTheLibraries:
    """To run them: pip install xgboost lightgbm."""

    @pytest.fixture(params=["NaN", "-999", "0"])
    def missing(self, request: pytest.FixtureRequest) -> float:
        return float(request.param)

    def test_xgboost(self, missing: float):
        xgboost = pytest.importorskip("xgboost", reason="pip install xgboost")
        given = np.where(GAPS, missing, X)
        trees = xgboost.XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1, missing=missing)
        trees.fit(given, Y)
        for estimator in (trees, trees.get_booster()):
            with pytest.raises(InputError, match="missing values"):
                from_sklearn(estimator, X)

    @pytest.mark.parametrize("method", ["hist", "exact", "approx"])
    def test_xgboost_without_missing_values(self, method: str):
        xgboost = pytest.importorskip("xgboost", reason="pip install xgboost")
        trees = xgboost.XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1, tree_method=method)
        trees.fit(X, Y)
        fitted = read_estimator(trees).filling([1.0] * 4)
        answers = fitted.answers_with_gaps(WITH_GAPS, "X")
        assert np.array_equal(answers, trees.predict(WITH_GAPS))

    def test_lightgbm(self):
        lightgbm = pytest.importorskip("lightgbm", reason="pip install lightgbm")
        settings = {"n_estimators": 6, "num_leaves": 6, "verbose": -1, "n_jobs": 1}
        trees = lightgbm.LGBMClassifier(**settings).fit(WITH_GAPS, Y)
        with pytest.raises(InputError, match="learned sides for missing values"):
            from_sklearn(trees, X)
        for use_missing, given in ((True, X), (False, WITH_GAPS)):
            trees = lightgbm.LGBMClassifier(use_missing=use_missing, **settings).fit(given, Y)
            fitted = read_estimator(trees).filling([1.0] * 4)
            answers = fitted.answers_with_gaps(WITH_GAPS, "X")
            assert np.array_equal(answers, trees.predict(WITH_GAPS))
