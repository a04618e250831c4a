"""Classifiers of XGBoost, LightGBM and histogram boosting become forests that go the same ways.

The files in `tests/data/boosters` come from `make.py` there.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extensions.conversion.files import BOOSTERS, changed, one_split, refused
from refusals import refused_by
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.extensions.conversion.affine import AffineMap
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.estimators import read_estimator
from protonn_edge.extensions.conversion.trees import ubjson
from protonn_edge.extensions.conversion.trees.boosters import StoredTree, boosted_rule
from protonn_edge.extensions.conversion.trees.libraries import load_booster
from protonn_edge.extensions.conversion.trees.trees import forest_model
from protonn_edge.kinds.forest.table import sum_of_leaves
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

ANSWERS = json.loads((BOOSTERS / "answers.json").read_text("utf-8"))
FILES = sorted(set(ANSWERS) - {"versions"})
DIGITS = load_digits_dataset()  # of features that are small whole numbers


def points(name: str) -> np.ndarray:
    X = (load_breast_cancer if "cancer" in name else load_iris)(return_X_y=True)[0]
    return X.astype(np.float32)


def scores(rule: Any, X: np.ndarray) -> np.ndarray:
    grown, inner = rule.grown, rule.grown.shape.inner
    ends = grown.shape.leaves_of(X, grown.thresholds[inner])
    return sum_of_leaves(ends, grown.values[~inner], grown.bias)


@pytest.mark.parametrize("name", FILES)
def test_a_file_answers_as_its_library(name: str):
    X, expected = points(name), ANSWERS[name]
    found = from_sklearn(load_booster(BOOSTERS / name), X)
    assert [step.name for step in found.steps] == ["estimator", "exact", "integers"]
    answers = found.source.answers(X)
    assert "".join(map(str, answers.tolist())) == expected["answers"]
    wanted = np.array(expected["scores"])
    margins = scores(found.source.rule, X[: len(wanted)])
    if wanted.ndim == 1:  # of the second class
        margins = margins[:, 1]
    assert margins == pytest.approx(wanted, abs=1e-5)
    assert [step.agreement >= 0.99 for step in found.steps[1:]] == [True, True]


def test_points_with_gaps_are_refused():
    """Bytes have no value for them."""
    X, y = load_iris(return_X_y=True)
    trees = HistGradientBoostingClassifier(max_iter=3, random_state=0).fit(X, y)
    X[9, 3] = np.nan
    with refused_by("learn.points"):
        from_sklearn(trees, X)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("threshold", [3.0, 3.4])
def test_less_of_whole_numbers_is_exact(threshold: float, scaled: bool, tmp_path: Path):
    """XGBoost sends values below a threshold to the left, a threshold itself to the right."""
    path = one_split(tmp_path / "one.json", threshold)
    X = np.arange(7, dtype=np.float32)[:, None]
    booster: Any = load_booster(path)
    if scaled:
        scaler = StandardScaler().fit(X)
        at = np.float32(scaler.transform([[threshold]])[0, 0])
        booster = make_pipeline(scaler, load_booster(one_split(path, float(at))))
    found = from_sklearn(booster, X)
    integers = found.model.predict(X)
    assert integers.tolist() == [int(not x < threshold) for x in range(7)]
    assert found.steps[-1].agreement == 1.0


@pytest.mark.parametrize("name", FILES)
def test_trees_are_stored_once_in_the_order_of_their_classes(name: str):
    X = points(name)
    found = from_sklearn(load_booster(BOOSTERS / name), X)
    grown, table = found.source.rule.grown, quantize(found.model).stages[0].table
    assert len(table.trees.roots) == len(grown.shape.roots)
    assert table.classes is not None
    assert np.abs(table.values).max() > 1_000
    assert np.bincount(table.classes).max() == len(grown.shape.roots) // grown.boosted


def test_trees_without_a_question_are_refused(tmp_path: Path):
    def cut(learner: Any) -> None:
        for each in learner["gradient_booster"]["model"]["trees"]:
            each["left_children"][0] = -1

    path = changed("iris.json", cut, tmp_path / "leaves.json")
    with refused_by("extensions.conversion.trees.trees"):
        from_sklearn(load_booster(path), points("iris"))


def answers_of_a_chain(limits: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers of a chain of tests, from the left to the right, and of its integers."""
    n = len(limits)
    chain = StoredTree(
        leaf=np.arange(2 * n + 1) >= n,
        left=np.arange(2 * n + 1) + n,
        right=np.append(np.arange(1, n), np.full(n + 2, 2 * n)),
        features=np.zeros(2 * n + 1, np.int64),
        thresholds=np.append(np.float32(limits), np.zeros(n + 1)),
        gaps=np.zeros(2 * n + 1, np.bool_),
        values=(-1.0) ** np.arange(2 * n + 1),
    )
    rule = boosted_rule([chain], np.array([1]), np.zeros(2), k=1, together=1)
    names = {"classes": ("a", "b"), "feature_names": ()}
    integers = quantize(forest_model(rule, AffineMap.identity(1), X, names))
    return rule.answers(X), integers.predict(integers.quantize(X))


@pytest.mark.parametrize("limits", [[-1.0], [-1.0, 0.25], [-1.0, 0.1, 0.25, 0.5]], ids=len)
def test_points_at_a_threshold_go_left(limits: list[float]):
    """A threshold of histogram boosting may be the value of most points."""
    rng = np.random.default_rng(0)
    X = np.concatenate([np.full(500, -1.0), limits, rng.uniform(-0.9, 1, 200)])
    floats, integers = answers_of_a_chain(limits, X.astype(np.float32)[:, None])
    assert np.array_equal(floats, integers)


def test_a_feature_without_other_values_keeps_its_range():
    floats, integers = answers_of_a_chain([0.7], np.full((20, 1), 0.5, np.float32))
    assert not floats.any()
    assert not integers.any()


def test_bytes_are_where_points_are():
    """Steps of one length between the first and the last threshold are too long for most points."""
    rng = np.random.default_rng(0)
    X = np.exp(2 * rng.normal(size=(4_000, 2))).astype(np.float32)
    y = (np.log(X[:, 0]) > np.log(X[:, 1])).astype(int)
    trees = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    fitted = read_estimator(trees, 2)
    names = {"classes": ("a", "b"), "feature_names": ()}
    displaced = []
    for fine in (False, True):
        rule = replace(fitted.rule, fine=fine)
        model = forest_model(rule, fitted.features, X, names)
        wanted = model.head.trees.leaves_of(X, model.head.thresholds)
        integers = quantize(model)
        stage = integers.stages[0]
        found = stage.trees.leaves_of(integers.quantize(X), stage.thresholds)
        displaced.append(np.mean(found != wanted))
    assert displaced[1] < 0.7 * displaced[0]


WHOLE = HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=8, random_state=0)


def test_histograms_of_whole_numbers_are_the_estimator():
    trees = WHOLE.fit(DIGITS.X_train, DIGITS.y_train)
    test = (DIGITS.X_test, DIGITS.y_test)
    found = from_sklearn(trees, DIGITS.X_train, evaluate_on=test)
    assert found.steps[0].accuracy == trees.score(*test)
    assert found.steps[1].agreement == 1.0
    assert found.agreement >= 0.99


def test_trees_that_are_too_large_lose_their_last_rounds():
    trees = WHOLE.fit(DIGITS.X_train, DIGITS.y_train)
    found = from_sklearn(trees, DIGITS.X_train, budget=1_000)
    assert [step.name for step in found.steps] == ["estimator", "pruned", "integers"]
    assert found.model_bytes <= 1_000


@pytest.mark.parametrize(("change", "words"), refused("XGBoost"))
def test_what_has_no_counterpart_is_refused(change: str, words: str, tmp_path: Path):
    def of(learner: Any) -> object:
        model = learner["gradient_booster"]["model"]
        return eval(change, {"it": learner, "model": model, "tree": model["trees"][0], "np": np})

    path = changed("iris.json", of, tmp_path / "changed.json")
    with pytest.raises(InputError, match=words) as caught:
        load_booster(path)
    assert "\n" not in str(caught.value)
    assert "changed.json" in str(caught.value) or "1,000,000" in str(caught.value)


@pytest.mark.parametrize(("old", "new", "words"), refused("LightGBM"))
def test_other_text_is_refused(old: str, new: str, words: str, tmp_path: Path):
    text = (BOOSTERS / "iris.txt").read_text("utf-8")
    old, new = (each.format(newline="\n", blank=" ") for each in (old, new))
    assert old in text
    path = tmp_path / "changed.txt"
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError, match=words) as caught:
        load_booster(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"[$d#L\x7f" + b"\xff" * 7,
        b"[#L\x7f" + b"\xff" * 7,
        b"SL\x7f" + b"\xff" * 7,
        b"[#i\x01" * 100_000,
        b"{i\x01a" * 100_000,
        b'{"a":' * 100_000,
        b'{"learner": 1' + b"0" * 10_000 + b"}",
        b"Si\xff",
        b"{",
        b"i\x01i",
        b"q",
        b"[i\x02",
        b"\xff\xfe",
    ],
)
def test_damaged_files_are_one_sentence(content: bytes, tmp_path: Path):
    path = tmp_path / "damaged.ubj"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a classifier in XGBoost's format") as caught:
        load_booster(path)
    assert "\n" not in str(caught.value)


def test_many_nodes_of_many_classes_take_no_memory(tmp_path: Path):
    """Each node has a number for each class."""
    leaves, classes = 200_000, 200
    chain = " ".join(map(str, range(1, leaves - 1)))
    lines = {
        "num_leaves": leaves,
        "num_cat": 0,
        "split_feature": "0 " * (leaves - 1),
        "threshold": "0 " * (leaves - 1),
        "decision_type": "2 " * (leaves - 1),
        "left_child": f"{chain} -1",
        "right_child": "-1 " * (leaves - 1),
        "leaf_value": "0 " * leaves,
        "is_linear": 0,
    }
    tree = "\n".join(f"{name}={value}" for name, value in lines.items())
    small = "num_leaves=1\nnum_cat=0\nleaf_value=0\nis_linear=0\n"
    head = (
        f"tree\nnum_class={classes}\nnum_tree_per_iteration={classes}\nmax_feature_idx=3\n"
        f"objective=multiclass num_class:{classes}\nfeature_names=a b c d\n"
    )
    rest = "".join(f"\nTree={number}\n{small}" for number in range(1, classes))
    path = tmp_path / "large.txt"
    path.write_text(f"{head}\nTree=0\n{tree}\n{rest}\nend of trees\n", "utf-8")
    with refused_by("extensions.conversion.reading"):
        load_booster(path)


def test_numbers_of_all_types():
    content = b"{i\x01a[#U\x05i\xffU\xffI\x01\x00d\x3f\x80\x00\x00D" + b"\x00" * 8
    assert ubjson.parse(content + b"i\x01bSU\x01x}") == {"a": [-1, 255, 256, 1.0, 0.0], "b": "x"}


def test_another_number_for_gaps_is_refused():
    """The branches for gaps were taken for branches of numbers."""

    class XGBClassifier:
        missing = -999.0

        def get_booster(self) -> None:
            return None

    XGBClassifier.__module__ = "xgboost.sklearn"
    with refused_by("extensions.conversion.trees.libraries"):
        from_sklearn(XGBClassifier(), DIGITS.X_train)


def test_with_the_libraries():
    """To run it: pip install xgboost lightgbm."""
    how = "pip install xgboost lightgbm"
    xgboost = pytest.importorskip("xgboost", reason=how)
    lightgbm = pytest.importorskip("lightgbm", reason=how)
    X, y = DIGITS.X_train, DIGITS.y_train
    for kind, settings in (
        (xgboost.XGBClassifier, {"max_depth": 3}),
        (lightgbm.LGBMClassifier, {"num_leaves": 8, "verbose": -1}),
    ):
        for labels in (y, y % 2):
            trees = kind(n_estimators=5, n_jobs=1, **settings).fit(X, labels)
            booster = trees.get_booster() if kind is xgboost.XGBClassifier else trees.booster_
            for estimator in (trees, booster):
                found = from_sklearn(estimator, X, labels)
                assert np.array_equal(found.source.answers(X), trees.predict(X))
                assert found.agreement >= 0.99
    stopped = xgboost.XGBClassifier(n_estimators=40, early_stopping_rounds=1, n_jobs=1)
    stopped.fit(X[::2], y[::2], eval_set=[(X[1::2], y[1::2])], verbose=False)
    found = from_sklearn(stopped, X, y)
    assert np.array_equal(found.source.answers(X), stopped.predict(X))
    with pytest.raises(InputError, match="XGBClassifier: not fitted"):
        from_sklearn(xgboost.XGBClassifier(), X)
    with pytest.raises(InputError, match="LGBMClassifier: not fitted"):
        from_sklearn(lightgbm.LGBMClassifier(), X)
    for regressor in (
        xgboost.XGBRegressor(n_estimators=20, max_depth=3),
        xgboost.XGBRFRegressor(n_estimators=5, max_depth=4),
        lightgbm.LGBMRegressor(n_estimators=20, num_leaves=8, verbose=-1),
    ):
        numbers = X[:, 20] + X[:, 30]
        found = from_sklearn(regressor.fit(X, numbers), X, numbers)
        assert np.allclose(found.source.answers(X), regressor.predict(X), atol=1e-3)
        assert found.agreement > 0.995
